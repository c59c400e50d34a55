"""JSON text as a type of its own, so that each outcome is encoded only once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_rageval.model.plain import encoder_of

__all__ = ["JsonText", "decode_results", "from_json", "json_lines", "to_json"]


class JsonText(str):
    """A value encoded as JSON, on one line."""

    __slots__ = ()


_encode = encoder_of(json.JSONEncoder(ensure_ascii=False, allow_nan=False))

_decode = json.JSONDecoder().raw_decode


def to_json(value: object) -> JsonText:
    """Encode builtins as JSON; a `JsonText` is returned unchanged."""
    return value if isinstance(value, JsonText) else JsonText(_encode(value))


def from_json(value: Any) -> Any:
    """Decode a `JsonText`; any other value is returned unchanged."""
    return _decode(value)[0] if isinstance(value, JsonText) else value


def decode_results(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return results with every `JsonText` in them decoded."""
    decoded: dict[str, Any] = json.loads("".join(json_lines(results)))
    return decoded


def json_lines(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield results as JSON text, one line for each outcome and instance, without building the whole text."""
    separator = "{\n"
    for key, value in results.items():
        yield f"{separator}{to_json(key)}: "
        if isinstance(value, Mapping):
            yield from _bracket_lines("{", (f"{to_json(k)}: {to_json(v)}" for k, v in value.items()), "}")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from _bracket_lines("[", map(to_json, value), "]")
        else:
            yield to_json(value)
        separator = ",\n"
    yield "\n}\n"


def _bracket_lines(opening: str, lines: Iterable[str], closing: str) -> Iterator[str]:
    """Yield lines with commas between them and brackets around them."""
    separator = opening
    for line in lines:
        yield f"{separator}\n{line}"
        separator = ","
    yield f"{separator}{closing}" if separator == opening else f"\n{closing}"
