"""Remove texts of the data from encoded values, as their fields declare (`Rule.private`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from pytest_rageval.model.plain import Plain
from pytest_rageval.model.storage import key_field, stored_fields

__all__ = ["without_private"]


def without_private(cls: type, plain: Mapping[str, Any]) -> Plain:
    """Return an encoded object of a class without the texts of its private fields, see `Rule.private`."""
    public = dict(plain)
    for field in stored_fields(cls):
        if field.rule.inline:
            public = without_private(_class_in(field.hint), public)
        elif field.rule.private == "removed":
            public.pop(field.key, None)
        elif field.rule.private == "null":
            public[field.key] = None
        elif field.rule.private == "kind" and field.key in public:
            public[field.key] = public[field.key].partition(": ")[0] or "unscored"
        elif field.key in public and (inner := _class_in(field.hint)) is not None:
            public[field.key] = _without_private_in(inner, public[field.key])
    return public


def _without_private_in(cls: Any, value: Any) -> Any:
    """Return an encoded value without private fields: one object, a list of objects, or key -> object."""
    if isinstance(value, list):
        return [_without_private_in(cls, each) for each in value]
    if isinstance(cls, _Keyed):
        return {key: without_private(cls.value, each) for key, each in value.items()}
    return None if value is None else without_private(cls, value)


class _Keyed(NamedTuple):
    """Marks a type that is encoded as a mapping of key -> object; ``value`` is the class of the objects."""

    value: type


@cache
def _class_in(hint: Any) -> Any:
    """Return the dataclass that a type is or contains, as `_Keyed` if it is encoded under keys; None without one."""
    inner: Any
    if isinstance(hint, type) and is_dataclass(hint):
        first = stored_fields(hint)[0]
        return _class_in(first.hint) if first.rule.alone else hint
    arguments = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    inner = next((each for each in map(_class_in, arguments) if each is not None), None)
    keyed = inner is not None and (get_origin(hint) is Mapping or (get_origin(hint) is tuple and key_field(inner)))
    return _Keyed(inner) if keyed else inner
