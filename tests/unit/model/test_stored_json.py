"""Stored JSON: parse it, or refuse it with a reason if it is damaged."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.model.stored_json import DEEPEST, parse_json

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='"\\[]{}a\né'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='"\\[]{}a'), inner),
)


def nested_list(levels: int, inner: str = "1") -> str:
    return "[" * levels + inner + "]" * levels


@given(PLAIN, st.booleans())
def test_json_is_parsed(value: object, ascii_only: bool) -> None:
    text = json.dumps([value] * (DEEPEST + 1), ensure_ascii=ascii_only)
    assert parse_json(text) == parse_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("inner", ["1", '"[[[["', '"\\\\"', r'"\"[["', '{"[": "{{{"}'])
def test_only_brackets_outside_of_strings_count(inner: str) -> None:
    levels = DEEPEST - inner.startswith("{")
    assert parse_json(nested_list(levels, inner)) == json.loads(nested_list(levels, inner))
    with pytest.raises(ValueError, match="nested deeper than 100 levels"):
        parse_json(nested_list(levels + 1, inner))


@pytest.mark.parametrize("text", [nested_list(100_000), "[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="nested deeper than 100 levels"):
        parse_json(text.encode())


@pytest.mark.parametrize("text", ["NaN", '{"a": -Infinity}'])
def test_nan_and_infinity_are_refused_if_finite(text: str) -> None:
    with pytest.raises(ValueError, match="which is not JSON"):
        parse_json(text, finite=True)
    assert parse_json(text) is not None
