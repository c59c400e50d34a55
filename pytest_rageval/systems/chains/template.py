"""Parse templates: texts with ``{name}``, ``{name.field[0]}`` and ``{name|filter}``."""

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
        problem: what is wrong and what to do, without file and line.
        fragment: the beginning of the faulty part, from the source.
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
        field: a field of the action, such as ``titles``; "" for its text.
        index: the index of an item of the field; None for all items.
        filters: applied from left to right.
        source: the text of the variable, with its braces.
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
        source: the text of the template.
        pieces: literal texts and variables, in order.
    """

    source: str
    pieces: tuple[str | Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Variable))

    def render(self, value_of: Callable[[Variable], Value]) -> str:
        """Return the text with the values of all variables; values are not parsed as templates.

        ``value_of`` returns the value of a variable before its filters.
        """
        texts = (each if isinstance(each, str) else _apply_filters(each, value_of(each)) for each in self.pieces)
        return "".join(texts)


def _apply_filters(variable: Variable, value: Value) -> str:
    for each in variable.filters:
        value = each.apply(value)
    return value.text


def parse_template(text: str) -> Template:
    """Parse a template.

    ``{`` and a letter begin a variable. ``{{``, and the ``}}`` that closes it, stand for one brace. Any other brace is
    literal text, so JSON needs no doubled braces.

    Raises:
        TemplateError: a variable is malformed, or a filter is unknown.
    """
    pieces: list[str | Variable] = []
    literal: list[str] = []
    open_widths: list[int] = []
    at = 0
    while brace := _BRACE.search(text, at):
        literal.append(text[at : brace.start()])
        at = brace.start()
        if brace[0] == "{" and text[at + 1 : at + 2].isalpha():
            variable, at = _variable(text, at)
            pieces += ["".join(literal), variable]
            literal = []
            continue
        width = _width(text, at, open_widths)
        literal.append(brace[0])
        at += width
    literal.append(text[at:])
    pieces.append("".join(literal))
    return Template(text, tuple(piece for piece in pieces if piece != ""))


def _width(text: str, at: int, open_widths: list[int]) -> int:
    """Return the width of a brace in the source, 1 or 2; ``open_widths`` has the widths of the braces to close."""
    is_double = text[at + 1 : at + 2] == text[at]
    if text[at] == "{":
        open_widths.append(2 if is_double else 1)
        return open_widths[-1]
    return min(open_widths.pop() if open_widths else 2, 2 if is_double else 1)


def _variable(text: str, at: int) -> tuple[Variable, int]:
    """Return the variable that starts at this position, and the position after it."""
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
        advice = "write {name}, {name.field[0]} or {name|filter}, and {{ for a brace itself"
        raise TemplateError(f"the variable that begins with {short_repr(fragment)} is malformed; {advice}", fragment)
    index = None if head[3] is None else int(head[3])
    return Variable(head[1], head[2] or "", index, tuple(filters), text[start : at + 1]), at + 1


def _filter(text: str, at: int) -> tuple[Filter, int]:
    """Return the filter that starts at a ``|``, and the position after it."""
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
    fits = len(arguments) == len(kind.types) and all(map(isinstance, arguments, kind.types))
    if not fits or any(arguments[index] == "" for index in kind.not_empty):
        empty = " with a text that is not empty" if fits else ""
        raise TemplateError(f"the filter {name} has the wrong arguments; write {kind.usage}{empty}", match[0].strip())
    while text[at : at + 1].isspace():
        at += 1
    return Filter(name, tuple(arguments)), at


def _arguments(text: str, at: int, name: str) -> tuple[list[int | str], int]:
    """Return the arguments of a filter, and the position after its ``)``."""
    arguments: list[int | str] = []
    if text.startswith(")", at):
        return arguments, at + 1
    while match := _ARGUMENT.match(text, at):
        number, double, single, end = match.groups()
        arguments.append(int(number) if number is not None else _unescape(double if double is not None else single))
        at = match.end()
        if end == ")":
            return arguments, at
    raise TemplateError(
        f"the filter {name} has malformed arguments; write {FILTERS[name].usage}: a whole number, or a text in quotes",
        f"|{name}(",
    )


def _unescape(text: str) -> str:
    r"""Return a quoted text with ``\n``, ``\t``, ``\"`` and the like replaced; other escapes stay."""
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text)
