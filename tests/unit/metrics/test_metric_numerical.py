from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from support.samples.metric_samples import sample, slots, value

from pytest_rageval.errors import CaseError
from pytest_rageval.metrics.judges.numerical import NUMERICAL_ACCURACY, NUMERICAL_JUDGE
from pytest_rageval.model.case import Gold
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.testing import ScriptedLLM

FIVE_PERCENT = slots("5.2%")
AMBIGUOUS = "It rose from 4.1% to 5.2%."


def sample_of(text: str, gold: Gold = FIVE_PERCENT, language: str = "en", **facets: str) -> Sample:
    base = sample(text, gold, language=language)
    return replace(base, case=base.case.with_facets(**facets))


def score_after(numeric_sample: Sample, *labels: str) -> tuple[float | str | None, ScriptedLLM]:
    """Return the value after these labels of the judge, and the judge's model."""
    model = ScriptedLLM([json.dumps({"reason": "so", "label": label}) for label in labels])
    verdict = asyncio.run(NUMERICAL_JUDGE.ask(numeric_sample, model))
    return value(NUMERICAL_ACCURACY, replace(numeric_sample, verdicts={"numerical_accuracy": verdict})), model


@pytest.mark.parametrize(("text", "expected", "label"), [("5.2 percent.", 1.0, "right"), ("7.9%", 0.0, "wrong")])
def test_the_judge_gets_no_request_if_the_rule_decides(text: str, expected: float, label: str) -> None:
    score, model = score_after(sample_of(text))
    assert (score, model.requests) == (expected, ())
    assert NUMERICAL_ACCURACY.compute(sample_of(text)).verdict == Verdict(label, by="rule")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("label", "expected"), [("right", 1.0), ("wrong", 0.0), ("not_applicable", "judge_says_not_applicable")]
)
def test_the_judge_decides_if_the_rule_cannot(label: str, expected: float | str, language: str) -> None:
    numeric_sample = sample_of(AMBIGUOUS, language=language)
    assert value(NUMERICAL_ACCURACY, numeric_sample) == "judge_unavailable"
    score, model = score_after(numeric_sample, label)
    assert score == expected
    system, user = (message["content"] for message in model.requests[0].messages)
    assert ("1,200,000" in system, "120万" in system) == (True, language == "zh")
    assert f"> {AMBIGUOUS}" in user
    assert "> 5.2%" in user


@pytest.mark.parametrize("text", ["", "5.2%", "no idea", AMBIGUOUS])
def test_whether_the_metric_applies_does_not_depend_on_the_answer(text: str) -> None:
    assert value(NUMERICAL_ACCURACY, sample_of(text, slots("Rome"))) == "not_applicable: no_number"
    assert score_after(sample_of(text, slots("Rome")))[1].requests == ()
    assert value(NUMERICAL_ACCURACY, sample_of(text, ())) == "not_applicable: no_gold"
    assert value(NUMERICAL_ACCURACY, sample_of(text, numeric_gold="false")) == "not_applicable: no_number"
    assert not str(value(NUMERICAL_ACCURACY, sample_of(text))).startswith("not_applicable")


def test_the_facet_numeric_gold_overrides_the_gold_answer() -> None:
    numeric_sample = sample_of("Half of it.", slots("a half"), numeric_gold="true")
    assert value(NUMERICAL_ACCURACY, numeric_sample) == "judge_unavailable"
    assert score_after(numeric_sample, "right")[0] == 1.0
    with pytest.raises(CaseError, match="numeric_gold of case 'q1': found '1', wanted true or false"):
        value(NUMERICAL_ACCURACY, sample_of("", numeric_gold="1"))
