"""Collect ``*.rag.toml`` suites: each ``[[testbed]]`` becomes a test function."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

from pytest_rageval.errors import RagEvalError, message_with_code
from pytest_rageval.hooks.collect.markers import rag_case
from pytest_rageval.hooks.collect.usage_errors import REFUSED
from pytest_rageval.testbeds.suite_file import read_suite

__all__ = ["SuiteModule"]


def _testbed(rag: object) -> None:
    """Template for a testbed's function; the ``rag`` fixture answers and scores its case."""


class SuiteModule(pytest.Module):
    """A suite as a pytest module of test functions, so that every feature of pytest works on it."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Collect one function for each testbed; an invalid suite refuses the session."""
        try:
            self.obj  # noqa: B018 - reading the attribute reads the suite
        except RagEvalError as error:
            self.config.stash.setdefault(REFUSED, []).append(message_with_code(error))
            return []
        return super().collect()

    def istestfunction(self, obj: object, name: str) -> bool:
        """Accept every testbed, whatever its name."""
        return isinstance(obj, FunctionType)

    def _getobj(self) -> ModuleType:
        module = ModuleType(self.path.stem)
        for entry in read_suite(self.path, self.nodeid):
            setattr(module, entry.name, rag_case(**entry.settings)(_function(entry.name, self.path, entry.line)))
        return module


def _function(name: str, path: Path, line: int) -> FunctionType:
    code: CodeType = _testbed.__code__.replace(co_filename=str(path), co_firstlineno=line, co_name=name)
    return FunctionType(code, {}, name)
