"""Check the arguments of a tool call against a JSON schema.

Supported keywords: ``type enum const anyOf required properties additionalProperties items``. Other and malformed
keywords are ignored, so the check never rejects arguments that the tool's own server would accept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_rageval.environments.tool import InvalidArgumentsError
from pytest_rageval.errors import short_repr
from pytest_rageval.model.plain import plain_json
from pytest_rageval.model.stored_json import parse_json

__all__ = ["fit_arguments", "parse_arguments"]

Schema = Mapping[str, Any]

_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,4000}\s*", re.ASCII)

_IS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and value == value // 1,
    "number": lambda value: _is_number(value),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, Mapping),
    "null": lambda value: value is None,
}

_NAMES = {
    "string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip


def parse_arguments(arguments: object) -> Mapping[str, Any]:
    """Return the arguments of a call as an object: text is parsed as JSON, and blank text means no arguments.

    Raises:
        InvalidArgumentsError: the arguments are not a JSON object.
    """
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            raise InvalidArgumentsError("The arguments are not a JSON object.") from None
    if not isinstance(arguments, Mapping):
        raise InvalidArgumentsError("The arguments are not a JSON object.")
    return arguments


def fit_arguments(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return arguments that fit a tool's schema. The text "3" becomes 3 if the schema requires an integer.

    Raises:
        InvalidArgumentsError: an argument does not fit; the message names it and says what to write.
    """
    properties = _mapping(schema.get("properties"))
    unknown = [name for name in arguments if name not in properties]
    if unknown and not schema.get("additionalProperties", False):
        names = ", ".join(properties) or "none"
        raise InvalidArgumentsError(f"There is no parameter {_json_text(unknown[0])}; there are: {names}.")
    value: dict[str, Any] = _object(arguments, schema, "")
    return value


def _value(value: Any, schema: object, where: str) -> Any:
    """Return a value that fits the schema; messages name the value by ``where``."""
    if not isinstance(schema, Mapping):
        return value
    variants = schema.get("anyOf")
    if isinstance(variants, Sequence):
        return _any_of(value, variants, where)
    value = _typed(value, schema.get("type"), where)
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(allowed, list | tuple) and not any(_equal(value, each) for each in allowed):
        raise InvalidArgumentsError(
            f"{where} is {_json_text(value)}; write one of {', '.join(map(_json_text, allowed))}."
        )
    if isinstance(value, Mapping):
        return _object(value, schema, where)
    if isinstance(value, list | tuple):
        return [_value(each, schema.get("items"), f"{where}[{at}]") for at, each in enumerate(value)]
    return value


def _any_of(value: Any, variants: Sequence[Any], where: str) -> Any:
    """Return the value that the first matching variant yields; variants that keep the value's type come first."""
    attempts = [_attempt(value, variant, where) for variant in variants]
    matches = [match for match, fault in attempts if fault is None]
    faults = [fault for _, fault in attempts if fault is not None]
    if not matches:
        raise faults[-1] if faults else InvalidArgumentsError(f"{where} has no valid value.")
    return next((match for match in matches if type(match) is type(value)), matches[0])


def _attempt(value: Any, schema: object, where: str) -> tuple[Any, InvalidArgumentsError | None]:
    try:
        return _value(value, schema, where), None
    except InvalidArgumentsError as fault:
        return None, fault


def _typed(value: Any, wanted: object, where: str) -> Any:
    names = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, Sequence) else []
    types = [name for name in names if isinstance(name, str) and name in _IS]
    if not types or len(types) < len(names):
        return value
    if any(_IS[name](value) for name in types):
        return int(value) if isinstance(value, float) and "integer" in types and "number" not in types else value
    if isinstance(value, str) and "integer" in types and _WHOLE.fullmatch(value):
        return int(value)
    raise InvalidArgumentsError(f"{where} is {_json_text(value)}; write {' or '.join(_NAMES[name] for name in types)}.")


def _object(value: Mapping[str, Any], schema: Schema, where: str) -> dict[str, Any]:
    required = schema.get("required")
    for name in required if isinstance(required, list | tuple) else ():
        if isinstance(name, str) and name not in value:
            raise InvalidArgumentsError(f"{where or 'The call'} needs {name}.")
    properties, prefix = _mapping(schema.get("properties")), f"{where}." if where else ""
    return {str(name): _value(each, properties.get(name), f"{prefix}{name}") for name, each in value.items()}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _equal(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or value - value == 0  # neither NaN nor infinite


def _json_text(value: object) -> str:
    """Return a value as JSON, short and on one line."""
    try:
        text = json.dumps(plain_json(value), ensure_ascii=False)
    except (ValueError, RecursionError):
        return short_repr(value)
    return text if len(text) <= 60 and text.isprintable() else short_repr(value)
