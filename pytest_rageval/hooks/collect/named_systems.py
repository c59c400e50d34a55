"""Import the systems that options or the ini name as ``module:attribute``."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from pytest_rageval.errors import SettingError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.loading import load_system

__all__ = ["NamedSystems"]


class NamedSystems:
    """Loads and stores the systems of one process that options name as ``module:attribute``.

    Between `load` and `close`, the end of ``sys.path`` contains ``folders``.

    Args:
        folders: the rootdir and the folder that pytest was started in.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._added: list[str] = []
        self._loaded: dict[str, System] = {}

    def load(self, names: Iterable[str], registered: Collection[str], aliases: Collection[str] = ()) -> None:
        """Load the systems in ``names`` that are not ``registered``.

        Raises:
            SettingError: a system cannot be loaded; the message suggests registered names and ``aliases``.
        """
        known = set(registered)
        for name in dict.fromkeys(names):
            if name in registered or name in self._loaded:  # names of a family, such as chain:FILE, count as registered
                continue
            if name.endswith(".toml"):
                chain = ascii_safe(f"chain:{name.rpartition(':')[2]}")
                raise SettingError(f"unknown system {short_repr(name)}; write {chain!r} for a chain")
            if name in aliases:  # from ALIAS@MODEL; an alias without @MODEL was replaced by its system before
                instead = "name it without @MODEL, or add a line with the other model"
                raise SettingError(f"rag_systems sets the model of {name!r}; {instead}")
            if ":" not in name:
                hint = f"(one of your own is module:attribute); {did_you_mean(name, {*known, *aliases})}"
                raise SettingError(f"unknown system {short_repr(name)} {hint}")
            self.extend_path()
            self._loaded[name] = load_system(name)

    def get(self, name: str) -> System | None:
        """Return the system that was loaded under ``name``; None for a registered system."""
        return self._loaded.get(name)

    def close(self) -> None:
        """Remove the added folders from ``sys.path``."""
        for folder in self._added:
            if folder in sys.path:
                sys.path.remove(folder)
        self._added.clear()

    def extend_path(self) -> None:
        """Add the folders to the end of ``sys.path``, until `close`."""
        for folder in dict.fromkeys(map(str, self._folders)):
            if folder not in sys.path:
                sys.path.append(folder)
                self._added.append(folder)
