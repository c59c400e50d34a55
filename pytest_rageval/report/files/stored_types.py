"""Check the types and ranges of a stored results.json against its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from math import inf, isfinite
from typing import Any

from pytest_rageval.report.files.results_json import schema

__all__ = ["check_types"]

Check = Callable[[Any], bool]


def check_types(results: Mapping[str, Any]) -> None:
    """Raise `TypeError` if a value has the wrong type or a number is out of range.

    A missing key is allowed, because older versions wrote fewer keys; code that needs a key raises without it.
    """
    declared = schema()["properties"]
    invalid_keys = [name for name, value in results.items() if name in declared and not _checks()[name](value)]
    if invalid_keys:
        raise TypeError(f"{invalid_keys[0]} holds a value that the schema does not allow")


@lru_cache(maxsize=1)
def _checks() -> dict[str, Check]:
    full_schema = schema()
    by_name: dict[str, Check] = {}
    for name, declared in full_schema["$defs"].items():
        by_name[name] = _check(declared, by_name)
    return {name: _check(declared, by_name) for name, declared in full_schema["properties"].items()}


def _check(declared: Mapping[str, Any], by_name: Mapping[str, Check]) -> Check:
    """Return the function that checks a value against a schema.

    ``by_name`` has the checks of references; it may be filled later, before the first value is checked.
    """
    if "$ref" in declared:
        name = declared["$ref"].rpartition("/")[2]
        return lambda value: by_name[name](value)
    if "anyOf" in declared:
        alternatives = [_check(each, by_name) for each in declared["anyOf"]]
        return lambda value: any(check(value) for check in alternatives)
    if "enum" in declared:
        types = {type(each) for each in declared["enum"]}  # only types, because a later version may add values
        return lambda value: type(value) in types
    type_names = declared.get("type", ())
    type_names = [type_names] if isinstance(type_names, str) else type_names
    checks = [_check_of_type(type_name, declared, by_name) for type_name in type_names]
    if not checks:
        return lambda value: True
    return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)


def _check_of_type(type_name: str, declared: Mapping[str, Any], by_name: Mapping[str, Check]) -> Check:
    if type_name == "array":
        return partial(_is_list, _check(declared["items"], by_name)) if "items" in declared else _is_any_list
    if type_name == "object":
        properties = {name: _check(each, by_name) for name, each in declared.get("properties", {}).items()}
        rest = declared.get("additionalProperties")
        return partial(_is_object, properties, _check(rest, by_name) if isinstance(rest, dict) else None)
    if type_name in ("number", "integer"):
        return partial(_is_number, declared.get("minimum", -inf), declared.get("maximum", inf), type_name == "integer")
    return _SCALARS[type_name]


def _is_any_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_list(check: Check, value: Any) -> bool:
    return isinstance(value, list) and all(map(check, value))


def _is_object(properties: Mapping[str, Check], rest: Check | None, value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    for name, each in value.items():
        check = properties.get(name, rest)
        if check is not None and not check(each):
            return False
    return True


def _is_number(low: float, high: float, is_integer: bool, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return False
    return low <= value <= high and (not is_integer or value == int(value))


_SCALARS: Mapping[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
