"""Names and what they stand for: one generic registry, filled lazily.

A builtin is registered as ``"package.module:attribute"`` and imported when it is first asked for,
so that knowing a name costs nothing until it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from pytest_rageval.errors import SettingError, UnknownNameError

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """A mapping of names to values of one kind.

    Args:
        kind: what the values are, in the singular, for error messages ("metric", "dataset format").
        builtin: name -> ``"module:attribute"``, imported on first use; or where that mapping is
            found, itself as ``"module:attribute"``.
        check: says in a few words what is wrong with a value, or None when nothing is.
    """

    def __init__(
        self,
        kind: str,
        builtin: Mapping[str, str] | str = MappingProxyType({}),
        check: Callable[[str, object], str | None] = lambda name, value: None,
    ) -> None:
        self.kind = kind
        self._check = check
        self._builtin = builtin
        self._values: dict[str, T] = {}

    def register(self, name: str, value: T) -> None:
        """Add ``value`` under ``name``; a name that is taken is a `SettingError`."""
        if name in self:
            raise SettingError(f"{self.kind} {name!r} is already registered; choose another name")
        problem = self._check(name, value)
        if problem is not None:
            raise SettingError(f"{self.kind} {name!r} cannot be registered: {problem}")
        self._values[name] = value

    def get(self, name: str, where: str = "") -> T:
        """Return what ``name`` stands for; an unknown name is an `UnknownNameError`."""
        if name in self._values:
            return self._values[name]
        if name not in self._lazy:
            raise UnknownNameError(self.kind, name, self, where)
        value: T = _imported(self._lazy[name])
        self._values[name] = value
        return value

    @property
    def _lazy(self) -> Mapping[str, str]:
        if isinstance(self._builtin, str):
            self._builtin = cast("Mapping[str, str]", _imported(self._builtin))
        return self._builtin

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._lazy

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._lazy, *self._values}))

    def __len__(self) -> int:
        return len({*self._lazy, *self._values})


def _imported(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)
