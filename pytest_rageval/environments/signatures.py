"""Build a function's JSON schema from its signature, type hints and docstring."""

from __future__ import annotations

import collections.abc
import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from pytest_rageval.environments.docstrings import parse_docstring
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.importing import cause_text

__all__ = ["function_schema"]

_SCALARS: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}

_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)

_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


def function_schema(function: Callable[..., Any], where: str, *, has_self: bool = False) -> tuple[str, dict[str, Any]]:
    """Return a function's description and the JSON schema of its parameters.

    Args:
        function: a function, a method, or an object that can be called.
        where: the start of messages.
        has_self: whether the first parameter is ``self``.

    Raises:
        SettingError: a parameter has no JSON schema.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())[1 if has_self else 0 :]
        hints = typing.get_type_hints(_with_hints(function), include_extras=True)
    except Exception as error:
        raise SettingError(f"{where}: its signature cannot be read ({cause_text(error)}); correct its hints") from error
    description, texts = parse_docstring(inspect.getdoc(function))
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in parameters:
        name = parameter.name
        _check(parameter, hints, where)
        schema = _schema(hints[name], f"{where}: the parameter {name}")
        text = {"description": texts[name]} if texts.get(name) else {}
        properties[name] = {**schema, **text}
        if parameter.default is parameter.empty:
            required.append(name)
    return description, {
        "type": "object", "properties": properties, "required": required, "additionalProperties": False,
    }  # fmt: skip


def _with_hints(function: Any) -> Any:
    """Return the object with the annotations: the function inside a partial, or an object's ``__call__`` method."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _check(parameter: inspect.Parameter, hints: Mapping[str, Any], where: str) -> None:
    name = parameter.name
    if parameter.kind is parameter.VAR_POSITIONAL:
        raise SettingError(f"{where} takes *{name}, which a model cannot name; write each parameter, or one list")
    if parameter.kind is parameter.VAR_KEYWORD:
        raise SettingError(f"{where} takes **{name}, which has no schema; write each parameter")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise SettingError(f"{where} takes {name} only by position, and a model names it; remove the / after it")
    if name not in hints:
        raise SettingError(f"{where} has the parameter {name} without a type hint; write for example {name}: str")


def _schema(hint: Any, where: str) -> dict[str, Any]:
    """Return the schema of a type hint."""
    if hint is Any:
        return {}
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(arguments, where)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(each, where) for each in arguments]}
    if (origin or hint) in _LISTS:
        items = [each for each in arguments if each is not ...][:1]
        return {"type": "array", **({"items": _schema(items[0], where)} if items else {})}
    if (origin or hint) in _OBJECTS:
        return {"type": "object"}
    if isinstance(hint, type) and typing.is_typeddict(hint):
        return _typed_dict(hint, where)
    if isinstance(hint, type) and issubclass(hint, str) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}  # its members equal their values
    wanted = "str, int, float, bool, Literal, list, dict, a TypedDict, or a union of them"
    raise SettingError(f"{where} has the type {short_repr(hint)}, which has no JSON schema here; use {wanted}")


def _annotated(arguments: tuple[Any, ...], where: str) -> dict[str, Any]:
    text = next((each for each in arguments[1:] if isinstance(each, str)), "")
    return {**_schema(arguments[0], where), **({"description": text} if text else {})}


def _typed_dict(hint: Any, where: str) -> dict[str, Any]:
    properties = {name: _schema(each, where) for name, each in typing.get_type_hints(hint).items()}
    return {"type": "object", "properties": properties, "required": sorted(hint.__required_keys__)}
