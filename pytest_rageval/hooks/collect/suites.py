"""Collect ``*.rag.toml`` suites: each ``[[testbed]]`` becomes a test function."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

from pytest_rageval.errors import DataError, RagEvalError, UnknownNameError, coded, short_repr
from pytest_rageval.hooks.collect.markers import rag_case
from pytest_rageval.hooks.collect.usage_errors import REFUSED
from pytest_rageval.model.facets import FACETS
from pytest_rageval.testbeds.settings import SETTINGS
from pytest_rageval.toml_files import headers_of, line_of, read_toml

__all__ = ["SuiteModule"]

_TABLE = "testbed"
_NAME = re.compile(r"[^\s:\[\]/\\#]+")
_PYTEST = re.compile(r"_.*|pytest.*|(setup|teardown)_(module|function)|(setUp|tearDown)Module")


def _testbed(rag: object) -> None:
    """Template for a testbed's function; the ``rag`` fixture answers and scores its case."""


class SuiteModule(pytest.Module):
    """A suite as a module of test functions; every feature of pytest works on it."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Collect one function for each testbed; an invalid suite refuses the session."""
        try:
            self.obj  # noqa: B018 - reading the attribute reads the suite
        except RagEvalError as error:
            self.config.stash.setdefault(REFUSED, []).append(coded(error))
            return []
        return super().collect()

    def istestfunction(self, obj: object, name: str) -> bool:
        """Accept every testbed, whatever its name."""
        return isinstance(obj, FunctionType)

    def _getobj(self) -> ModuleType:
        module = ModuleType(self.path.stem)
        for name, function in _functions(self.path, self.nodeid).items():
            setattr(module, name, function)
        return module


def _functions(path: Path, shown: str) -> dict[str, FunctionType]:
    lines, suite = read_toml(path, shown)
    for key in suite:
        if key != _TABLE:
            raise UnknownNameError("key", key, [_TABLE], f"{shown}:{line_of(lines, key, 0, _TABLE)}")
    entries = suite.get(_TABLE)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(f"{shown}:1", "a suite holds one or more [[testbed]] tables; add one")
    headers = headers_of(lines, _TABLE)
    functions: dict[str, FunctionType] = {}
    for number, entry in enumerate(entries):
        header = headers[number] if number < len(headers) else 0
        name = _check(entry, lines, header, shown)
        if name in functions:
            raise DataError(
                f"{shown}:{header + 1}", f"two testbeds are named {short_repr(name)}; give each a name of its own"
            )
        settings = {key: value for key, value in entry.items() if key != "name"}
        functions[name] = rag_case(**settings)(_function(name, path, header + 1))
    return functions


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


def _function(name: str, path: Path, line: int) -> FunctionType:
    code: CodeType = _testbed.__code__.replace(co_filename=str(path), co_firstlineno=line, co_name=name)
    return FunctionType(code, {}, name)
