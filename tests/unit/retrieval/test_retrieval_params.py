"""Settings of a retriever: type and range, or one sentence."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.errors import SettingError
from pytest_rageval.retrieval.retriever_params import Params

anything = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()))


def test_a_setting_overrides_the_default() -> None:
    params = Params({"k1": 2, "m": 32, "exact": True, "model": "x", "kind": "flat"})
    assert params.number("k1", 0.9) == 2.0
    assert params.number("b", 0.4) == 0.4
    assert params.whole("m", 16) == 32
    assert params.whole("ef", 64) == 64
    assert params.flag("exact", False) is True
    assert params.text("model", "y") == "x"
    assert params.choice("kind", "hnsw", ("flat", "hnsw")) == "flat"
    params.finish()


@given(anything)
def test_a_number_is_finite_and_in_its_range_or_refused(value: object) -> None:
    params = Params({"b": value})
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        assert params.number("b", 0.4, maximum=1.0) == value
    else:
        with pytest.raises(SettingError, match=r"^rag_retriever_params has b = .*; write a number from 0 to 1$"):
            params.number("b", 0.4, maximum=1.0)


@given(anything)
def test_a_whole_number_is_one_and_in_its_range_or_refused(value: object) -> None:
    params = Params({"m": value})
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        assert params.whole("m", 16) == value
    else:
        with pytest.raises(SettingError, match=r"write a whole number of 1 or more$"):
            params.whole("m", 16)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_a_number_is_finite(value: float) -> None:
    with pytest.raises(SettingError, match="write a"):
        Params({"k1": value}).number("k1", 0.9)


def test_flags_texts_and_choices_have_their_type() -> None:
    params = Params({"exact": "yes", "model": 3, "kind": "flad"})
    with pytest.raises(SettingError, match="has exact = 'yes'; write true or false"):
        params.flag("exact", False)
    with pytest.raises(SettingError, match="has model = 3; write a text"):
        params.text("model", "")
    with pytest.raises(SettingError, match="has kind = 'flad'; did you mean 'flat'"):
        params.choice("kind", "flat", ("flat", "hnsw"))


def test_an_unknown_setting_is_refused() -> None:
    params = Params({"stemer": "none"})
    params.text("stemmer", "none")
    with pytest.raises(SettingError, match="unknown setting 'stemer'; did you mean 'stemmer'"):
        params.finish()


def test_names_are_a_list_of_unique_texts() -> None:
    assert Params({}).names("retrievers", ("bm25", "dense")) == ("bm25", "dense")
    assert Params({"retrievers": ["a"]}).names("retrievers", ("bm25",)) == ("a",)
    wrong: list[object] = ["bm25", [], ["a", 1], None]
    for value in wrong:
        with pytest.raises(SettingError, match=r'write a list like \["bm25"\]'):
            Params({"retrievers": value}).names("retrievers", ("bm25",))
    with pytest.raises(SettingError, match="write each name once"):
        Params({"retrievers": ["a", "a"]}).names("retrievers", ("bm25",))
