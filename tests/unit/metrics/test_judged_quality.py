from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.errors import CaseError
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.metrics.judges.aspects import has_several_aspects
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGED, COMPLETENESS, HALLUCINATION, UTILIZATION
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Gold
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.testing import ScriptedLLM

SEVERAL = slots("salt", "rice")
METRICS = (ACCURACY_JUDGED, COMPLETENESS, HALLUCINATION, UTILIZATION)
PASSAGE_METRICS = (HALLUCINATION, UTILIZATION)


def judge_of(metric: Metric) -> PromptedJudge:
    assert isinstance(metric.judge, PromptedJudge)
    return metric.judge


def sample_of(text: str = "Salt.", gold: Gold = SEVERAL, language: str = "en", **facets: str) -> Sample:
    base = sample(text, gold, evidence=True, language=language)
    return replace(base, case=base.case.with_facets(**facets))


def sample_with_ranking(*texts: str) -> Sample:
    items = tuple(ScoredPassage(f"d{at}", 1.0, text) for at, text in enumerate(texts))
    base = sample("Salt.", SEVERAL)
    return replace(base, answer=Answer("Salt.", ranking=Ranking(items)))


def score_after(metric: Metric, about: Sample, *replies: str) -> tuple[float | str | None, ScriptedLLM]:
    """Return the score of a metric after these replies of its judge, and the judge's model."""
    model = ScriptedLLM(list(replies))
    judge = judge_of(metric)
    verdict = asyncio.run(judge.ask(about, model))
    return value(metric, replace(about, verdicts={judge.name: verdict})), model


def reply(label: object) -> str:
    return json.dumps({"reason": "so", "label": label})


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("metric", "label", "expected"),
    [
        (ACCURACY_JUDGED, "wrong", 0.0),
        (ACCURACY_JUDGED, "partly_right", 0.5),
        (ACCURACY_JUDGED, "right", 1.0),
        (COMPLETENESS, "none", 0.0),
        (COMPLETENESS, "some", 0.5),
        (COMPLETENESS, "all", 1.0),
        (COMPLETENESS, "not_applicable", "judge_says_not_applicable"),
        (HALLUCINATION, "hallucinated", 1.0),
        (HALLUCINATION, "not_hallucinated", 0.0),
        (UTILIZATION, "unused", 0.0),
        (UTILIZATION, "partly_used", 0.5),
        (UTILIZATION, "fully_used", 1.0),
    ],
)
def test_each_label_has_its_value_on_the_scale(
    metric: Metric, label: str, expected: float | str, language: str
) -> None:
    score, model = score_after(metric, sample_of(language=language), reply(label))
    assert score == expected
    assert len(model.requests) == 1
    assert ("JSON 对象" in model.requests[0].messages[0]["content"]) is (language == "zh")


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_only_completeness_may_be_marked_as_not_applicable(metric: Metric) -> None:
    score, model = score_after(metric, sample_of(), *[reply("not_applicable")] * (1 if metric is COMPLETENESS else 2))
    assert str(score).startswith("judge_says_not_applicable" if metric is COMPLETENESS else "parse_error: the label is")
    assert len(model.requests) == (1 if metric is COMPLETENESS else 2)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_the_prompt_of_each_judge_has_the_needed_texts_and_explains_the_labels(metric: Metric, language: str) -> None:
    _, model = score_after(metric, sample_of(language=language), reply(next(iter(judge_of(metric).labels or {}))))
    system, user = (message["content"] for message in model.requests[0].messages)
    assert "> A question?" in user
    assert "> salt\n> rice" in user
    assert "> Salt." in user
    assert ("> The evidence." in user) is (metric in PASSAGE_METRICS)
    assert "Noise" not in user
    assert all(f'- "{label}"' in system for label in judge_of(metric).labels or {})
    assert "{" not in system


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_unscored_without_a_judge_model(metric: Metric) -> None:
    assert value(metric, sample_of()) == "judge_unavailable"


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_case_without_gold_is_not_applicable_and_makes_no_request(metric: Metric) -> None:
    score, model = score_after(metric, sample_of(gold=()))
    assert (score, model.requests) == ("not_applicable: no_gold", ())


@pytest.mark.parametrize("metric", PASSAGE_METRICS, ids=lambda metric: metric.name)
def test_passage_metrics_need_visible_passages(metric: Metric) -> None:
    base, closed_book = sample_of(), sample_of(system="closed_book")
    for without_passages in (
        sample("Salt.", SEVERAL),
        sample_with_ranking(),
        closed_book,
        replace(base, case=replace(base.case, supplied=())),
    ):
        assert score_after(metric, without_passages)[0] == "not_applicable: no_passages"
    assert score_after(metric, sample_with_ranking("Salt was traded.", ""))[0] == "no_texts"
    score, model = score_after(
        metric, sample_with_ranking("Salt was traded."), reply(next(iter(judge_of(metric).labels or {})))
    )
    assert score in (0.0, 1.0)
    assert "> Salt was traded." in model.requests[0].messages[1]["content"]


