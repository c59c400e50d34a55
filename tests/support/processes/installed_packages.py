"""Metadata of installed packages, read once a process: pytest asks all of them for plugins at each start."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from functools import cache, cached_property

__all__ = ["installed_packages"]


class InstalledPackage(importlib.metadata.PathDistribution):
    """A package that keeps what it has read."""

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
