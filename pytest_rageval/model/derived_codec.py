"""Derive functions that encode dataclasses as JSON builtins, and decode them.

For each class the source code of a function is built as text and compiled once, on first use. This is fast, which
matters because a session encodes and decodes every outcome. Functions here that return "an expression" or "lines"
return such source code; their argument ``at`` is the name of the variable that holds the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

from pytest_rageval.model.plain import (
    Plain,
    finite_number,
    plain_count,
    plain_json,
    plain_number,
    plain_scalar,
    plain_text,
)
from pytest_rageval.model.storage import Rule, StoredField, key_field, stored_fields

__all__ = ["decoder", "encoder"]

_CODE: dict[str, Any] = {}
"""The global names of the compiled functions, such as converters of single values and other compiled functions."""


@cache
def encoder(cls: type) -> Callable[[Any], Plain]:
    """Return the function that encodes a dataclass as JSON builtins."""
    return _compiled(_name("encode", cls), _encoding(cls))


@cache
def decoder(cls: type) -> Callable[..., Any]:
    """Return the function that decodes a dataclass; it ignores unknown keys.

    After the encoded object, the function takes the fields that are not stored. It raises AttributeError, KeyError,
    TypeError or ValueError if the encoded object has another shape.
    """
    return _compiled(_name("decode", cls), _decoding(cls))


def _compiled(name: str, lines: Iterator[str]) -> Callable[..., Any]:
    exec("\n".join(lines), _CODE)  # noqa: S102 - the code is made from our own classes only, as in dataclasses
    function: Callable[..., Any] = _CODE[name]
    return function


def _encoding(cls: type) -> Iterator[str]:
    """Yield the lines of the function that encodes a class."""
    stored = stored_fields(cls)
    yield f"def {_name('encode', cls)}(it):"
    if stored[0].rule.alone:
        yield f"    v = it.{stored[0].name}"
        yield f"    return {_encoded(stored[0].hint, 'v')}"
        return
    first = next((at for at, each in enumerate(stored) if each.is_optional or each.rule.inline), len(stored))
    adapt = "it._adapt_written(plain)" if hasattr(cls, "_adapt_written") else ""
    yield from (f"    v{at} = it.{each.name}" for at, each in enumerate(stored))
    pairs = (f"{each.key!r}: {_encoded(each.hint, f'v{at}')}" for at, each in enumerate(stored[:first]))
    yield f"    plain = {{{', '.join(pairs)}}}"
    for at, each in enumerate(stored[first:], first):
        expression = _encoded(each.hint, f"v{at}")
        assign = f"plain[{each.key!r}] = {expression}"
        if each.rule.inline:
            assign = f"plain |= {expression}; {adapt}"
        condition = _differs(each, f"v{at}") if each.default is not MISSING and not each.rule.always else ""
        yield f"    if {condition}: {assign}" if condition else f"    {assign}"
    if adapt and not any(each.rule.inline for each in stored):
        yield f"    {adapt}"
    yield "    return plain"


def _differs(field: StoredField, at: str) -> str:
    """Return an expression that is true if the field does not have its default."""
    if field.default is None:
        return f"{at} is not None"
    return f"{at} != {_constant(field.default)}" if field.default else at


def _encoded(hint: Any, at: str) -> str:
    """Return an expression that encodes a value of type ``hint``, in the variable ``at``."""
    kind, arguments, nullable = _parts(hint)
    if kind is int:
        return f"count({at})" if nullable else f"int({at})"
    if kind is float:
        known = f"{at} is None or " if nullable else ""
        is_finite = f"{known}{at}.__class__ is float and -inf < {at} < inf"
        return f"({at} if {is_finite} else {'number' if nullable else 'finite'}({at}))"
    if kind in (Union, UnionType):
        return f"scalar({at})"
    if kind is Any:
        return f"json({at})"
    if kind in (object, Literal):
        return at
    expression = _encoded_value(kind, arguments, at, "or ()" if nullable else "")
    keyed = kind is tuple and key_field(arguments[0])
    return f"(None if {at} is None else {expression})" if nullable and not keyed else expression


def _encoded_value(kind: Any, arguments: tuple[Any, ...], at: str, or_none: str) -> str:
    """Return an expression that encodes a value that is not None.

    Args:
        kind: the type without its arguments, see `_parts`.
        arguments: the arguments of the type.
        at: the variable with the value.
        or_none: source text after the variable of an iterable, which replaces None by an empty one; or "".
    """
    key, item = f"{at}k", f"{at}i"
    if kind is str:
        return f"({at} if {at}.__class__ is str and {at}.isascii() else text({at}))"
    if kind is bool:
        return f"bool({at})"
    if kind in (Mapping, dict):
        inner = _encoded(arguments[1], item)
        return f"{{{_encoded(str, key)}: {inner} for {key}, {item} in {at}.items()}}"
    if kind is tuple and arguments[-1] is not ...:
        return f"[{', '.join(_encoded(each, f'{at}[{n}]') for n, each in enumerate(arguments))}]"
    if kind in (tuple, list):
        key_name = key_field(arguments[0])
        inner = _encoded(arguments[0], item)
        if key_name is not None:
            return f"{{text({item}.{key_name}): {inner} for {item} in {at} {or_none}}}"
        return f"[{inner} for {item} in {at}]"
    return f"{_name('encode', kind)}({at})"


def _decoding(cls: type) -> Iterator[str]:
    """Yield the lines of the function that decodes a class."""
    stored = stored_fields(cls)
    names = {each.name for each in stored}
    unstored = [each for each in fields(cls) if each.name not in names] if is_dataclass(cls) else []
    yield f"def {_name('decode', cls)}(plain{''.join(map(_parameter, unstored))}):"
    if hasattr(cls, "_adapt_read"):
        yield f"    plain = {_constant(cls)}._adapt_read(plain)"
    if hasattr(cls, "_shared"):
        yield f"    it = {_constant(cls)}._shared(plain)"
        yield "    if it is not None: return it"
    values = {each.name: _argument(each) for each in unstored}
    has_get = False
    for at, each in enumerate(stored):
        if each.rule.alone:
            values[each.name] = _decoded(each.hint, "plain", each.name)
        elif each.rule.inline:
            values[each.name] = _decoded_inline(each)
        else:
            if not (has_get or each.is_needed):
                has_get = True
                yield "    get = plain.get"
            yield f"    v{at} = {_stored_value(each)}"
            value = _decoded(each.hint, f"v{at}", each.key, each.rule)
            is_object = not each.is_needed and not _encoded_default(each)
            values[each.name] = f"{_constant(each.default)} if v{at} is absent else {value}" if is_object else value
    yield from _construction(cls, values)


def _construction(cls: type, values: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that construct an object; setting slots takes half the time of a frozen class's ``__init__``."""
    if "__slots__" not in cls.__dict__ or not is_dataclass(cls):
        yield f"    return {_constant(cls)}({', '.join(f'{name}={value}' for name, value in values.items())})"
        return
    yield f"    it = new({_constant(cls)})"
    yield from (f"    {_constant(getattr(cls, name).__set__)}(it, {value})" for name, value in values.items())
    if hasattr(cls, "__post_init__"):
        yield "    it.__post_init__()"
    yield "    return it"


