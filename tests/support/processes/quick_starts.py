"""What pytest's start and end are replaced with in runs inside tests, so that a small one takes half of its time."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Callable

import _pytest.pytester
import _pytest.unraisableexception
import pluggy._manager
from _pytest.config import PytestPluginManager
from _pytest.fixtures import FixtureManager

from .installed_packages import installed_package, installed_packages, load_entry_points
from .plugin_scans import argument_names, hook_attribute, hook_names, parsefactories

__all__ = ["QUICK_ENDS", "QUICK_STARTS"]


def collect_no_garbage(iterations: int) -> None:
    """Replace `gc_collect_harder`: `pytester` skips it for its runs, but not for the configurations that it makes."""


class LoadedModules:
    """Replace `SysModulesSnapshot`: ask of new modules alone whether they stay, as thousands are loaded before."""

    def __init__(self, preserve: Callable[[str], bool] = lambda name: False) -> None:
        self._preserve = preserve
        self._saved = dict(sys.modules)

    def restore(self) -> None:
        for name in filter(self._preserve, sys.modules.keys() - self._saved.keys()):
            self._saved[name] = sys.modules[name]
        sys.modules.clear()
        sys.modules.update(self._saved)


QUICK_STARTS: tuple[tuple[object, str, object], ...] = (
    (importlib.metadata, "distributions", installed_packages),
    (importlib.metadata.Distribution, "from_name", installed_package),
    (PytestPluginManager, "load_setuptools_entrypoints", load_entry_points),
    (FixtureManager, "parsefactories", parsefactories),
    (pluggy._manager, "dir", hook_names),
    (pluggy._manager, "_static_hook_attr", hook_attribute),  # pluggy 1.6 calls it by no name
    (importlib.import_module(pluggy.HookImpl.__module__), "varnames", argument_names),
)
"""Owner, name and replacement of each function."""

QUICK_ENDS: tuple[tuple[object, str, object], ...] = (
    (_pytest.unraisableexception, "gc_collect_harder", collect_no_garbage),
    (_pytest.pytester, "SysModulesSnapshot", LoadedModules),
)
"""The same, for runs within the process of the tests."""
