"""Values that are kept as JSON text: written as they stand, and light to hold while a session runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["JsonText", "from_json", "json_lines", "plain", "to_json"]


class JsonText(str):
    """A value as JSON text, on one line."""

    __slots__ = ()


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def to_json(value: object) -> JsonText:
    """Return a value of builtins as JSON; one that is JSON already is returned as it is."""
    return value if isinstance(value, JsonText) else JsonText(_encode(value))


def from_json(value: Any) -> Any:
    """Return what JSON text says as builtins; a value that is no `JsonText` is returned as it is."""
    return json.loads(value) if isinstance(value, JsonText) else value


def plain(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return results with everything in them as builtins."""
    read: dict[str, Any] = json.loads("".join(json_lines(results)))
    return read


def json_lines(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield results as JSON text, one line for each outcome, instance and so on: quick to write, and to be read."""
    mark = "{\n"
    for key, value in results.items():
        yield f"{mark}{to_json(key)}: "
        if isinstance(value, list) and value:
            yield "[\n" + ",\n".join(map(to_json, value)) + "\n]"
        elif isinstance(value, dict) and value:
            yield "{\n" + ",\n".join(f"{to_json(k)}: {to_json(v)}" for k, v in value.items()) + "\n}"
        else:
            yield to_json(value)
        mark = ",\n"
    yield "\n}\n"