def test_closed_book_answers_are_judged_by_the_gold_answer() -> None:
    assert score_after(ACCURACY_JUDGED, sample_of(system="closed_book"), reply("right"))[0] == 1.0
    assert score_after(COMPLETENESS, sample_of(system="closed_book"), reply("all"))[0] == 1.0


@pytest.mark.parametrize(
    ("gold", "several"),
    [
        (slots("salt", "rice"), True),
        (slots(["salt", "table salt"]), False),
        (slots("salt"), False),
        (slots("It rose. It fell later."), True),
        (slots("It rose by 1.5 % in Jan. 2020."), False),
        (slots("first\nsecond"), True),
        (slots("salt; rice"), True),
        (slots("salt, rice and tea"), True),
        (slots("salt, rice, or tea"), True),
        (slots("Paris, France"), False),
        (slots("Simon and Garfunkel"), False),
        (slots("1,200,000"), False),
        (slots("盐、米、茶"), True),
        (slots("利率上调。存款增加。"), True),
        (slots("利率上调；存款增加"), True),
        (slots("中华人民共和国财政部"), False),
        (slots(["财政部", "财政部、人民银行"]), False),
        (slots(""), False),
        ((), False),
        (((),), False),
    ],
)
def test_a_gold_answer_of_several_slots_or_sentences_or_items_has_several_aspects(gold: Gold, several: bool) -> None:
    case = sample_of(gold=gold).case
    assert has_several_aspects(case) is several
    assert value(COMPLETENESS, sample_of(gold=gold)) == (
        "judge_unavailable" if several else f"not_applicable: {'one_aspect' if gold else 'no_gold'}"
    )


def test_the_facet_several_aspects_overrides_the_gold_answer() -> None:
    assert has_several_aspects(sample_of(gold=slots("salt"), several_aspects="true").case)
    assert not has_several_aspects(sample_of(several_aspects="false").case)
    with pytest.raises(CaseError, match=r"^several_aspects of case 'q1': found 'yes', wanted true or false$") as caught:
        has_several_aspects(sample_of(several_aspects="yes").case)
    assert caught.value.kind == "bad_facet"


@pytest.mark.parametrize("text", ["", "Salt.", "no idea", "1, 2 and 3"])
@pytest.mark.parametrize("system", ["llm", "closed_book", "mine"])
def test_whether_completeness_applies_does_not_depend_on_the_answer(text: str, system: str) -> None:
    assert value(COMPLETENESS, sample_of(text, system=system)) == "judge_unavailable"
    assert value(COMPLETENESS, sample_of(text, slots("salt"), system=system)) == "not_applicable: one_aspect"


def test_a_score_contains_the_verdict_of_the_judge() -> None:
    for metric in METRICS:
        for label in judge_of(metric).labels or {}:
            verdict = Verdict(label, "because", ("raw",))
            assert metric.compute(replace(sample_of(), verdicts={metric.name: verdict})).verdict == verdict


def test_only_hallucination_is_better_when_lower() -> None:
    assert [metric.name for metric in METRICS if not metric.higher_is_better] == ["hallucination"]
    assert [judge_of(metric).higher_is_better for metric in METRICS] == [metric.higher_is_better for metric in METRICS]
    assert [metric.name for metric in METRICS if metric.binary] == ["hallucination"]


def invalid_replies() -> Sequence[Any]:
    deep = '{"label": ' + "[" * 900 + "]" * 900 + "}"
    return [
        "", " \n", "The answer is right.", "right", '"right"', "[1, 2]", '["right"]', "2", "null", "NaN", "1e999",
        '{"label": 2}', '{"label": NaN}', '{"label": 1e999}', '{"label": true}', '{"label": "2"}', '{"label": null}',
        '{"label": ["right"]}', '{"label": {"label": "right"}}', '{"verdict": {"label": "right"}}',
        '{"label": "正确"}', '{"标签": "right"}', '{"label": "right, I think"}', '{"label": "right"', "{label: right}",
        "```json\nright\n```", '{"label": "right"} {"label": "wrong"}', '{"label": "right", "label": "wrong"}',
        '{"label": ' + "9" * 10_000 + "}", '{"label": "' + "x" * 500_000 + '"}', deep, f"{deep} {deep}",
        '{"label": ' + '{"a": ' * 100_000, '{"label": "ri\\u0000ght"}', '{"label": "\\ud800"}', "\ud800{",
    ]  # fmt: skip


@pytest.mark.parametrize("reply_text", invalid_replies(), ids=range(len(invalid_replies())))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_invalid_reply_is_unscored_after_one_retry(reply_text: str, language: str) -> None:
    score, model = score_after(ACCURACY_JUDGED, sample_of(language=language), reply_text, reply_text)
    assert isinstance(score, str)
    assert score.startswith("parse_error: ")
    assert len(score) < 250
    assert len(model.requests) == 2
    assert (
        score_after(ACCURACY_JUDGED, sample_of(language=language), reply_text, f"```json\n{reply('right')}\n```")[0]
        == 1.0
    )
