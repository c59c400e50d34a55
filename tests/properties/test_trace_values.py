"""Any argument and result of a tool survives the codec, unchanged if JSON can represent it."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval import tracing
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.codec import decode_answer, encode_answer
from pytest_rageval.report.text.steps import depths, step_lines
from pytest_rageval.trace.collector import collecting
from pytest_rageval.trace.completing import complete_answer
from pytest_rageval.trace.shortening import shortened

texts = st.text(st.characters(exclude_categories=())) | st.sampled_from(["\0", "\ud83d", "\udc00\ud83d", "x" * 10**5])
plain_texts = st.text(max_size=20)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | plain_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_texts, inner, max_size=3),
    max_leaves=10,
)
any_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=9) | st.just(object()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(texts | st.integers() | st.none(), inner, max_size=3)
    ),
    max_leaves=10,
)
any_steps = st.builds(Step, plain_texts, st.dictionaries(st.sampled_from(["parent", "x"]), any_values))


@tracing.tool
def echo(value: Any, **more: Any) -> Any:
    return value


def answer_of_tool(value: Any) -> Answer:
    """Return an answer with one tool call: the value is its argument and its result."""
    with collecting() as collector:
        assert echo(value, again=value) is value
    return complete_answer(Answer("x"), collector)


def is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or (type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)))


@given(any_values)
def test_any_value_survives_the_codec_and_is_printed(value: Any) -> None:
    answer = answer_of_tool(value)
    encoded = encode_answer(answer)
    assert is_plain(encoded["trace"])
    text = json.dumps(encoded, ensure_ascii=False, allow_nan=False)
    assert decode_answer(json.loads(text.encode("utf-8"))) == answer
    assert encode_answer(decode_answer(encoded)) == encoded
    assert all("\n" not in line for line in step_lines(answer.trace))


@given(json_values)
def test_a_json_value_is_unchanged(value: Any) -> None:
    tool = answer_of_tool(value).trace[0]
    assert tool.detail["arguments"] == {"value": value, "again": value}
    passages = tool.detail.get("passages")
    assert passages is not None or tool.detail["result"] == value


@given(any_values, st.integers(1, 40))
def test_no_text_is_longer_than_the_limit_and_its_note(value: Any, most: int) -> None:
    (step, _) = shortened(answer_of_tool(value).trace, most, str)
    longest = most + len(f" […{2 * 10**6} characters…] ")
    assert all(len(text) <= longest for text in texts_in(step.detail))


def texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (*texts_in(key), *texts_in(item))]
    return [text for item in value for text in texts_in(item)] if isinstance(value, list) else []


@given(st.lists(any_steps, max_size=6))
def test_any_steps_that_an_answer_returns_are_completed(steps: list[Step]) -> None:
    answer = complete_answer(Answer("x", trace=tuple(steps)))
    kinds = [step.kind for step in answer.trace]
    assert kinds.count("end") == bool(steps)
    assert kinds[-1:] == ["end"] * bool(steps)
    assert len(depths(answer.trace)) == len(kinds)
    assert decode_answer(json.loads(json.dumps(encode_answer(answer)))) == answer
