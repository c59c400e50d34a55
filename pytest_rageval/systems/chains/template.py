"""Templates: ``{name}``, ``{name.field[0]}`` and filters in a text. What is filled in is never read again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pytest_rageval.errors import did_you_mean, short_repr
from pytest_rageval.systems.chains.filters import FILTERS, Filter, Value

__all__ = ["Template", "TemplateError", "Variable", "parse_template"]

_BRACE = re.compile(r"[{}]")
_HEAD = re.compile(r"\{(\w+)(?:\.(\w+))?(?:\[([0-9]{1,9})\])?\s*")
_FILTER = re.compile(r"\|\s*(\w+)\s*(\(\s*)?")
_ARGUMENT = re.compile(r"""\s*(?:([0-9]{1,9})|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*([,)])\s*""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


class TemplateError(ValueError):
    """A template is malformed.

    Attributes:
        problem: what is wrong and what to do, without the place.
        fragment: the begin of the faulty part, as written.
    """

    def __init__(self, problem: str, fragment: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fragment = fragment


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in braces.

    Attributes:
        name: the variable, or the action.
        field: what of the action, such as ``titles``; "" for its text.
        index: the place in a list, from 0; None for all of it.
        filters: applied from left to right.
        source: as written, with its braces.
    """

    name: str
    field: str = ""
    index: int | None = None
    filters: tuple[Filter, ...] = ()
    source: str = ""

    @property
    def path(self) -> str:
        """The variable without filters, such as ``found.titles[0]``."""
        field = f".{self.field}" if self.field else ""
        return f"{self.name}{field}{'' if self.index is None else f'[{self.index}]'}"


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template.

    Attributes:
        source: as written.
        pieces: literal texts and variables, in order.
    """

    source: str
    pieces: tuple[str | Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Variable))

    def render(self, value_of: Callable[[Variable], Value]) -> str:
        """Return the text with the values of all variables; ``value_of`` returns one before its filters."""
        return "".join(piece if isinstance(piece, str) else _filtered(piece, value_of(piece)) for piece in self.pieces)


def _filtered(variable: Variable, value: Value) -> str:
    for each in variable.filters:
        value = each.apply(value)
    return value.text


def parse_template(text: str) -> Template:
    """Return a parsed template.

    ``{`` and a letter begin a variable. ``{{`` is a brace, and so is the ``}}`` that closes it. Any other brace stays,
    so JSON needs no doubling.

    Raises:
        TemplateError: a variable is malformed, or a filter is unknown.
    """
    pieces: list[str | Variable] = []
    literal: list[str] = []
    opened: list[int] = []
    at = 0
    while brace := _BRACE.search(text, at):
        literal.append(text[at : brace.start()])
        at = brace.start()
        if brace[0] == "{" and text[at + 1 : at + 2].isalpha():
            variable, at = _variable(text, at)
            pieces += ["".join(literal), variable]
            literal = []
            continue
        width = _width(text, at, opened)
        literal.append(brace[0])
        at += width
    literal.append(text[at:])
    pieces.append("".join(literal))
    return Template(text, tuple(piece for piece in pieces if piece != ""))


def _width(text: str, at: int, opened: list[int]) -> int:
    """Return how many braces stand for one; ``opened`` has the widths of those that are not closed yet."""
    is_double = text[at + 1 : at + 2] == text[at]
    if text[at] == "{":
        opened.append(2 if is_double else 1)
        return opened[-1]
    return min(opened.pop() if opened else 2, 2 if is_double else 1)


def _variable(text: str, at: int) -> tuple[Variable, int]:
    """Return the variable that begins at a place, and the place after it."""
    head = _HEAD.match(text, at)
    if head is None:  # a letter follows the brace, and every letter is a \w
        raise AssertionError(text[at : at + 20])
    start, at = at, head.end()
    filters = []
    while text.startswith("|", at):
        each, at = _filter(text, at)
        filters.append(each)
    if not text.startswith("}", at):
        fragment = text[start : max(at, start + 30)]
        wanted = "write {name}, {name.field[0]} or {name|filter}, and {{ for a brace itself"
        raise TemplateError(f"the variable that begins with {short_repr(fragment)} is malformed; {wanted}", fragment)
    index = None if head[3] is None else int(head[3])
    return Variable(head[1], head[2] or "", index, tuple(filters), text[start : at + 1]), at + 1


def _filter(text: str, at: int) -> tuple[Filter, int]:
    """Return the filter that begins at a ``|``, and the place after it."""
    start, match = at, _FILTER.match(text, at)
    if match is None:
        fragment = text[start : start + 30]
        raise TemplateError(f"after | comes the name of a filter, not {short_repr(fragment[1:])}", fragment)
    name, at = match[1], match.end()
    if name not in FILTERS:
        raise TemplateError(f"unknown filter {short_repr(name)}; {did_you_mean(name, FILTERS)}", match[0])
    arguments: list[int | str] = []
    if match[2]:
        arguments, at = _arguments(text, at, name)
    else:
        at = match.end()
    kind = FILTERS[name]
    fits = len(arguments) == len(kind.takes) and all(map(isinstance, arguments, kind.takes))
    if not fits or any(arguments[place] == "" for place in kind.filled):
        empty = " with a text that is not empty" if fits else ""
        raise TemplateError(f"the filter {name} has the wrong arguments; write {kind.usage}{empty}", match[0].strip())
    while text[at : at + 1].isspace():
        at += 1
    return Filter(name, tuple(arguments)), at


def _arguments(text: str, at: int, name: str) -> tuple[list[int | str], int]:
    """Return the arguments of a filter, and the place after its ``)``."""
    arguments: list[int | str] = []
    if text.startswith(")", at):
        return arguments, at + 1
    while match := _ARGUMENT.match(text, at):
        number, double, single, end = match.groups()
        arguments.append(int(number) if number is not None else _unescaped(double if double is not None else single))
        at = match.end()
        if end == ")":
            return arguments, at
    raise TemplateError(
        f"the filter {name} has malformed arguments; write {FILTERS[name].usage}: a whole number, or a text in quotes",
        f"|{name}(",
    )


def _unescaped(text: str) -> str:
    r"""Return a quoted text with ``\n``, ``\t``, ``\"`` and the like replaced; other escapes stay."""
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text)