def _parameter(field: Any) -> str:
    """Return the parameter of a decoder for a field that is not stored."""
    if field.default_factory is not MISSING:
        return f", {field.name}=None"
    return f", {field.name}" if field.default is MISSING else f", {field.name}={_constant(field.default)}"


def _argument(field: Any) -> str:
    """Return an expression for the value of a field that is not stored, from its parameter."""
    if field.default_factory is MISSING:
        return str(field.name)
    return f"({_constant(field.default_factory)}() if {field.name} is None else {field.name})"


def _decoded_inline(field: StoredField) -> str:
    """Return an expression that decodes an object whose keys are in the outer object, if its first key is present."""
    kind, _, nullable = _parts(field.hint)
    expression = f"{_name('decode', kind)}(plain)"
    first = next(each.key for each in stored_fields(kind) if not each.is_optional)
    return f"({expression} if {first!r} in plain else None)" if nullable else expression


def _stored_value(field: StoredField) -> str:
    """Return an expression for the encoded value of a field, or for its default if the key may be absent."""
    if field.is_needed:
        return f"plain[{field.key!r}]"
    return f"get({field.key!r}, {_encoded_default(field) or 'absent'})"


def _encoded_default(field: StoredField) -> str:
    """Return an expression for the encoded default of a field; "" if the default is an object."""
    kind, arguments, _ = _parts(field.hint)
    if field.default == {} or (field.default == () and key_field(arguments[0])):
        return "{}"
    return "" if is_dataclass(kind) and field.default is not None else _constant(field.default)


