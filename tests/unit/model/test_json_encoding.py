"""encoder_of encodes values exactly like the `json` module."""

from __future__ import annotations

import json
from datetime import date
from json import encoder

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.model.plain import encoder_of

ENCODERS = (
    json.JSONEncoder(),
    json.JSONEncoder(ensure_ascii=False, allow_nan=False),
    json.JSONEncoder(default=str, sort_keys=True, separators=(",", ":")),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
)


@given(value=VALUES)
def test_every_value_is_encoded_like_json(value: object) -> None:
    for options in ENCODERS:
        assert encoder_of(options)(value) == options.encode(value)


def test_a_value_outside_json_is_refused_or_converted() -> None:
    plain, strict, converting = map(encoder_of, ENCODERS)
    assert plain([float("inf")]) == "[Infinity]"
    with pytest.raises(ValueError, match="not JSON compliant"):
        strict([float("inf")])
    with pytest.raises(TypeError, match="date"):
        plain({"on": date(2024, 2, 29)})
    assert converting({"on": date(2024, 2, 29)}) == '{"on":"2024-02-29"}'


def test_python_without_the_c_encoder_gives_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "c_make_encoder", None)
    assert encoder_of(ENCODERS[1])({"a": ["é", 1.5]}) == '{"a": ["é", 1.5]}'
