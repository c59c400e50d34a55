"""Remove the texts of the data from encoded values, as the fields of their classes say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pytest_rageval.model.plain import Plain
from pytest_rageval.model.stored import key_field, stored_fields

__all__ = ["without_private"]


def without_private(cls: type, plain: Mapping[str, Any]) -> Plain:
    """Return an encoded object of a class without what its fields call ``private``."""
    left = dict(plain)
    for field in stored_fields(cls):
        if field.rule.inline:
            left = without_private(_class_in(field.hint), left)
        elif field.rule.private == "removed":
            left.pop(field.key, None)
        elif field.rule.private == "null":
            left[field.key] = None
        elif field.rule.private == "kind" and field.key in left:
            left[field.key] = left[field.key].partition(": ")[0] or "unscored"
        elif field.key in left and (inner := _class_in(field.hint)) is not None:
            left[field.key] = _each(inner, left[field.key])
    return left


def _each(cls: Any, value: Any) -> Any:
    """Return an encoded object, or each object of a list or under its key, without its private fields."""
    if isinstance(value, list):
        return [_each(cls, each) for each in value]
    if isinstance(cls, _Keyed):
        return {key: without_private(cls.value, each) for key, each in value.items()}
    return None if value is None else without_private(cls, value)


class _Keyed(NamedTuple):
    """The class of objects that stand under their keys."""

    value: type


@cache
def _class_in(hint: Any) -> Any:
    """Return the dataclass that a type is or contains, or None."""
    inner: Any
    if isinstance(hint, type) and is_dataclass(hint):
        first = stored_fields(hint)[0]
        return _class_in(first.hint) if first.rule.alone else hint
    arguments = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    inner = next((each for each in map(_class_in, arguments) if each is not None), None)
    keyed = inner is not None and (get_origin(hint) is Mapping or (get_origin(hint) is tuple and key_field(inner)))
    return _Keyed(inner) if keyed else inner
