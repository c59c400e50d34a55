"""The settings of a retriever, as ``rag_retriever_params`` gives them, checked."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence

from pytest_rageval.errors import SettingError, did_you_mean, found

__all__ = ["Params"]

WHERE = "rag_retriever_params"


class Params:
    """Gives the settings one by one, each with its default; what is wrong is a `SettingError` that says what is wanted.

    After the last, `finish` refuses the names that nobody asked for.
    """

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = given
        self._known: list[str] = []

    def number(self, name: str, default: float, least: float = 0.0, most: float = math.inf) -> float:
        """Return a number in ``least..most``."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise _wrong(name, value, "a number " + _range(least, most))
        if not math.isfinite(value):
            raise _wrong(name, value, "a finite number")
        return float(value)

    def whole(self, name: str, default: int, least: int = 1, most: float = math.inf) -> int:
        """Return a whole number in ``least..most``."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise _wrong(name, value, "a whole number " + _range(least, most))
        return value

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise _wrong(name, value, "true or false")
        return value

    def text(self, name: str, default: str) -> str:
        """Return a text."""
        value = self._value(name, default)
        if not isinstance(value, str):
            raise _wrong(name, value, "a text")
        return value

    def choice(self, name: str, default: str, known: Collection[str]) -> str:
        """Return one of the names that are ``known``."""
        value = self.text(name, default)
        if value not in known:
            raise SettingError(f"{WHERE} has {name} = {found(value)}; {did_you_mean(value, known)}")
        return value

    def names(self, name: str, default: Sequence[str]) -> tuple[str, ...]:
        """Return a list of texts, at least one and none twice."""
        value = self._value(name, list(default))
        if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
            raise _wrong(name, value, f"a list as {json.dumps(list(default))}")
        if len(set(value)) < len(value):
            raise _wrong(name, value, "each once")
        return tuple(value)

    def finish(self) -> None:
        """Refuse a setting that nobody has asked for."""
        for name in self._given:
            if name not in self._known:
                raise SettingError(f"{WHERE} has the unknown setting {found(name)}; {did_you_mean(name, self._known)}")

    def _value(self, name: str, default: object) -> object:
        self._known.append(name)
        return self._given.get(name, default)


def _range(least: float, most: float) -> str:
    return f"of {least:g} or more" if most == math.inf else f"from {least:g} to {most:g}"


def _wrong(name: str, value: object, wanted: str) -> SettingError:
    return SettingError(f"{WHERE} has {name} = {found(value)}; write {wanted}")
