"""Names and what they stand for: one generic registry, filled lazily.

A builtin is registered as ``"package.module:attribute"`` and imported when it is first asked for,
so that knowing a name costs nothing until it is used. Names that only differ in an argument, as ``P@5`` and ``P@10`` or
``kilt:token_f1``, are a family: a function that makes the value of a name when it is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from pytest_rageval.errors import SettingError, UnknownNameError

__all__ = ["Registry"]

T = TypeVar("T")

_MARK = re.compile("([@:])")


class Registry(Generic[T]):
    """A mapping of names to values of one kind.

    Args:
        kind: what the values are, in the singular, for error messages ("metric", "dataset format").
        builtin: name -> ``"module:attribute"``, imported on first use; or where that mapping is
            found, itself as ``"module:attribute"``.
        families: what stands before ``@`` or ``:`` in a name, or is all of it -> ``"module:attribute"`` of the function
            ``(name, head, get) -> value`` that makes them, where ``get`` is this registry's; given as ``builtin`` is.
        check: says in a few words what is wrong with a value, or None when nothing is.
    """

    def __init__(
        self,
        kind: str,
        builtin: Mapping[str, str] | str = MappingProxyType({}),
        check: Callable[[str, object], str | None] = lambda name, value: None,
        families: Mapping[str, str] | str = MappingProxyType({}),
    ) -> None:
        self.kind = kind
        self._check = check
        self._builtin = builtin
        self._families = families
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
        if name in self._lazy:
            value: T = _imported(self._lazy[name])
            self._values[name] = value
            return value
        return self._made(name, where)

    def _made(self, name: str, where: str) -> T:
        """Return what the family of ``name`` makes of it."""
        head, mark, argument = _parts(name)
        if head not in self._heads:
            raise UnknownNameError(self.kind, name, {*self, *(f"{h}{mark}{argument}" for h in self._heads)}, where)
        try:
            return cast("T", _imported(self._heads[head])(name, head, self.get))
        except SettingError as error:
            raise SettingError(f"{where}: {error}" if where else str(error)) from error

    @property
    def _lazy(self) -> Mapping[str, str]:
        self._builtin = _table(self._builtin)
        return self._builtin

    @property
    def _heads(self) -> Mapping[str, str]:
        self._families = _table(self._families)
        return self._families

    def __contains__(self, name: object) -> bool:
        return name in self._values or name in self._lazy or (isinstance(name, str) and _parts(name)[0] in self._heads)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._lazy, *self._values}))

    def __len__(self) -> int:
        return len({*self._lazy, *self._values})


def _parts(name: str) -> tuple[str, str, str]:
    """Return what stands before the first ``@`` or ``:`` of a name, that mark, and the rest."""
    head, mark, argument = _MARK.split(name, maxsplit=1) if _MARK.search(name) else (name, "", "")
    return head, mark, argument


def _table(given: Mapping[str, str] | str) -> Mapping[str, str]:
    return cast("Mapping[str, str]", _imported(given)) if isinstance(given, str) else given


def _imported(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)
