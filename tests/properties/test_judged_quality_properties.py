"""Laws of the OmniEval metrics: any reply of a judge gives a value or a reason."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.metrics.judges.numerical import NUMERICAL_ACCURACY
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGED, COMPLETENESS, HALLUCINATION, UTILIZATION
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance, Passage
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample
from pytest_rageval.testing import ScriptedLLM

FIVE = (ACCURACY_JUDGED, COMPLETENESS, HALLUCINATION, NUMERICAL_ACCURACY, UTILIZATION)
LABELS = ["right", "all", "some", "hallucinated", "fully_used", "not_applicable", "NOT_APPLICABLE ", "2", "", "错误"]
ANY_TEXT = st.text(st.characters(exclude_categories=()))
VALUES = st.one_of(ANY_TEXT, st.sampled_from(LABELS), st.integers(), st.floats(), st.booleans(), st.none())
JSON = st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner), max_leaves=5)
REPLIES = st.one_of(
    ANY_TEXT,
    st.builds(lambda label: json.dumps({"reason": "so", "label": label}), JSON),
    st.builds(lambda text, label: f"{text}\n```json\n" + json.dumps({"label": label}) + "\n```", ANY_TEXT, JSON),
)
PARTS = st.lists(st.sampled_from(["salt", "12", "%", "、", ", ", " and ", ". ", "; ", "\n", "五亿元", "2020年", ""]))
GOLDS: st.SearchStrategy[Gold] = st.lists(st.lists(PARTS.map("".join), max_size=2).map(tuple), max_size=3).map(tuple)


def sample(text: str, gold: Gold, language: str = "en") -> Sample:
    passages = (Passage("p0", "Salt was traded."),)
    return Sample(Case("q1", Instance("q1", "What?", gold, passages, language=language), passages, {}), Answer(text))


@pytest.mark.parametrize("metric", FIVE, ids=lambda metric: metric.name)
@given(ANY_TEXT, GOLDS, st.sampled_from(["en", "zh"]), REPLIES, REPLIES)
def test_any_reply_is_a_verdict_or_a_reason(
    metric: Metric, text: str, gold: Gold, language: str, first: str, second: str
) -> None:
    assert isinstance(metric.judge, PromptedJudge)
    of = sample(text, gold, language)
    model = ScriptedLLM([first, second])
    verdict = asyncio.run(metric.judge.ask(of, model))
    score = metric.compute(replace(of, verdicts={metric.name: verdict}))
    if score.value is None:
        prefixes = ("parse_error: ", "judge_says_not_applicable", "not_applicable: no_", "not_applicable: one_aspect")
        assert (score.reason or "").startswith(prefixes)
        assert (len(model.requests) == 0) is (score.reason or "").startswith("not_applicable")
    else:
        assert score.value in ((0.0, 1.0) if metric.binary else (0.0, 0.5, 1.0))
        assert score.verdict is not None
        assert (score.verdict.by == "rule") is (len(model.requests) == 0)


@pytest.mark.parametrize("metric", FIVE, ids=lambda metric: metric.name)
@given(ANY_TEXT, PARTS.map("".join), GOLDS)
def test_whether_a_metric_applies_depends_only_on_the_case(metric: Metric, one: str, other: str, gold: Gold) -> None:
    first, second = (metric.compute(sample(text, gold)).reason or "" for text in (one, other))
    assert first.startswith("not_applicable") is second.startswith("not_applicable")
