"""Get the fields of a record with their types, or raise `DataError` for invalid values."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import get_args

from pytest_rageval.datasets.source import json_kind
from pytest_rageval.errors import DataError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.model.case import Gold, Role
from pytest_rageval.model.facets import MIN_N, facet_text

__all__ = ["RESERVED", "ROLES", "Fields", "claim"]

RESERVED = frozenset({
    "ability", "correct_rate", "correct_realised", "dataset", "noise_rate", "noise_realised", "passages", "repeat",
    "system", MIN_N,
})  # fmt: skip
"""Facets that the plugin sets, and a key of gates. Markers may set none of them, records only those in `RATES`."""

RATES = frozenset({"correct_rate", "noise_rate"})
"""Shares of correct and noise passages. A record may state them for its passages; an ability sets its own."""

_FORBIDDEN = RESERVED - RATES

ROLES: tuple[Role, ...] = tuple(role for role in get_args(Role) if role)


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object of a file.

    Attributes:
        where: ``file:line`` of the record.
        values: the keys and values of the object.
        prefix: path from the record to this object, for messages, such as "passages[2].".
    """

    where: str
    values: Mapping[str, object]
    prefix: str = ""

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def error(self, name: str, wanted: str) -> DataError:
        """Return the error for a field that is missing or invalid; ``wanted`` says what is valid."""
        if name not in self.values:
            problem = f"the field {ascii_safe(self.prefix + name)} is missing, wanted {wanted}{self.near(name)}"
            return DataError(self.where, problem, code="RAG202")
        return self.wrong(name, self.values[name], wanted)

    def near(self, *missing: str) -> str:
        """Return the end of a message, with the key that is most similar to a missing one; "" if none is similar."""
        keys = {key.lower(): key for key in self.values}
        close = [keys[key] for name in missing for key in get_close_matches(name, keys, n=1, cutoff=0.75)]
        return f"; the key {short_repr(close[0])} is similar" if close else ""

    def wrong(self, name: str, value: object, wanted: str) -> DataError:
        """Return the error for an invalid ``value`` at ``name``; ``wanted`` says what is valid."""
        return DataError(
            self.where, f"{ascii_safe(self.prefix + name)}: found {json_kind(value)}, wanted {wanted}", code="RAG202"
        )

    def only(self, known: Collection[str]) -> None:
        """Raise `DataError` if there is an unknown key."""
        for name in self.values:
            if name not in known:
                problem = f"unknown key {short_repr(name)} in {self.prefix.rstrip('.')}; {did_you_mean(name, known)}"
                raise DataError(self.where, problem, code="RAG102")

    def identifier(self, name: str) -> str:
        """Return a required id as a string; the value is an integer or a non-blank string."""
        value = self.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip():
            return value
        raise self.error(name, "an integer or a string that is not empty")

    def text(self, name: str) -> str:
        """Return a required non-blank string."""
        value = self.values.get(name)
        if isinstance(value, str) and value.strip():
            return value
        raise self.error(name, "a string that is not empty")

    def language(self, name: str, default: str) -> str:
        """Return the primary part of a language tag ("zh" for "zh-CN"), or ``default`` if the field is absent."""
        if name not in self.values:
            return default
        primary = re.split("[-_]", self.text(name).strip().lower(), maxsplit=1)[0]
        if primary:
            return primary
        raise self.error(name, "a language tag such as en or zh-CN")

    def string(self, name: str, default: str | None = None) -> str:
        """Return a string, which may be empty; the field is required unless there is a default."""
        value = self.values.get(name, default)
        if isinstance(value, str):
            return value
        raise self.error(name, "a string")

    def flag(self, name: str) -> bool | None:
        """Return true or false; None if the field is absent."""
        value = self.values.get(name)
        if isinstance(value, bool):
            return value
        if name not in self.values:
            return None
        raise self.error(name, "true or false")

    def count(self, name: str, least: int = 0) -> int | None:
        """Return an integer of at least ``least``; None if the field is absent."""
        value = self.values.get(name)
        if name not in self.values:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        raise self.error(name, f"an integer of at least {least}")

    def grade(self, name: str) -> int:
        """Return a required integer, which may be negative."""
        value = self.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise self.error(name, "an integer")

    def amount(self, name: str, least: float = -sys.float_info.max) -> float | None:
        """Return a finite number of at least ``least``; None if the field is absent."""
        value = self.values.get(name)
        if name not in self.values:
            return None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= sys.float_info.max:
            return float(value)
        raise self.error(name, "a number" if least < 0 else f"a number of at least {least:g}")

    def without_nulls(self) -> Fields:
        """Return the same object without the fields that are null."""
        return replace(self, values={name: value for name, value in self.values.items() if value is not None})

    def items(self, name: str, wanted: str) -> list[object]:
        """Return a list; an empty list if the field is absent."""
        value = self.values.get(name, [])
        if isinstance(value, list):
            return value
        raise self.error(name, wanted)

    def objects(self, name: str, wanted: str) -> Iterator[Fields]:
        """Yield the fields of each object in a list."""
        for index, item in enumerate(self.items(name, wanted)):
            yield self.inner(f"{name}[{index}]", item, wanted)

    def inner(self, name: str, value: object, wanted: str) -> Fields:
        """Return the fields of an object inside this object."""
        if not isinstance(value, dict):
            raise self.wrong(name, value, wanted)
        return Fields(self.where, value, f"{self.prefix}{name}.")

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the aliases of one slot: a non-blank string, or a list of at least one such string."""
        if name not in self.values:
            raise self.error(name, "a string or a list of strings")
        return self._slot(name, self.values[name])

    def slots(self, name: str) -> Gold:
        """Return a list of at least one slot; each slot is a string or a list of aliases."""
        value = self.values.get(name)
        if not isinstance(value, list) or not value:
            raise self.error(name, "a list of slots, each a string or a list of strings")
        return tuple(self._slot(f"{name}[{index}]", slot) for index, slot in enumerate(value))

    def _slot(self, name: str, value: object) -> tuple[str, ...]:
        if isinstance(value, str) and value.strip():
            return (value,)
        if not isinstance(value, list) or not value:
            raise self.wrong(name, value, "a string that is not empty or a list of at least one")
        for index, alias in enumerate(value):
            if not isinstance(alias, str) or not alias.strip():
                raise self.wrong(f"{name}[{index}]", alias, "a string that is not empty")
        return tuple(value)

    def facets(self, known: Collection[str]) -> dict[str, str]:
        """Return every unknown key as a facet; its value must be a string, number or boolean."""
        texts = {}
        for name, value in self.values.items():
            if name in known:
                continue
            if name in _FORBIDDEN:
                raise DataError(self.where, f"the key {short_repr(name)} is reserved by the plugin; rename it")
            if not name.strip():
                raise DataError(self.where, f"found the key {short_repr(name)}, wanted a name that is not empty")
            if not isinstance(value, (str, int, float)):
                wanted = "a string, number or boolean, because an unknown key becomes a facet"
                raise self.wrong(name, value, f"{wanted}; {did_you_mean(name, known)}")
            if name in RATES:
                self._rate(name, value)
            texts[name] = facet_text(value)
        return texts

    def _rate(self, name: str, value: object) -> None:
        """Raise `DataError` for a rate that is not a number in 0..1."""
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= 1:
            raise self.wrong(name, value, "a number in 0..1")


def claim(seen: dict[object, int], key: object, what: str, name: str, line: int) -> None:
    """Record in ``seen`` that ``line`` of the file ``name`` uses ``key``; raise `DataError` for a duplicate."""
    if key in seen:
        raise DataError(f"{name}:{line}", f"{what} is already in line {seen[key]}, wanted each once", code="RAG203")
    seen[key] = line
