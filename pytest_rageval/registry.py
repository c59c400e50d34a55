"""Map names to values, such as metrics and systems; builtins are imported on first use.

A builtin is registered as ``"package.module:attribute"``; listing its name imports nothing. Names that differ only in
an argument, such as ``P@5`` and ``P@10`` or ``kilt:token_f1``, are a family: one function makes the value of each.
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
        kind: the kind of value, in the singular, for error messages ("metric", "dataset format").
        builtin: name -> ``"module:attribute"``, imported on first use; or the ``"module:attribute"`` of such a mapping.
        check: the function ``(name, value)`` that returns the problem of a value in a few words, or None.
        families: head -> ``"module:attribute"`` of the function ``(name, head, get) -> value``, or the
            ``"module:attribute"`` of such a mapping. ``get`` is the method of this registry. The head is the part of a
            name before ``@`` or ``:``, or the whole name.
        others: lower-case name in other tools -> name in this registry, for suggestions; or the ``"module:attribute"``
            of such a mapping.
    """

    def __init__(
        self,
        kind: str,
        builtin: Mapping[str, str] | str = MappingProxyType({}),
        check: Callable[[str, object], str | None] = lambda name, value: None,
        families: Mapping[str, str] | str = MappingProxyType({}),
        others: Mapping[str, str] | str = MappingProxyType({}),
    ) -> None:
        self.kind = kind
        self._check = check
        self._builtin = builtin
        self._families = families
        self._others = others
        self._values: dict[str, T] = {}

    def register(self, name: str, value: T) -> None:
        """Add ``value`` under ``name``; raise `SettingError` if the name is in use."""
        if name in self:
            raise SettingError(f"{self.kind} {name!r} is already registered; choose another name")
        problem = self._check(name, value)
        if problem is not None:
            raise SettingError(f"{self.kind} {name!r} cannot be registered: {problem}")
        self._values[name] = value

    def get(self, name: str, where: str = "") -> T:
        """Return the value of ``name``; raise `UnknownNameError` for an unknown name."""
        if name in self._values:
            return self._values[name]
        if name in self._references:
            value: T = _import(self._references[name])
            self._values[name] = value
            return value
        return self._from_family(name, where)

    def _from_family(self, name: str, where: str) -> T:
        """Return the value that the function of the name's family makes."""
        head, mark, argument = _split_name(name)
        if head not in self._heads:
            known = {*self, *(f"{h}{mark}{argument}" for h in self._heads)}
            raise UnknownNameError(self.kind, name, known, where, self._translate(head, mark, argument))
        try:
            return cast("T", _import(self._heads[head])(name, head, self.get))
        except SettingError as error:
            raise SettingError(f"{where}: {error}" if where else str(error)) from error

    def _translate(self, head: str, mark: str, argument: str) -> str:
        """Return the registered name for a name of another tool, such as ``P@3`` for ``precision@3``; else ""."""
        translation = _table(self._others).get(head.casefold(), "")
        family = _split_name(translation)[0]
        return f"{family}{mark}{argument}" if family in self._heads and mark == "@" else translation

    @property
    def _references(self) -> Mapping[str, str]:
        """Name -> ``"module:attribute"`` of each builtin."""
        self._builtin = _table(self._builtin)
        return self._builtin

    @property
    def _heads(self) -> Mapping[str, str]:
        """Head -> ``"module:attribute"`` of the function of each family."""
        self._families = _table(self._families)
        return self._families

    def __contains__(self, name: object) -> bool:
        return (
            name in self._values
            or name in self._references
            or (isinstance(name, str) and _split_name(name)[0] in self._heads)
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._references, *self._values}))

    def __len__(self) -> int:
        return len({*self._references, *self._values})


def _split_name(name: str) -> tuple[str, str, str]:
    """Return the part of a name before the first ``@`` or ``:``, this character, and the rest."""
    head, mark, argument = _MARK.split(name, maxsplit=1) if _MARK.search(name) else (name, "", "")
    return head, mark, argument


def _table(mapping: Mapping[str, str] | str) -> Mapping[str, str]:
    """Return a mapping; import it if it is named by ``"module:attribute"``."""
    return cast("Mapping[str, str]", _import(mapping)) if isinstance(mapping, str) else mapping


def _import(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)
