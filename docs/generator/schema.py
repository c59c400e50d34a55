"""Write results.schema.json from the classes of `pytest_rageval.report.files.results_shape`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pytest_rageval.model.storage import Bounds, Rule, StoredField, key_field, stored_fields
from pytest_rageval.report.files.results_shape import Results

Schema = dict[str, Any]

TYPES: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}
WIDTH = 120

_UNKNOWN = {
    "type": "object",
    "description": "lower bounds of the counts that are null because of calls without a reply",
    "additionalProperties": {"type": "number", "minimum": 0},
    "propertyNames": {"enum": ["prompt_tokens", "completion_tokens", "cost_usd", "spent_usd"]},
}
_LABELLED = ("rationale", "replies", "problem", "votes", "by")


def either(key: str, other: str) -> Schema:
    """Return the rule that the second key is there if the first one is null, and only then."""
    return {
        "if": {"properties": {key: {"type": "null"}}},
        "then": {"required": [other]},
        "else": {"not": {"required": [other]}},
    }


def rules(name: str, schema: Schema) -> None:
    """Add what does not follow from the types of a class's fields."""
    if name == "calls":
        schema["properties"]["at_least"] = _UNKNOWN
    elif name == "score":
        schema["dependentRequired"] = {**{key: ["label"] for key in _LABELLED}, "withheld": ["reason"]}
        schema |= either("value", "reason")
    elif name == "vote":
        del schema["properties"]["votes"]  # a vote has no votes of its own
        schema |= either("label", "problem")
    elif name == "identity":
        schema["additionalProperties"] = {"type": "object", "additionalProperties": {"type": "string"}}
        del schema["properties"]


def results_schema() -> str:
    """Return the text of results.schema.json."""
    defs: dict[str, Schema] = {}
    whole = object_of(Results, defs)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "pytest-rageval results"}
    return text_of(head | whole | {"$defs": dict(sorted(defs.items()))}) + "\n"


def object_of(cls: Any, defs: dict[str, Schema]) -> Schema:
    """Return the schema of a class; those of the classes that it holds go to ``defs``."""
    described = descriptions(cls)
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for field in fields_of(cls):
        if field.rule.inline:
            inner = object_of(inner_class(field.hint), defs)
            properties |= inner["properties"]
            required += [] if field.is_optional else inner["required"]
            continue
        says = described.get(field.name, "") if field.rule.says is None else field.rule.says
        says = json_words(says, "absent" if field.is_optional and field.default is None else "null")
        properties[field.key] = field_schema(field, defs) | ({"description": says} if says else {})
        if not field.is_optional and field.rule.private != "removed":
            required.append(field.key)
    first = json_words(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0])
    schema = {"type": "object", "description": first, "required": required}
    schema |= {"additionalProperties": False, "properties": properties}
    rules(name_of(cls), schema)
    return schema


def fields_of(cls: Any) -> list[StoredField]:
    """Return the fields of a dataclass or of a TypedDict, whose keys are optional if it says so."""
    if not hasattr(cls, "__required_keys__"):
        return list(stored_fields(cls))
    hints = get_type_hints(cls, include_extras=True)
    return [
        StoredField(name, hint, Rule(), MISSING if name in cls.__required_keys__ else ...)
        for name, hint in hints.items()
    ]


def inner_class(hint: Any) -> Any:
    """Return the class of an object that may be None."""
    return next((each for each in get_args(hint) if each is not NoneType), hint)


def field_schema(field: StoredField, defs: dict[str, Schema]) -> Schema:
    """Return the schema of a field; a number of things is never negative."""
    if field.rule.schema is not None:
        return dict(field.rule.schema)
    hint = field.hint
    if field.is_optional and field.default is None:
        hint = inner_class(hint) if NoneType in get_args(hint) else hint
    schema = schema_of(hint, defs)
    if schema.get("type") in ("integer", ["integer", "null"]):
        schema.setdefault("minimum", int(field.is_optional and field.default == 0))
    if field.is_optional and field.default in schema.get("enum", ()):
        schema["enum"].remove(field.default)
    if field.rule.private == "null" and isinstance(schema["type"], str):
        schema["type"] = [schema["type"], "null"]
    return schema


