"""Parse and evaluate ``where`` of a template: comparisons of columns, never run as code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from pytest_rageval.errors import DataError, SettingError, did_you_mean, short_repr
from pytest_rageval.generation.tables.table import Row, Value, is_missing
from pytest_rageval.generation.tables.values import comparable
from pytest_rageval.generation.templates.template import Template

__all__ = ["Condition", "parse_condition"]

MAX_LENGTH = 2_000
"""Maximum length of a condition in characters, which bounds its nesting."""

GRAMMAR = "write comparisons such as num_pubs >= 3 and city in ['Oslo', 'Bergen'], with and, or, not"

_ORDERS: Mapping[type[ast.cmpop], Callable[[Fraction | str, Fraction | str], bool]] = {
    ast.Lt: lambda one, other: one < other,  # type: ignore[operator] # both are of one kind
    ast.LtE: lambda one, other: one <= other,  # type: ignore[operator]
    ast.Gt: lambda one, other: one > other,  # type: ignore[operator]
    ast.GtE: lambda one, other: one >= other,  # type: ignore[operator]
}
_EQUALITIES = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


class Condition:
    """A parsed condition.

    Attributes:
        columns: the columns in the condition.
    """

    def __init__(self, tree: ast.expr, columns: frozenset[str], text: str) -> None:
        self._tree = tree
        self._text = text
        self.columns = columns

    def holds(self, row: Row) -> bool | None:
        """Return whether the condition holds for a row; None if one of its columns is missing.

        Raises:
            DataError: < or > compares a text with a number, or two texts.
        """
        if any(is_missing(row.values.get(column)) for column in self.columns):
            return None
        try:
            return _truth(self._tree, row.values)
        except _UnorderedError as error:
            raise DataError(row.where, f"where = {short_repr(self._text)}: {error}") from None


class _UnorderedError(ValueError):
    """Raised if < or > compares values without an order."""


def parse_condition(template: Template, columns: Sequence[str]) -> Condition:
    """Parse the condition of a template.

    Raises:
        DataError: it is malformed, or names an unknown column; with the line of the plan.
    """
    try:
        if len(template.where) > MAX_LENGTH:
            raise SettingError(f"it has more than {MAX_LENGTH:,} characters")
        tree = ast.parse(template.where.strip(), mode="eval").body
        names = frozenset(_names(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError, SettingError) as error:
        detail = f" ({error})" if isinstance(error, SettingError) else ""
        problem = f"where: {short_repr(template.where)} cannot be read{detail}; {GRAMMAR}"
        raise template.section.error("where", problem) from None
    for name in sorted(names):
        if name not in columns:
            problem = f"where: {short_repr(name)} is not a column of {template.table!r}"
            raise template.section.error("where", f"{problem}; {did_you_mean(name, columns)}")
    return Condition(tree, names, template.where)


def _names(node: ast.expr) -> set[str]:
    """Return the columns in a condition; raise `SettingError` for any other syntax."""
    if isinstance(node, ast.BoolOp):
        return set[str]().union(*map(_names, node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _names(node.operand)
    if not isinstance(node, ast.Compare):
        raise SettingError("found something that is not a comparison")
    sides = [node.left, *node.comparators]
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if not isinstance(operator, (*_EQUALITIES, *_ORDERS)):
            raise SettingError("found an operator other than == != < <= > >= in")
        is_list = isinstance(right, (ast.List, ast.Tuple))
        if isinstance(operator, (ast.In, ast.NotIn)) != is_list and not isinstance(right, ast.Name):
            raise SettingError("in needs a list such as ['Oslo', 'Bergen'], and other operators need a single value")
    return set[str]().union(*map(_side_names, sides))


def _side_names(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, (ast.List, ast.Tuple)) and all(map(_is_constant, node.elts)):
        return set()
    if _is_constant(node):
        return set()
    raise SettingError("found a side of a comparison that is not a column, number, text or list")


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
        return isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float))


def _truth(node: ast.expr, values: Mapping[str, Value]) -> bool:
    if isinstance(node, ast.BoolOp):
        parts = (_truth(each, values) for each in node.values)
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.UnaryOp):
        return not _truth(node.operand, values)
    if not isinstance(node, ast.Compare):
        raise TypeError(ast.dump(node))
    left, result = _value(node.left, values), True
    for operator, side in zip(node.ops, node.comparators, strict=True):
        right = _value(side, values)
        result = result and _compare(operator, left, right)
        left = right
    return result


def _compare(operator: ast.cmpop, left: Value, right: Value) -> bool:
    if isinstance(operator, (ast.In, ast.NotIn)):
        items = right if isinstance(right, (list, tuple)) else [right]
        return (comparable(left) in map(comparable, items)) is isinstance(operator, ast.In)
    one, other = comparable(left), comparable(right)
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        return (one == other) is isinstance(operator, ast.Eq)
    if one[0] != other[0] or one[0] == "text":
        raise _UnorderedError(f"{short_repr(left)} and {short_repr(right)} have no order; compare numbers or dates")
    return _ORDERS[type(operator)](one[1], other[1])


def _value(node: ast.expr, values: Mapping[str, Value]) -> Value:
    if isinstance(node, ast.Name):
        return values.get(node.id)
    return ast.literal_eval(node)