def _decoded(hint: Any, at: str, name: str, rule: Rule | None = None) -> str:
    """Return an expression that decodes the value of type ``hint`` in the variable ``at``; errors name ``name``."""
    kind, arguments, nullable = _parts(hint)
    if kind in (int, float, bool, Any, object, Literal, Union, UnionType):
        return at
    if rule is not None and rule.private == "null" and not nullable:
        at = f"({at} or '')"
    expression = _decoded_value(kind, arguments, at, name)
    return f"(None if {at} is None else {expression})" if nullable and expression != at else expression


def _decoded_value(kind: Any, arguments: tuple[Any, ...], at: str, name: str) -> str:
    """Return an expression that decodes a value that is not None; see `_encoded_value`."""
    key, item = f"{at}k", f"{at}i"
    if kind is str:
        return f"({at} if {at}.__class__ is str else no_text({name!r}, {at}))"
    if kind in (Mapping, dict):
        key_name = key_field(arguments[1])
        inner = (
            _decoded(arguments[1], item, name)
            if key_name is None
            else f"{_name('decode', arguments[1])}({item}, {key})"
        )
        return f"dict({at})" if inner == item else f"{{{key}: {inner} for {key}, {item} in {at}.items()}}"
    if kind is tuple and arguments[-1] is not ...:
        values = ", ".join(_decoded(each, f"{at}[{n}]", name) for n, each in enumerate(arguments))
        return f"(({values}) if len({at}) == {len(arguments)} else no_tuple({name!r}, {at}))"
    if kind is list:
        return f"[{_decoded(arguments[0], item, name)} for {item} in {at}]"
    if kind is tuple:
        key_name = key_field(arguments[0])
        if key_name is not None:
            return f"tuple([{_name('decode', arguments[0])}({item}, {key}) for {key}, {item} in {at}.items()])"
        inner = _decoded(arguments[0], item, name)
        return f"tuple({at})" if inner == item else f"tuple([{inner} for {item} in {at}])"
    return f"{_name('decode', kind)}({at})"


def _parts(hint: Any) -> tuple[Any, tuple[Any, ...], bool]:
    """Return the kind of a type, its arguments, and whether it allows None; a Union means a scalar of several kinds."""
    if get_origin(hint) is Annotated:
        return _parts(get_args(hint)[0])
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        others = [each for each in arguments if each is not NoneType]
        if len(others) == 1:
            return (*_parts(others[0])[:2], True)
        return Union, arguments, NoneType in arguments
    return origin or hint, arguments, False


def _constant(value: object) -> str:
    """Return an expression for a constant: its repr, or a global name that refers to it."""
    if value is None or isinstance(value, (str, int, float, bool)) or value == ():
        return repr(value)
    name = f"constant_{id(value)}"
    _CODE[name] = value
    return name


def _name(verb: str, cls: type) -> str:
    """Return the global name of a class's function; until the first call it refers to a stub that compiles it."""
    name = f"{verb}_{cls.__module__}_{cls.__qualname__}".replace(".", "_")
    derive = encoder if verb == "encode" else decoder
    _CODE.setdefault(name, lambda *arguments: derive(cls)(*arguments))
    return name


def _raise_no_text(name: str, value: object) -> NoReturn:
    raise TypeError(f"{name} is not a text but {value!r:.40}")


def _raise_wrong_length(name: str, value: object) -> NoReturn:
    raise ValueError(f"{name} has another length: {value!r:.40}")


_CODE |= {"count": plain_count, "number": plain_number, "scalar": plain_scalar, "text": plain_text}
_CODE |= {"finite": finite_number, "json": plain_json, "no_text": _raise_no_text, "no_tuple": _raise_wrong_length}
_CODE |= {"new": object.__new__, "absent": MISSING, "inf": math.inf}
