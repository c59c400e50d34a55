"""Scores of judged metrics, and what can be registered as a judge."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pytest
from support.samples.judge_samples import POLITE, STARS, sample

from pytest_rageval.errors import SettingError
from pytest_rageval.judges.function import FunctionJudge
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.scoring import as_metric, judged_metric
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.testing import ScriptedLLM


def score(metric: Metric, verdict: Verdict | None) -> Score:
    return metric.compute(replace(sample(), verdicts={} if verdict is None else {metric.name: verdict}))


def test_a_label_scores_its_declared_value() -> None:
    metric = judged_metric(POLITE)
    assert (metric.name, metric.judge, metric.binary, metric.higher_is_better) == ("politeness", POLITE, True, True)
    polite = Verdict("polite", "kind", ("raw",))
    assert score(metric, polite) == Score(1.0, verdict=polite)
    assert score(metric, Verdict("rude")).value == 0.0


@pytest.mark.parametrize(("stars", "value"), [(1, 0.0), (2, 0.25), (3, 0.5), (5, 1.0)])
def test_a_number_scores_its_position_on_the_scale(stars: int, value: float) -> None:
    assert score(judged_metric(STARS), Verdict(stars)).value == value


def test_a_score_without_a_value_has_a_reason() -> None:
    metric = judged_metric(replace(POLITE, values={"polite": 1.0, "rude": None}))
    assert metric.binary
    assert score(metric, None) == Score(reason="judge_unavailable")
    rude = Verdict("rude")
    assert score(metric, rude) == Score(reason="not_applicable: rude", verdict=rude)
    unreadable = Verdict(replies=("", ""), problem="parse_error: the reply is empty")
    assert score(metric, unreadable) == Score(reason="parse_error: the reply is empty", verdict=unreadable)


def test_a_case_that_a_judge_does_not_apply_to_is_not_applicable() -> None:
    metric = judged_metric(replace(POLITE, applies=lambda sample: "no_gold"))
    assert score(metric, None) == Score.not_applicable("no_gold")


@pytest.mark.parametrize(
    ("judge", "binary"),
    [
        (PromptedJudge("j", "c", scale=(0, 1)), True),
        (PromptedJudge("j", "c", scale=(0, 2)), False),
        (replace(POLITE, values={"polite": 1, "rude": 0.5}), False),
        (FunctionJudge("j", lambda sample: "a", {"a": 1.0, "b": 0.0}), True),
        (FunctionJudge("j", lambda sample: 0.5), False),
    ],
)
def test_a_metric_is_binary_if_every_value_is_0_or_1(judge: PromptedJudge | FunctionJudge, binary: bool) -> None:
    assert judged_metric(judge).binary is binary


def test_the_judge_decides_the_direction() -> None:
    assert not judged_metric(replace(POLITE, higher_is_better=False)).higher_is_better
    assert not judged_metric(FunctionJudge("j", lambda sample: 1, higher_is_better=False)).higher_is_better


def test_a_prompted_judge_is_registered_under_its_own_name() -> None:
    assert as_metric("politeness", POLITE).judge is POLITE
    with pytest.raises(SettingError, match=r"^judge 'manners' .*: it is named 'politeness'; give both one name$"):
        as_metric("manners", POLITE)


def test_a_function_is_registered_under_any_name() -> None:
    metric = as_metric("length", lambda sample: min(1.0, len(sample.answer.text) / 20))
    judge = metric.judge
    assert isinstance(judge, FunctionJudge)
    verdict = asyncio.run(judge.ask(sample("Certainly."), ScriptedLLM("not asked")))
    assert score(metric, verdict).value == 0.5


@dataclass
class CustomJudge:
    """A judge written by a user."""

    name: str = "own"

    async def ask(self, sample: Sample, model: ChatModel) -> Verdict:
        return Verdict(float(sample.case.instance.question == (await model.complete(())).text))


def test_a_registered_judge_object_is_used_unchanged() -> None:
    metric = as_metric("own", CustomJudge())
    assert metric.judge is not None
    verdict = asyncio.run(metric.judge.ask(sample(question="May I?"), ScriptedLLM("May I?")))
    assert score(metric, verdict).value == 1.0


@pytest.mark.parametrize("value", [None, "polite", PromptedJudge, CustomJudge, {"criteria": "polite?"}])
def test_an_object_that_is_not_a_judge_is_refused(value: object) -> None:
    with pytest.raises(
        SettingError, match=r"^judge 'tone' cannot be registered: .* is not a judge; give a PromptedJudge"
    ):
        as_metric("tone", value)
