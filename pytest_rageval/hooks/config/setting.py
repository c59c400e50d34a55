"""Declare a setting once: its option, its ini name, its parser and its help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import pytest

from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.hooks.config.invocation import ini_folder, invoked_from

if TYPE_CHECKING:
    from typing import Literal, NoReturn

__all__ = ["Fact", "Group", "Place", "Setting", "Settings", "declared"]

T = TypeVar("T")
F = TypeVar("F", bound="Fact[Any]")


class Place:
    """Where the text of a setting comes from.

    Attributes:
        name: the option or the ini setting, for error messages.
        folder: the base of relative paths.
    """

    __slots__ = ("folder", "name")

    def __init__(
        self, name: str, folder: Path
    ) -> None:  # creating a NamedTuple would slow each start of pytest by 0.2 ms
        self.name = name
        self.folder = folder


def _unchanged(value: Any, place: Place) -> Any:
    """Return the value that argparse or pytest has parsed."""
    return value


class Fact(Generic[T]):
    """An attribute of `Settings` whose value a function reads from pytest's configuration.

    Args:
        read: returns the value for a configuration.
    """

    __slots__ = ("attribute", "read")

    def __init__(self, read: Callable[[pytest.Config], T]) -> None:
        self.read = read
        self.attribute = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute = name

    @overload
    def __get__(self: F, instance: None, owner: type) -> F: ...
    @overload
    def __get__(self, instance: Settings, owner: type) -> T: ...
    def __get__(self, instance: Settings | None, owner: type) -> Fact[T] | T:
        return self if instance is None else instance._values[self.attribute]

    def __set__(self, instance: Settings, value: NoReturn) -> None:
        raise AttributeError(f"{self.attribute} is read-only")


class Setting(Fact[T]):
    """One setting: an option of the command line, a setting of the ini, or both. If both are given, the option wins.

    A subclass of `Settings` declares it: ``Options.limit`` is the declaration, and ``options.limit`` the value.
    ``Options.limit.read(config)`` reads only this value.

    Args:
        names: the option (``--rag-limit``), the ini name (``rag_top_k``), or both.
        help: the description in ``--help`` and in the reference.
        parse: (text or lines, place) -> the value; raises `SettingError`. A setting without it declares its type.
        default: the default of the ini setting; for a setting without ini name, of the option.
        kind: pytest's type of the ini value.
        more: the page of the docs that explains the setting.
        decides: the part of a run's fingerprint that contains the value; "" if scores do not depend on it.
            `run_fingerprint` adds what several settings decide together.
        reported: whether results.json lists the setting.
        needs: the ini setting without which this one has no effect, and is left out of results.json.
        argument: further arguments for argparse, such as ``metavar``.
    """

    __slots__ = (
        "argument", "decides", "default", "help", "ini", "kind", "more", "needs", "option", "parse", "reported",
    )  # fmt: skip

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002 - argparse's and pytest's word
        parse: Callable[[Any, Place], T] = _unchanged,
        default: object = None,
        kind: Literal["string", "linelist", "args", "bool"] = "string",
        more: str = "",
        decides: Literal["", "settings", "systems"] = "",
        reported: bool = False,
        needs: str = "",
        **argument: Any,
    ) -> None:
        super().__init__(self._read)
        self.option = next((name for name in names if name.startswith("--")), "")
        self.ini = next((name for name in names if not name.startswith("--")), "")
        self.parse, self.help, self.default, self.kind = parse, help, default, kind
        self.more, self.decides, self.reported, self.needs, self.argument = more, decides, reported, needs, argument

    @property
    def name(self) -> str:
        """The name in messages about a run: the ini name, else the option."""
        return self.ini or self.option

    @property
    def key(self) -> str:
        """The key in results.json."""
        return self.ini or self.dest

    @property
    def dest(self) -> str:
        """The name of the attribute of ``config.option``."""
        return self.option.removeprefix("--").replace("-", "_")

    def add_to(self, parser: pytest.Parser) -> None:
        """Add the option and the ini setting to pytest's parser."""
        if self.option:
            default = {} if self.ini or self.default is None else {"default": self.default}
            text = self.help.replace("%", "%%")  # argparse formats it
            parser.getgroup("rag").addoption(self.option, dest=self.dest, help=text, **default, **self.argument)
        if self.ini:
            empty: object = "" if self.kind == "string" else []
            parser.addini(self.ini, self.help, self.kind, empty if self.default is None else self.default)

    def _read(self, config: pytest.Config) -> T:
        value = getattr(config.option, self.dest) if self.option else None
        if value or not self.ini:
            return self.parse(value, Place(self.option, invoked_from(config)))
        return self.parse(_ini_value(config, self.ini), Place(self.ini, ini_folder(config)))


class Settings:
    """The values of the settings that a subclass declares, checked for form.

    Raises:
        SettingError: a value is invalid; the message names its option or ini setting.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._values: dict[str, Any] = {fact.attribute: fact.read(config) for fact in _facts(type(self))}

    def items(self) -> Iterator[tuple[Setting[Any], Any]]:
        """Yield each setting and its value."""
        for fact in _facts(type(self)):
            value = self._values[fact.attribute]
            if isinstance(fact, Setting):
                yield fact, value
            elif isinstance(value, Settings):
                yield from value.items()


S = TypeVar("S", bound=Settings)


class Group(Fact[S]):
    """A group of related settings, as one attribute of `Settings`."""

    __slots__ = ("settings",)

    def __init__(self, settings: type[S]) -> None:
        super().__init__(settings)
        self.settings = settings


def declared(settings: type[Settings]) -> Iterator[Setting[Any]]:
    """Yield the declared settings, including those of groups."""
    for fact in _facts(settings):
        if isinstance(fact, Setting):
            yield fact
        elif isinstance(fact, Group):
            yield from declared(fact.settings)


def _facts(settings: type[Settings]) -> Iterator[Fact[Any]]:
    return (value for value in vars(settings).values() if isinstance(value, Fact))


def _ini_value(config: pytest.Config, name: str) -> Any:
    """Return the value of an ini setting; raise `SettingError` if pytest cannot read it."""
    try:
        return config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise SettingError(f"{name} in the ini cannot be used: {ascii_safe(str(error))}") from None
