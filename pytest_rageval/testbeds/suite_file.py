"""Read a suite: a ``*.rag.toml`` file with one or more ``[[testbed]]`` tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, UnknownNameError, short_repr
from pytest_rageval.model.facets import FACETS
from pytest_rageval.testbeds.settings import SETTINGS
from pytest_rageval.toml_files import headers_of, line_of, read_toml

__all__ = ["SUFFIX", "SuiteEntry", "read_suite"]

SUFFIX = ".rag.toml"

_TABLE = "testbed"
_NAME = re.compile(r"[^\s:\[\]/\\#]+")
_PYTEST = re.compile(r"_.*|pytest.*|(setup|teardown)_(module|function)|(setUp|tearDown)Module")


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """A ``[[testbed]]`` table.

    Attributes:
        name: the name of the testbed.
        line: the line of the table's header, from 1.
        settings: the other keys, unchecked; the same as the arguments of ``rag_case``.
    """

    name: str
    line: int
    settings: Mapping[str, Any]


def read_suite(path: Path, shown: str) -> list[SuiteEntry]:
    """Return the tables of a suite, in order; ``shown`` is the name of the file in errors.

    Raises:
        DataError: the file is malformed, or a testbed has no name that pytest can use.
        UnknownNameError: a key is unknown.
    """
    lines, suite = read_toml(path, shown)
    for key in suite:
        if key != _TABLE:
            raise UnknownNameError("key", key, [_TABLE], f"{shown}:{line_of(lines, key, 0, _TABLE)}")
    tables = suite.get(_TABLE)
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise DataError(f"{shown}:1", "a suite needs at least one [[testbed]] table; add one")
    headers = headers_of(lines, _TABLE)
    entries: dict[str, SuiteEntry] = {}
    for number, table in enumerate(tables):
        header = headers[number] if number < len(headers) else 0
        name = _check(table, lines, header, shown)
        if name in entries:
            raise DataError(f"{shown}:{header + 1}", f"two testbeds are named {short_repr(name)}; rename one")
        settings = {key: value for key, value in table.items() if key != "name"}
        entries[name] = SuiteEntry(name, header + 1, settings)
    return list(entries.values())


def _check(table: dict[str, Any], lines: list[str], header: int, shown: str) -> str:
    """Return a testbed's name; raise an error with the line for an unknown key or an invalid name."""
    for key in table:
        if key not in (*SETTINGS, *FACETS, "name"):
            where = f"{shown}:{line_of(lines, key, header, _TABLE)}"
            raise UnknownNameError("key", key, [*SETTINGS, *FACETS, "name"], where)
    name = table.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not name.isprintable():
        what = "no name" if name is None else f"the name {short_repr(name)}"
        problem = f"a testbed has {what}; name it without spaces, colons, slashes, brackets and #"
        raise DataError(f"{shown}:{header + 1}", problem)
    if _PYTEST.fullmatch(name):
        problem = f"a testbed has the name {short_repr(name)}, which pytest reserves; choose another"
        raise DataError(f"{shown}:{header + 1}", problem)
    return name
