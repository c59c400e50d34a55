"""Read and check the settings of a retriever, from ``rag_retriever_params``."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from pytest_rageval.errors import SettingError, did_you_mean, short_repr

__all__ = ["WHERE", "Params"]

WHERE = "rag_retriever_params"
"""The option with the settings of a retriever, for messages."""


class Params:
    """Read settings one by one, each with a default; an invalid value raises a `SettingError` with advice.

    Call `finish` at the end, which raises an error for unknown settings.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._settings = settings
        self._names: list[str] = []

    def number(self, name: str, default: float, minimum: float = 0.0, maximum: float = math.inf) -> float:
        """Return a number in ``minimum..maximum``."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not minimum <= value <= maximum:
            raise _wrong(name, value, "a number " + _range(minimum, maximum))
        if not math.isfinite(value):
            raise _wrong(name, value, "a finite number")
        return float(value)

    def whole(self, name: str, default: int, minimum: int = 1, maximum: float = math.inf) -> int:
        """Return a whole number in ``minimum..maximum``."""
        value = self._value(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise _wrong(name, value, "a whole number " + _range(minimum, maximum))
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

    def choice(self, name: str, default: str, choices: Collection[str]) -> str:
        """Return one of the names in ``choices``."""
        value = self.text(name, default)
        if value not in choices:
            raise SettingError(f"{WHERE} has {name} = {short_repr(value)}; {did_you_mean(value, choices)}")
        return value

    def names(self, name: str, default: Sequence[str]) -> tuple[str, ...]:
        """Return a list of one or more texts without duplicates."""
        value = self._value(name, list(default))
        if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
            raise _wrong(name, value, f"a list like {json.dumps(list(default))}")
        if len(set(value)) < len(value):
            raise _wrong(name, value, "each name once")
        return tuple(value)

    def clauses(self, name: str) -> Mapping[str, Any] | list[Any] | None:
        """Return a JSON object or a list of JSON objects, such as filters; None if the setting is missing."""
        value = self._value(name, None)
        clauses = value if isinstance(value, list) else [value]
        if value is not None and not (clauses and all(isinstance(each, dict) for each in clauses)):
            raise _wrong(name, value, 'a JSON object like {"term": {"lang": "en"}}, or a list of them')
        return cast("Mapping[str, Any] | list[Any] | None", value)

    def finish(self) -> None:
        """Raise a `SettingError` for a setting that was never read."""
        for name in self._settings:
            if name not in self._names:
                raise SettingError(
                    f"{WHERE} has the unknown setting {short_repr(name)}; {did_you_mean(name, self._names)}"
                )

    def _value(self, name: str, default: object) -> object:
        self._names.append(name)
        return self._settings.get(name, default)


def _range(minimum: float, maximum: float) -> str:
    return f"of {minimum:g} or more" if maximum == math.inf else f"from {minimum:g} to {maximum:g}"


def _wrong(name: str, value: object, advice: str) -> SettingError:
    return SettingError(f"{WHERE} has {name} = {short_repr(value)}; write {advice}")
