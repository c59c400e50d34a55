"""Laws of imports: lists printed into cells, and arbitrary replies."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.datasets.imports.cells import listed
from pytest_rageval.datasets.imports.omnieval_compat import reading, reply_value

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


@given(st.text(st.sampled_from("{}[]\"':,.-+12eprdiction \\n")), st.sampled_from(["accuracy", "hallucination"]))
def test_any_reply_has_a_value_or_a_reason(text: str, metric: str) -> None:
    for reply in (text, f'{{"prediction": {text}}}', f"{{'prediction': '{text}"):
        assert set(reading(metric, reply_value(reply, metric))) in ({"value"}, {"reason"})


@given(st.integers(-5, 5), st.sampled_from(["accuracy", "hallucination"]), st.sampled_from(["{}", "So: {} it is."]))
def test_a_plain_reply_is_its_number(number: int, metric: str, around: str) -> None:
    stored = number if metric == "hallucination" or number == -1 else number / 2
    assert reply_value(around.replace("{}", f'{{"prediction": {number}}}'), metric) == stored
