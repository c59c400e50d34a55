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

FIVE = slots("5.2%")
UNSURE = "It rose from 4.1% to 5.2%."


def of(text: str, gold: Gold = FIVE, language: str = "en", **facets: str) -> Sample:
    given = sample(text, gold, language=language)
    return replace(given, case=given.case.with_facets(**facets))


def questions_of(about: Sample, *labels: str) -> tuple[float | str | None, ScriptedLLM]:
    """Return the value after the judge's choice, and the model that was asked."""
    model = ScriptedLLM([json.dumps({"reason": "so", "label": label}) for label in labels])
    verdict = asyncio.run(NUMERICAL_JUDGE.ask(about, model))
    return value(NUMERICAL_ACCURACY, replace(about, verdicts={"numerical_accuracy": verdict})), model


@pytest.mark.parametrize(("text", "expected", "label"), [("5.2 percent.", 1.0, "right"), ("7.9%", 0.0, "wrong")])
def test_what_the_rule_decides_no_judge_is_asked(text: str, expected: float, label: str) -> None:
    got, model = questions_of(of(text))
    assert (got, model.requests) == (expected, ())
    score = NUMERICAL_ACCURACY.compute(of(text))
    assert score.verdict == Verdict(label, by="rule")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("label", "expected"), [("right", 1.0), ("wrong", 0.0), ("not_applicable", "judge_says_not_applicable")]
)
def test_what_the_rule_leaves_open_the_judge_decides(label: str, expected: float | str, language: str) -> None:
    about = of(UNSURE, language=language)
    assert value(NUMERICAL_ACCURACY, about) == "judge_unavailable"
    got, model = questions_of(about, label)
    assert got == expected
    system, user = (message["content"] for message in model.requests[0].messages)
    assert ("1,200,000" in system, "120万" in system) == (True, language == "zh")
    assert f"> {UNSURE}" in user
    assert "> 5.2%" in user


@pytest.mark.parametrize("text", ["", "5.2%", "no idea", UNSURE])
def test_applicability_is_independent_of_the_answer(text: str) -> None:
    assert value(NUMERICAL_ACCURACY, of(text, slots("Rome"))) == "not_applicable: no_number"
    assert questions_of(of(text, slots("Rome")))[1].requests == ()
    assert value(NUMERICAL_ACCURACY, of(text, ())) == "not_applicable: no_gold"
    assert value(NUMERICAL_ACCURACY, of(text, numeric_gold="false")) == "not_applicable: no_number"
    assert not str(value(NUMERICAL_ACCURACY, of(text))).startswith("not_applicable")


def test_a_record_may_say_that_its_gold_answer_is_a_number() -> None:
    about = of("Half of it.", slots("a half"), numeric_gold="true")
    assert value(NUMERICAL_ACCURACY, about) == "judge_unavailable"
    assert questions_of(about, "right")[0] == 1.0
    with pytest.raises(CaseError, match="numeric_gold of case 'q1': found '1', wanted true or false"):
        value(NUMERICAL_ACCURACY, of("", numeric_gold="1"))
