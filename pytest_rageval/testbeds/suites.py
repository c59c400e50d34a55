"""Read ``*.rag.toml`` suites: the settings of each ``[[testbed]]``, with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, UnknownNameError, short_repr
from pytest_rageval.model.facets import FACETS
from pytest_rageval.testbeds.settings import SETTINGS
from pytest_rageval.toml_files import headers_of, line_of, read_toml

__all__ = ["SuiteEntry", "read_suite"]

_TABLE = "testbed"
_NAME = re.compile(r"[^\s:\[\]/\\#]+")
_PYTEST = re.compile(r"_.*|pytest.*|(setup|teardown)_(module|function)|(setUp|tearDown)Module")


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """One ``[[testbed]]`` of a suite.

    Attributes:
        name: its name.
        line: the line of its header, from 1.
        settings: its further keys, not yet checked.
    """

    name: str
    line: int
    settings: dict[str, Any]


def read_suite(path: Path, shown: str) -> list[SuiteEntry]:
    """Return the entries of a suite; ``shown`` names the file in messages.

    Raises:
        DataError: the file cannot be read, or an entry has no valid name.
        UnknownNameError: a key is unknown.
    """
    lines, suite = read_toml(path, shown)
    for key in suite:
        if key != _TABLE:
            raise UnknownNameError("key", key, [_TABLE], f"{shown}:{line_of(lines, key, 0, _TABLE)}")
    entries = suite.get(_TABLE)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{shown}:1", "a suite holds one or more [[testbed]] tables; add one")
    headers = headers_of(lines, _TABLE)
    found: dict[str, SuiteEntry] = {}
    for number, entry in enumerate(entries):
        header = headers[number] if number < len(headers) else 0
        name = _check(entry, lines, header, shown)
        if name in found:
            raise DataError(
                f"{shown}:{header + 1}", f"two testbeds are named {short_repr(name)}; give each a name of its own"
            )
        found[name] = SuiteEntry(name, header + 1, {key: value for key, value in entry.items() if key != "name"})
    return list(found.values())


def _check(entry: dict[str, Any], lines: list[str], header: int, shown: str) -> str:
    """Return a testbed's name; raise an error with the line for an unknown key or an invalid name."""
    for key in entry:
        if key not in (*SETTINGS, *FACETS, "name"):
            where = f"{shown}:{line_of(lines, key, header, _TABLE)}"
            raise UnknownNameError("key", key, [*SETTINGS, *FACETS, "name"], where)
    name = entry.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not name.isprintable():
        what = "no name" if name is None else f"the name {short_repr(name)}"
        problem = f"a testbed has {what}; name it without spaces, colons, slashes, brackets and #"
        raise DataError(f"{shown}:{header + 1}", problem)
    if _PYTEST.fullmatch(name):
        problem = f"a testbed has the name {short_repr(name)}, which means something to pytest; choose another"
        raise DataError(f"{shown}:{header + 1}", problem)
    return name
