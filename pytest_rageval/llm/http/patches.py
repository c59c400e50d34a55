"""Wrap the HTTP libraries of a process for a session, and restore them at its end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_rageval.llm.http.http_recorder import HttpRecorder

__all__ = ["TRANSPORTS", "Patches"]

TRANSPORTS = {
    "httpx": "httpx_transport",
    "httpx2": "httpx_transport",
    "urllib3.connectionpool": "urllib3_pool",
    "aiohttp.client": "aiohttp_session",
}
"""Library -> the module of this package that wraps it."""


class Patches(MetaPathFinder):
    """Wraps methods of the HTTP libraries for a session.

    A library that is not imported yet is wrapped as soon as something imports it; this class imports none.
    """

    def __init__(self, recorder: HttpRecorder) -> None:
        self._recorder = recorder
        self._undo: list[tuple[type, str, Any]] = []
        self._searching: set[str] = set()

    def install(self) -> None:
        """Wrap the imported libraries now, and the others when they are imported."""
        for name in TRANSPORTS:
            if name in sys.modules:
                self.wrap(sys.modules[name])
        sys.meta_path.insert(0, self)

    def undo(self) -> None:
        """Restore the original methods."""
        with suppress(ValueError):
            sys.meta_path.remove(self)
        while self._undo:
            owner, name, original = self._undo.pop()
            setattr(owner, name, original)

    def wrap(self, library: ModuleType) -> None:
        """Wrap one imported library."""
        module: Any = import_module(f"pytest_rageval.llm.http.{TRANSPORTS[library.__name__]}")
        for owner, name, wrapper in module.wrappers(library, self._recorder):
            original = owner.__dict__[name]
            self._undo.append((owner, name, original))
            setattr(owner, name, wrapper(original))

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a library, with a loader that wraps it after its import."""
        if name not in TRANSPORTS or name in self._searching:
            return None
        self._searching.add(name)
        try:
            specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
            spec = next((each for each in specs if each is not None), None)
        finally:
            self._searching.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _WrappingLoader(spec.loader, self)
        return spec


class _WrappingLoader(Loader):
    """A loader that wraps a library right after its import."""

    def __init__(self, loader: Loader, patches: Patches) -> None:
        self._loader = loader
        self._patches = patches

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        if self._patches in sys.meta_path:
            self._patches.wrap(module)
