"""Metadata of installed packages, read once a process: pytest asks all of them for plugins at each start."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from _pytest.config import PytestPluginManager

__all__ = ["installed_package", "installed_packages", "load_entry_points"]

_from_name = importlib.metadata.Distribution.from_name
_load_all = PytestPluginManager.load_setuptools_entrypoints


class InstalledPackage(importlib.metadata.PathDistribution):
    """A package that caches its metadata."""

    @cached_property
    def entry_points(self) -> importlib.metadata.EntryPoints:
        return super().entry_points

    @cached_property
    def metadata(self) -> importlib.metadata.PackageMetadata:
        return super().metadata


@cache
def installed_packages() -> Sequence[importlib.metadata.Distribution]:
    """Return the installed packages as Python finds them; importlib_metadata would find each again."""
    packages = list(importlib.metadata.MetadataPathFinder.find_distributions())
    for package in packages:
        package.__class__ = InstalledPackage
    return packages


def installed_package(name: str) -> importlib.metadata.Distribution:
    """Replace `Distribution.from_name`: return the cached package of this name."""
    return _by_name().get(_normalized(name)) or _from_name(name)


def load_entry_points(manager: PytestPluginManager, group: str, name: str | None = None) -> int:
    """Replace pluggy's `load_setuptools_entrypoints`: find the plugin of ``-p NAME`` without asking every package."""
    if name is None or (group, name) not in _plugins():
        return _load_all(manager, group, name)
    if manager.has_plugin(name) or manager.is_blocked(name):
        return 0
    package, entry = _plugins()[group, name]
    plugin = entry.load()
    manager.register(plugin, name=name)
    manager._plugin_distinfo.append((plugin, package))
    return 1


@cache
def _by_name() -> Mapping[str, importlib.metadata.Distribution]:
    packages: Sequence[Any] = installed_packages()
    return {_normalized(package._path.name.partition("-")[0]): package for package in reversed(packages)}


@cache
def _plugins() -> Mapping[tuple[str, str], tuple[importlib.metadata.Distribution, importlib.metadata.EntryPoint]]:
    """Return the entry points of packages by group and name, without names that two packages share."""
    every = [(package, entry) for package in installed_packages() for entry in package.entry_points]
    names = [(entry.group, entry.name) for _, entry in every]
    return {key: pair for key, pair in zip(names, every, strict=True) if names.count(key) == 1}


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