def schema_of(hint: Any, defs: dict[str, Schema]) -> Schema:
    """Return the schema of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return bounded(schema_of(arguments[0], defs), arguments[1])
    if origin in (Union, UnionType):
        return any_of([schema_of(each, defs) for each in arguments])
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin is tuple and len(arguments) == 2 and arguments[1] is not ...:
        return {"type": "array", "items": schema_of(arguments[0], defs), "minItems": 2, "maxItems": 2}
    if origin is tuple:
        items = schema_of(arguments[0], defs)
        return mapping(items) if key_field(arguments[0]) else {"type": "array", "items": items}
    if origin is not None:
        return mapping(schema_of(arguments[1], defs))
    if hint in TYPES:
        return dict(TYPES[hint])
    if is_dataclass(hint) and stored_fields(hint)[0].rule.alone:
        return schema_of(stored_fields(hint)[0].hint, defs)
    name = name_of(hint)
    if name not in defs:
        defs[name] = {}  # a class may hold itself
        defs[name] = object_of(hint, defs)
    return {"$ref": f"#/$defs/{name}"}


def mapping(values: Schema) -> Schema:
    """Return the schema of an object with keys of any name."""
    return {"type": "object", "additionalProperties": values}


def any_of(schemas: list[Schema]) -> Schema:
    """Return the schema of a value that one of several schemas allows, in one piece if they are scalars."""
    null, others = {"type": "null"}, [each for each in schemas if each != {"type": "null"}]
    if all(set(each) == {"type"} for each in others):
        types = list(dict.fromkeys(each["type"] for each in schemas))
        return {"type": types[0] if len(types) == 1 else types}
    if len(others) == 1 and isinstance(others[0].get("type"), str) and others[0]["type"] not in ("array", "object"):
        return {**others[0], "type": [others[0]["type"], "null"]}
    if len(others) == 1 and "enum" in others[0]:
        return {"enum": [*others[0]["enum"], None]}
    return {"anyOf": [null, *others] if null in schemas else others}


def bounded(schema: Schema, bounds: Bounds) -> Schema:
    """Return a schema with limits."""
    shortest = "minItems" if schema["type"] == "array" else "minLength"
    limits = {"minimum": bounds.minimum, "maximum": bounds.maximum, "pattern": bounds.pattern}
    limits |= {shortest: bounds.items, "format": bounds.format}
    return schema | {key: value for key, value in limits.items() if value is not None}


def name_of(cls: Any) -> str:
    """Return the name of a class in the schema: ``StoredGate`` is ``gate``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__.removeprefix("Stored")).lower()


def descriptions(cls: Any) -> dict[str, str]:
    """Return name -> text for each entry of the section ``Attributes:`` in a class's docstring."""
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")
    entries = re.findall(r"^    (\w+(?:, \w+)*): ((?:.|\n(?=     ))*)", section, re.MULTILINE)
    return {name: text for names, text in entries for name in names.split(", ")}


def json_words(text: str, none: str = "null") -> str:
    """Return a docstring's words for readers of JSON; ``none`` says there what None is."""
    text = " ".join(text.split()).replace("``", "").replace("`", "").removesuffix(".")
    for python, json_word in (("None", none), ("True", "true"), ("False", "false")):
        text = re.sub(rf"\b{python}\b", json_word, text)
    return text


def text_of(value: Any, indent: str = "") -> str:
    """Return JSON with each object on one line if it fits."""
    short = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(short) <= WIDTH or not isinstance(value, (dict, list)):
        return short
    return "\n".join(_lines(value, indent))


def _lines(value: Any, indent: str) -> Iterator[str]:
    inner = indent + "  "
    pairs = value.items() if isinstance(value, Mapping) else ((None, each) for each in value)
    parts = [f"{'' if key is None else json.dumps(key) + ': '}{text_of(each, inner)}" for key, each in pairs]
    first, last = "{}" if isinstance(value, Mapping) else "[]"
    yield first
    yield from (f"{inner}{part}{',' if at < len(parts) else ''}" for at, part in enumerate(parts, 1))
    yield f"{indent}{last}"
