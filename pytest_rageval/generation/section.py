"""One TOML table of a plan, with typed getters whose errors name file and line."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.datasets.source import json_kind
from pytest_rageval.errors import DataError, did_you_mean, short_repr
from pytest_rageval.toml_files import line_of

__all__ = ["Section", "sections_of"]


@dataclass(frozen=True, slots=True)
class Section:
    """A TOML table of a plan, ``[name]`` or one ``[[name]]``; the top level of the file has the name "".

    Errors of getters are `DataError` and start with ``PLAN.toml:LINE``.

    Attributes:
        name: the table's name, such as ``template``.
        values: its keys and values.
        file_name: the name of the file in messages.
        lines: the lines of the file.
        start: the index (from 0) of the first line of the table.
    """

    name: str
    values: Mapping[str, Any]
    file_name: str
    lines: tuple[str, ...]
    start: int = 0

    def __contains__(self, key: object) -> bool:
        return key in self.values

    @property
    def where(self) -> str:
        """``PLAN.toml:LINE`` of the table's header."""
        return f"{self.file_name}:{self.start + 1}"

    def place(self, key: str) -> str:
        """Return ``PLAN.toml:LINE`` of a key, or of the header if the key is missing."""
        if key not in self.values:
            return self.where
        return f"{self.file_name}:{line_of([*self.lines], key, self.start, self.name)}"

    def error(self, key: str, problem: str) -> DataError:
        """Return the error for the value of a key, or for a missing key."""
        return DataError(self.place(key), problem, code="RAG101")

    def wrong(self, key: str, wanted: str) -> DataError:
        """Return the error for a missing key, or for a value that is not ``wanted``."""
        full_name = f"[{self.name}] {key}" if self.name else key
        if key not in self.values:
            return self.error(key, f"{full_name} is missing, wanted {wanted}")
        return self.error(key, f"{full_name}: found {json_kind(self.values[key])}, wanted {wanted}")

    def only(self, valid_keys: Collection[str]) -> None:
        """Raise an error for a key outside ``valid_keys``."""
        for key in self.values:
            if key not in valid_keys:
                problem = f"unknown key {short_repr(key)}" + (f" in [{self.name}]" if self.name else "")
                raise DataError(self.place(key), f"{problem}; {did_you_mean(key, valid_keys)}", code="RAG102")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string that is not blank; the key is required without a default."""
        value = self.values.get(key, default)
        if isinstance(value, str) and (value.strip() or key not in self.values):
            return value
        raise self.wrong(key, "a string that is not empty")

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a string or a list of strings as a tuple, none blank; () if the key is absent."""
        if key not in self.values:
            return ()
        value = self.values[key]
        items = value if isinstance(value, list) else [value]
        if items and all(isinstance(item, str) and item.strip() for item in items):
            return tuple(items)
        raise self.wrong(key, "a string or a list of strings, none of them empty")

    def whole(self, key: str, default: int | None = None, least: int = 0) -> int | None:
        """Return a whole number of ``least`` or more; the default if the key is absent."""
        if key not in self.values:
            return default
        value = self.values[key]
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        raise self.wrong(key, f"a whole number of {least} or more")

    def number(self, key: str, default: float | None = None, least: float = 0.0, most: float = 1e15) -> float | None:
        """Return a number in ``least``..``most``; the default if the key is absent."""
        if key not in self.values:
            return default
        value = self.values[key]
        if isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most:
            return float(value)
        raise self.wrong(key, f"a number in {least:g}..{most:g}")

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false; the default if the key is absent."""
        value = self.values.get(key, default)
        if isinstance(value, bool):
            return value
        raise self.wrong(key, "true or false")

    def choice(self, key: str, default: str, choices: Collection[str]) -> str:
        """Return one of ``choices``; the default if the key is absent."""
        value = self.text(key, default)
        if value not in choices:
            raise self.error(key, f"{key}: unknown value {short_repr(value)}; {did_you_mean(value, choices)}")
        return value

    def inner(self, key: str) -> Section | None:
        """Return the nested table of a key; None if the key is absent."""
        if key not in self.values:
            return None
        value = self.values[key]
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        line = line_of([*self.lines], key, self.start, self.name)
        return Section(f"{self.name}.{key}".lstrip("."), value, self.file_name, self.lines, line - 1)


def sections_of(top: Section, name: str, *, many: bool) -> tuple[Section, ...]:
    """Return all tables ``[[name]]``, or the only table ``[name]``; () if the file has none.

    Raises:
        DataError: the value is not a table, or is ``[name]`` instead of ``[[name]]`` or the reverse.
    """
    if name not in top.values:
        return ()
    value = top.values[name]
    items = value if many else [value]
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        raise top.wrong(name, f"tables with the header [[{name}]]" if many else f"one table with the header [{name}]")
    brackets = r"\[\[", r"\]\]"
    opening, closing = brackets if many else (r"\[", r"\]")
    header = re.compile(rf"^\s*{opening}\s*[\"']?{re.escape(name)}[\"']?\s*{closing}")
    starts = [at for at, line in enumerate(top.lines) if header.match(line)]
    if len(starts) != len(items):  # written inline
        starts = [line_of([*top.lines], name, 0, "") - 1] * len(items)
    return tuple(
        Section(name, item, top.file_name, top.lines, start) for item, start in zip(items, starts, strict=True)
    )
