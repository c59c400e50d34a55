"""What pytest's start is replaced with in runs inside tests, so that a small one takes half of its time."""

from __future__ import annotations

import importlib
import importlib.metadata

import pluggy._manager
from _pytest.config import PytestPluginManager
from _pytest.fixtures import FixtureManager

from .installed_packages import installed_package, installed_packages, load_entry_points
from .plugin_scans import argument_names, hook_attribute, hook_names, parsefactories

__all__ = ["QUICK_STARTS"]

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
