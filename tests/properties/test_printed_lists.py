"""A list of texts that was printed into a cell is read back, however it was printed."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.datasets.imports.cells import listed

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=4)


@given(TEXTS, st.sampled_from([", ", " ", "\n "]))
def test_what_python_json_and_numpy_print_is_the_list(texts: list[str], between: str) -> None:
    assert listed(repr(texts), "") == texts
    assert listed(json.dumps(texts), "") == texts
    assert listed(f"[{between.join(map(repr, texts))}]", "") == texts


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_other_text_is_itself(text: str) -> None:
    assert listed(f"{text}.", "") == [f"{text}.".strip()]
    assert listed(f"[1] {text}x", "") == [f"[1] {text}x"]


@given(TEXTS)
def test_a_string_of_json_is_one_text(texts: list[str]) -> None:
    assert listed(repr(texts)) == [repr(texts)]
