"""Laws of verdicts: any reply gives a label or a problem, and prompts quote the data."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.replies import UnreadableReplyError, read_reply
from pytest_rageval.judges.scoring import judged_metric
from pytest_rageval.metrics.answers.closed_book import CLOSED_BOOK_ACCURACY
from pytest_rageval.metrics.answers.containment import ACCURACY
from pytest_rageval.metrics.judges.rgb_judged import (
    ERROR_CORRECTION_RATE_JUDGED,
    ERROR_DETECTION_RATE_JUDGED,
    REJECTION_RATE_JUDGED,
)
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage, Query, Turn
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.systems.prompting import load_prompts, messages_for
from pytest_rageval.testing import ScriptedLLM

ANY_TEXT = st.text(st.characters(exclude_categories=()))
REPLIES = st.one_of(
    ANY_TEXT,
    st.lists(st.sampled_from(['{"label": ', '"yes"', '"no"', "1", "}", "{", "```json\n", '"reason": ', ",", " "])).map(
        "".join
    ),
    st.dictionaries(st.sampled_from(["label", "reason"]), st.one_of(ANY_TEXT, st.integers())).map(json.dumps),
)
PROSE = st.text(st.characters(exclude_characters="{}"))
PROMPTS = load_prompts()


def sample(text: str, question: str = "A question?", gold: str = "Rome") -> Sample:
    return Sample(Case("q1", Instance("q1", question, ((gold,),)), None, {}), Answer(text))


@given(REPLIES, REPLIES)
def test_any_reply_gives_a_declared_label_or_a_problem(first: str, second: str) -> None:
    judge = PromptedJudge("j", "c", labels={"yes": "y", "no": "n"}, values={"yes": 1, "no": 0})
    verdict = asyncio.run(judge.ask(sample("Rome"), ScriptedLLM([first, second])))
    assert verdict.label in ("yes", "no", None)
    assert (verdict.label is None) == (verdict.problem or "").startswith("parse_error: ")
    assert verdict.replies in ((first,), (first, second))
    score = judged_metric(judge).compute(replace(sample("Rome"), verdicts={"j": verdict}))
    assert score.value == {"yes": 1.0, "no": 0.0, None: None}[verdict.label]


@given(PROSE, st.sampled_from(["yes", "no"]), st.text(), PROSE)
def test_one_object_is_found_in_any_prose(before: str, label: str, reason: str, after: str) -> None:
    words = json.dumps({"reason": reason, "label": label}, ensure_ascii=False)
    assert read_reply(f"{before}{words}{after}", ("yes", "no")) == (label, reason)


@given(st.integers(-5, 15), st.integers(-3, 3), st.integers(1, 9))
def test_a_number_is_in_range_or_no_verdict(number: int, low: int, width: int) -> None:
    judge = PromptedJudge("j", "c", scale=(low, low + width))
    try:
        label, _ = read_reply(json.dumps({"label": number}), range(low, low + width + 1))
    except UnreadableReplyError:
        assert not low <= number <= low + width
    else:
        score = judged_metric(judge).compute(replace(sample("x"), verdicts={"j": Verdict(label)}))
        assert score.value is not None
        assert 0.0 <= score.value <= 1.0
        assert score.value * width == pytest.approx(number - low)


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["en", "zh"]))
def test_each_line_of_the_data_in_a_prompt_is_quoted(answer: str, question: str, language: str) -> None:
    judge = PromptedJudge("j", "c", scale=(1, 5))
    of = sample(answer, question)
    of = replace(of, case=replace(of.case, instance=replace(of.case.instance, language=language)))
    plain = {"Question:", "Answer to judge:", "问题：", "待评判的回答：", "(nothing)", "（无）", ""}
    lines = judge.messages(of)[1]["content"].splitlines()
    assert [line for line in lines if not line.startswith(">") and line not in plain] == []
    assert judge.messages(of)[1]["content"].encode()


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_a_prompt_contains_the_data_unchanged(question: str, text: str, turn: str, instructions: str) -> None:
    query = Query(question, (Passage("p", text),), (Turn(turn, turn),), "en", instructions)
    messages = messages_for(query, PROMPTS)
    for expected in (question, text, instructions):
        assert expected.strip() in messages[-1]["content"]
    assert [message["content"] for message in messages[1:-1]] == [turn, turn] * bool(turn.strip())


@pytest.mark.parametrize(
    "metric",
    [REJECTION_RATE_JUDGED, ERROR_DETECTION_RATE_JUDGED, ERROR_CORRECTION_RATE_JUDGED],
    ids=lambda metric: metric.name,
)
@given(text=ANY_TEXT, problem=st.one_of(st.none(), st.text(min_size=1)), pick=st.integers(0, 1))
def test_a_judged_rate_is_0_or_1_or_has_the_judge_s_reason(
    metric: Metric, text: str, problem: str | None, pick: int
) -> None:
    judge = metric.judge
    assert isinstance(judge, PromptedJudge)
    label = list(judge.labels or ())[pick]
    verdict = Verdict(label) if problem is None else Verdict(problem=problem)
    score = metric.compute(replace(sample(text), verdicts={judge.name: verdict}))
    assert score.verdict == verdict
    if problem is not None:
        assert (score.value, score.reason) == (None, problem)
    else:
        assert score.value in (0.0, 1.0) or score.reason == "not_applicable: no_error_detected"


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_closed_book_accuracy_is_the_accuracy_of_the_closed_book_answer(
    system: str, closed_book: str, gold: str
) -> None:
    of = replace(sample(system, gold=gold), closed_book=Answer(closed_book))
    assert CLOSED_BOOK_ACCURACY.compute(of) == ACCURACY.compute(sample(closed_book, gold=gold))
