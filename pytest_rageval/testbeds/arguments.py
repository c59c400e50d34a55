"""Check the values of settings: return a valid value or raise `SettingError`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pytest_rageval.errors import SettingError, ascii_safe, short_repr
from pytest_rageval.model.facets import facet_text

__all__ = ["axis", "integer", "rate", "scalars", "text", "texts"]

T = TypeVar("T")


def text(value: object, name: str, where: str) -> str:
    """Return a non-blank string."""
    if isinstance(value, str) and value.strip():
        return value
    raise _wrong(value, name, where, "a string that is not empty")


def texts(value: object, name: str, where: str) -> tuple[str, ...]:
    """Return the strings of a list, or a single string as a tuple; raise for duplicates."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)):
        raise _wrong(value, name, where, "a list of strings")
    strings = tuple(text(item, name, where) for item in values)
    if len(set(strings)) < len(strings):
        raise _wrong(value, name, where, "each string once")
    return strings


def integer(value: object, name: str, where: str, least: int | None = None) -> int:
    """Return an integer; it must be at least ``least`` unless that is None."""
    if isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least):
        return value
    raise _wrong(value, name, where, "an integer" if least is None else f"an integer of at least {least}")


def rate(value: object, name: str, where: str) -> float:
    """Return a number in 0..1."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise _wrong(value, name, where, "a number in 0..1")


def axis(value: object, name: str, where: str, check: Callable[[object, str, str], T]) -> tuple[T, ...]:
    """Return the values of a setting that may be a list; raise for an empty list and for duplicates."""
    if not isinstance(value, (list, tuple)):
        return (check(value, name, where),)
    if not value:
        raise SettingError(f"{where}: {name} is an empty list, wanted at least one value")
    values = tuple(check(item, name, where) for item in value)
    if len({facet_text(item) for item in values}) < len(values):
        raise _wrong(value, name, where, "each value once")
    return values


def scalars(value: object, name: str, where: str) -> dict[str, str]:
    """Return facet -> value, with the values as text."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) and key.strip() for key in value):
        raise _wrong(value, name, where, "a table of facets and values")
    for key, item in value.items():
        if not isinstance(item, (str, int, float)):
            raise _wrong(item, f"{name}.{ascii_safe(key)}", where, "a string, number or boolean")
    return {key: facet_text(item) for key, item in value.items()}


def _wrong(value: object, name: str, where: str, wanted: str) -> SettingError:
    return SettingError(f"{where}: {name}: found {short_repr(value)}, wanted {wanted}")
