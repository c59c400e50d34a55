"""Arguments of tool calls are checked against a JSON schema."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.environments.arguments import fit_arguments, parse_arguments
from pytest_rageval.environments.tool import InvalidArgumentsError


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


PERSON = schema_of(name={"type": "string"}, age={"type": "integer"})


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, " -12 ", -12),
        ({"type": "integer"}, 3.0, 3),
        ({"type": "number"}, 3, 3),
        ({"type": ["integer", "null"]}, "3", 3),
        ({"type": "string"}, "3", "3"),
        ({"type": ["string", "integer"]}, "3", "3"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3", 3),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "3", "3"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
        ({"enum": ["a", 2]}, 2, 2),
        ({"type": "array", "items": {"type": "integer"}}, [1, "2"], [1, 2]),
        (PERSON, {"name": "Li", "age": "3", "more": 1}, {"name": "Li", "age": 3, "more": 1}),
        ({}, {"any": [1]}, {"any": [1]}),
        ({"type": "unheard of"}, "x", "x"),
        ({"$ref": "#/x"}, 1, 1),
    ],
)
def test_valid_values_are_converted_to_their_type(schema: dict[str, Any], value: Any, expected: Any) -> None:
    result = fit_arguments({"x": value}, schema_of(x=schema))["x"]
    assert (result, type(result)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"type": "integer"}, "three", 'x is "three"; write a whole number.'),
        ({"type": "integer"}, "3.0", 'x is "3.0"; write a whole number.'),
        ({"type": "integer"}, 3.5, "x is 3.5; write a whole number."),
        ({"type": "integer"}, True, "x is true; write a whole number."),
        ({"type": "number"}, "3", 'x is "3"; write a number.'),
        ({"type": "boolean"}, "true", 'x is "true"; write true or false.'),
        ({"type": "string"}, 3, "x is 3; write a text."),
        ({"type": ["string", "null"]}, 3, "x is 3; write a text or null."),
        ({"type": "array", "items": {"type": "integer"}}, [1, "b"], 'x[1] is "b"; write a whole number.'),
        ({"enum": ["a", "b"]}, "c", 'x is "c"; write one of "a", "b".'),
        ({"enum": [1]}, True, "x is true; write one of 1."),
        ({"const": 1}, 2, "x is 2; write one of 1."),
        (PERSON, {"name": "Li"}, "x needs age."),
        (PERSON, {"name": "Li", "age": []}, "x.age is []; write a whole number."),
    ],
)
def test_an_invalid_value_is_reported_with_the_expected_type(schema: dict[str, Any], value: Any, problem: str) -> None:
    with pytest.raises(InvalidArgumentsError) as error:
        fit_arguments({"x": value}, schema_of(x=schema))
    assert str(error.value) == problem


def test_a_missing_and_an_unknown_parameter_are_named() -> None:
    with pytest.raises(InvalidArgumentsError, match=r"^The call needs age\.$"):
        fit_arguments({"name": "Li"}, PERSON)
    with pytest.raises(InvalidArgumentsError, match=r'^There is no parameter "nmae"; there are: name, age\.$'):
        fit_arguments({"nmae": "Li"}, PERSON)
    assert fit_arguments({"b": 1}, {"type": "object", "additionalProperties": True}) == {"b": 1}


def test_text_is_read_as_a_json_object() -> None:
    assert parse_arguments('{"a": [1]}') == {"a": [1]}
    assert parse_arguments("") == {}
    for text in ("[1]", "a", "{", "null", "[" * 100_000, "3"):
        with pytest.raises(InvalidArgumentsError, match="not a JSON object"):
            parse_arguments(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
SCHEMAS = st.sampled_from(
    [{}, {"type": "integer"}, {"type": ["number", "null"]}, {"enum": [1, "a"]}, PERSON, {"anyOf": []},
     {"type": "array", "items": {"type": "string"}}, {"anyOf": [{"type": "boolean"}, {"type": "integer"}]}]
)  # fmt: skip


@given(JSON, SCHEMAS)
def test_any_value_is_valid_or_refused_in_one_sentence(value: Any, schema: dict[str, Any]) -> None:
    message = ""
    try:
        result = fit_arguments({"x": value}, schema_of(x=schema))
        assert fit_arguments(result, schema_of(x=schema)).keys() == {"x"}
    except InvalidArgumentsError as error:
        message = str(error)
    assert message == "" or (message.endswith(".") and message.isprintable())


KEYWORDS = ("type", "enum", "const", "anyOf", "required", "properties", "additionalProperties", "items")


@given(st.dictionaries(st.sampled_from(KEYWORDS), JSON), st.dictionaries(st.sampled_from(["x", "y"]), JSON))
def test_any_schema_of_a_server_accepts_arguments_or_refuses_them(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    for each in (schema, schema_of(x=schema), {"properties": schema}):
        with suppress(InvalidArgumentsError):  # any other error would end the agent
            assert fit_arguments(arguments, each).keys() == arguments.keys()


@given(st.text())
def test_any_text_is_an_object_or_invalid(text: str) -> None:
    try:
        assert isinstance(parse_arguments(text), dict)
    except InvalidArgumentsError as error:
        message = str(error)
    else:
        message = "The arguments are not a JSON object."
    assert message == "The arguments are not a JSON object."
