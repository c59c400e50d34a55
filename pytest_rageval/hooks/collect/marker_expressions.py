"""Check ``-m`` expressions such as ``rag(topic='Funds')`` against the facets of the cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_rageval.errors import UnknownNameError, did_you_mean
from pytest_rageval.model.facets import FACETS

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["checked_terms", "terms_of"]

_ARGUMENT = r"""(\w+)\s*=\s*('[^']*'|"[^"]*"|-?\w+)"""
_TERM = re.compile(r"""'[^']*'|"[^"]*"|(?<![\w:+.\[\]\\/-])rag\s*\((?P<arguments>(?:[^()'"]|'[^']*'|"[^"]*")+)\)""")
MAX_HINT_VALUES = 10  # a hint lists the values of a facet up to this number

Value = str | int | None


def checked_terms(expression: str, entries: Sequence[Entry]) -> list[str]:
    """Return a warning for each ``rag(...)`` term of an expression that no case matches.

    Raises:
        UnknownNameError: a term names a facet that no case can have.
    """
    cases = [entry.case.facets for entry in entries if entry.testbed.reached]
    facet_names = {*FACETS, *(name for entry in entries for name in entry.case.facets)}
    notes = []
    for text, conditions in terms_of(expression):
        for name in conditions:
            if name not in facet_names:
                raise UnknownNameError("facet", name, facet_names, f"-m {text}")
        if cases and not any(_matches(facets, conditions) for facets in cases):
            notes.append(f"-m {text} selects nothing: {_reason(cases, conditions)}")
    return list(dict.fromkeys(notes))


def terms_of(expression: str) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield each ``rag(...)`` term of a marker expression: its text and its facet conditions."""
    for term in _TERM.finditer(expression):
        if term["arguments"]:
            yield term[0], {name: _value(text) for name, text in re.findall(_ARGUMENT, term["arguments"])}


def _value(text: str) -> Value:
    if text[0] in "'\"":
        return text[1:-1]
    return int(text) if text.lstrip("-").isdigit() else {"True": True, "False": False}.get(text)


def _matches(facets: Mapping[str, str], conditions: Mapping[str, Value]) -> bool:
    """Return whether facets meet all conditions; a number or a boolean equals its text."""
    return all(
        facets.get(name) == (value if isinstance(value, str) else repr(value)) for name, value in conditions.items()
    )


def _reason(cases: Sequence[Mapping[str, str]], conditions: Mapping[str, Value]) -> str:
    for name, value in conditions.items():
        if not any(_matches(facets, {name: value}) for facets in cases):
            values = {facets[name] for facets in cases if name in facets}
            hint = did_you_mean(str(value), values)
            if len(values) > MAX_HINT_VALUES and not hint.startswith("did"):
                hint = f"{len(values):,} other values are known"
            return f"no case has {name}={value!r}; {hint}"
    return "no case has all of these values"
