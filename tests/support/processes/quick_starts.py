"""Faster replacements of parts of pytest's start and end, which halve the time of small runs inside tests."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import linecache
import sys
import warnings
from collections.abc import Callable
from functools import cache
from types import CodeType

import _pytest._code.code
import _pytest.pytester
import _pytest.unraisableexception
import pluggy._manager
from _pytest._code.source import Source, findsource, getstatementrange_ast
from _pytest.config import PytestPluginManager
from _pytest.fixtures import FixtureManager

from .installed_packages import installed_package, installed_packages, load_entry_points
from .plugin_scans import argument_names, hook_attribute, hook_names, parsefactories

__all__ = ["QUICK_ENDS", "QUICK_STARTS"]


def collect_no_garbage(iterations: int) -> None:
    """Replace `gc_collect_harder`: `pytester` skips it for its runs, but not for the configurations that it makes."""


def source_of_code(code: object) -> tuple[Source | None, int]:
    """Replace `findsource`: `inspect` asks each of thousands of loaded modules whether the code is its own."""
    if isinstance(code, CodeType):
        linecache.checkcache(code.co_filename)
        if lines := linecache.getlines(code.co_filename):
            source = Source()
            source.lines, source.raw_lines = [line.rstrip() for line in lines], lines
            return source, code.co_firstlineno - 1
    return findsource(code)


def statement_range(
    lineno: int, source: Source, assertion: bool = False, astnode: ast.AST | None = None
) -> tuple[ast.AST, int, int]:
    """Replace `getstatementrange_ast`: parse a module once for all tracebacks through it."""
    return getstatementrange_ast(lineno, source, assertion, astnode or parsed(str(source)))


@cache
def parsed(source: str) -> ast.AST:
    """Return the syntax tree of a module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


class LoadedModules:
    """Replace `SysModulesSnapshot`: check only new modules, because thousands are loaded before."""

    def __init__(self, preserve: Callable[[str], bool] = lambda name: False) -> None:
        self._preserve = preserve
        self._saved = dict(sys.modules)

    def restore(self) -> None:
        for name in filter(self._preserve, sys.modules.keys() - self._saved.keys()):
            self._saved[name] = sys.modules[name]
        sys.modules.clear()
        sys.modules.update(self._saved)


QUICK_STARTS: tuple[tuple[object, str, object], ...] = (
    (_pytest._code.code, "findsource", source_of_code),
    (_pytest._code.code, "getstatementrange_ast", statement_range),
    (importlib.metadata, "distributions", installed_packages),
    (importlib.metadata.Distribution, "from_name", installed_package),
    (PytestPluginManager, "load_setuptools_entrypoints", load_entry_points),
    (FixtureManager, "parsefactories", parsefactories),
    (pluggy._manager, "dir", hook_names),
    (pluggy._manager, "_static_hook_attr", hook_attribute),  # pluggy 1.6 has no function of this name
    (importlib.import_module(pluggy.HookImpl.__module__), "varnames", argument_names),
)
"""Owner, name and replacement of each function."""

QUICK_ENDS: tuple[tuple[object, str, object], ...] = (
    (_pytest.unraisableexception, "gc_collect_harder", collect_no_garbage),
    (_pytest.pytester, "SysModulesSnapshot", LoadedModules),
)
"""The same, for runs within the process of the tests."""
