"""Filters of templates; each converts a value to a value, and never fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytest_rageval.text.quoting import quote_lines

__all__ = ["FILTERS", "Filter", "FilterKind", "Value"]


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a variable: one text, or several with the text that joins them.

    Attributes:
        parts: the texts.
        separator: the text between them.
    """

    parts: tuple[str, ...]
    separator: str = ""

    @property
    def text(self) -> str:
        """The parts as one text."""
        return self.separator.join(self.parts)


@dataclass(frozen=True, slots=True)
class FilterKind:
    """A filter that templates may name.

    Attributes:
        usage: an example of its use, for messages.
        types: the type of each argument.
        apply: (value, arguments) -> value. It never raises.
        not_empty: the indexes of the text arguments that must not be empty.
    """

    usage: str
    types: tuple[type[int] | type[str], ...]
    apply: Callable[..., Value]
    not_empty: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter with its arguments, from a template."""

    name: str
    arguments: tuple[int | str, ...] = ()

    def apply(self, value: Value) -> Value:
        """Return the filtered value."""
        return FILTERS[self.name].apply(value, *self.arguments)


def _on_text(change: Callable[..., str]) -> Callable[..., Value]:
    """Return a filter that changes a value's text."""
    return lambda value, *arguments: Value((change(value.text, *arguments),))


def _line(text: str, number: int) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[number - 1] if 1 <= number <= len(lines) else ""


def _last(text: str, count: int) -> str:
    return text[-count:] if count else ""


def _join(value: Value, separator: str) -> Value:
    return Value(value.parts, separator)


FILTERS: Mapping[str, FilterKind] = MappingProxyType(
    {
        "strip": FilterKind("strip", (), _on_text(str.strip)),
        "lower": FilterKind("lower", (), _on_text(str.lower)),
        "line": FilterKind("line(1)", (int,), _on_text(_line)),
        "first": FilterKind("first(100)", (int,), _on_text(lambda text, count: text[:count])),
        "last": FilterKind("last(100)", (int,), _on_text(_last)),
        "before": FilterKind('before("x")', (str,), _on_text(lambda text, mark: text.partition(mark)[0]), (0,)),
        "after": FilterKind('after("x")', (str,), _on_text(lambda text, mark: text.partition(mark)[2]), (0,)),
        "join": FilterKind('join("x")', (str,), _join),
        "replace": FilterKind('replace("a", "b")', (str, str), _on_text(str.replace), (0,)),
        "default": FilterKind('default("x")', (str,), _on_text(lambda text, other: text or other)),
        "quote": FilterKind("quote", (), _on_text(quote_lines)),
    }
)
"""Name -> filter. ``first`` and ``last`` count characters; ``line`` counts lines that are not blank, from 1; ``quote``
puts "> " before every line."""
