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

    A missing key passes, because older versions wrote fewer; code that needs the key raises by itself.
    """
    declared = schema()["properties"]
    wrong = [name for name, value in results.items() if name in declared and not _checks()[name](value)]
    if wrong:
        raise TypeError(f"{wrong[0]} holds a value that the schema does not allow")


@lru_cache(maxsize=1)
def _checks() -> dict[str, Check]:
    whole = schema()
    by_name: dict[str, Check] = {}
    for name, declared in whole["$defs"].items():
        by_name[name] = _check(declared, by_name)
    return {name: _check(declared, by_name) for name, declared in whole["properties"].items()}


def _check(declared: Mapping[str, Any], by_name: Mapping[str, Check]) -> Check:
    """Return the check of one schema; ``by_name`` must have all references when the check is called."""
    if "$ref" in declared:
        name = declared["$ref"].rpartition("/")[2]
        return lambda value: by_name[name](value)
    if "anyOf" in declared:
        some = [_check(each, by_name) for each in declared["anyOf"]]
        return lambda value: any(check(value) for check in some)
    if "enum" in declared:
        types = {type(each) for each in declared["enum"]}  # a later version may add values
        return lambda value: type(value) in types
    kinds = declared.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    checks = [_of_kind(kind, declared, by_name) for kind in kinds]
    if not checks:
        return lambda value: True
    return checks[0] if len(checks) == 1 else lambda value: any(check(value) for check in checks)


def _of_kind(kind: str, declared: Mapping[str, Any], by_name: Mapping[str, Check]) -> Check:
    if kind == "array":
        return partial(_is_list, _check(declared["items"], by_name)) if "items" in declared else _is_any_list
    if kind == "object":
        properties = {name: _check(each, by_name) for name, each in declared.get("properties", {}).items()}
        rest = declared.get("additionalProperties")
        return partial(_is_object, properties, _check(rest, by_name) if isinstance(rest, dict) else None)
    if kind in ("number", "integer"):
        return partial(_is_number, declared.get("minimum", -inf), declared.get("maximum", inf), kind == "integer")
    return _SCALARS[kind]


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


def _is_number(low: float, high: float, whole: bool, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return False
    return low <= value <= high and (not whole or value == int(value))


_SCALARS: Mapping[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
