"""Encode arguments and results as JSON, with tags for other types; decode them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["decode", "encode"]

TAG = "$"
"""The key whose value is the name of a type."""

_VALUES = {kind.__name__: kind for kind in (Answer, Passage, Query, Ranking, ScoredPassage, Step, Turn, Usage)}


def encode(value: object, where: str) -> Any:
    """Return ``value`` as JSON.

    JSON values, tuples, `Query`, `Answer` and the values in these can be encoded. Fields with default values and an
    answer's latency are left out.

    Args:
        value: an argument or a result.
        where: the name of the value, for messages.

    Raises:
        SettingError: the value contains another type.
    """
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, list):
        return [encode(item, where) for item in value]
    if type(value) is tuple:
        return {TAG: "tuple", "items": [encode(item, where) for item in value]}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        plain = {key: encode(item, where) for key, item in value.items()}
        return {TAG: "dict", "items": plain} if TAG in plain else plain
    if _VALUES.get(type(value).__name__) is type(value):
        return {TAG: type(value).__name__, **_encode_fields(value, where)}
    raise SettingError(
        f"{where} cannot be recorded: it is or holds {short_repr(value)}; only JSON values, tuples, Query, Answer and "
        "what these hold can be"
    )


def decode(plain: Any) -> Any:
    """Return the value that `encode` received, except an answer's latency."""
    if isinstance(plain, list):
        return [decode(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if TAG not in plain:
        return {key: decode(item) for key, item in plain.items()}
    name = plain[TAG]
    if name in _VALUES:
        return _VALUES[name](**{key: decode(item) for key, item in plain.items() if key != TAG})
    if name == "tuple":
        return tuple(decode(plain["items"]))
    return {key: decode(item) for key, item in plain["items"].items()}


def _encode_fields(value: Any, where: str) -> dict[str, Any]:
    if isinstance(value, Usage):
        value = replace(value, latency_s=None)
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    plain = {field.name: field.default for field in fields(value) if field.default is not MISSING}
    return {name: encode(item, where) for name, item in values.items() if name not in plain or item != plain[name]}
