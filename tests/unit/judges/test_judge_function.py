"""Functions as judges: return values, signatures and refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from support.samples.judge_samples import sample

from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.judges.function import FunctionJudge
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.testing import ScriptedLLM


def verdict_of(function: Callable[..., Any], **values: float | None) -> Verdict:
    judge = FunctionJudge("tone", function, values)
    return asyncio.run(judge.ask(sample(), ScriptedLLM("0.75")))


@pytest.mark.parametrize(
    ("value", "label"),
    [(0.25, 0.25), (1, 1.0), (True, 1.0), (False, 0.0), (np.float32(0.5), 0.5), (np.True_, 1.0)],
)
def test_a_number_is_the_value(value: object, label: float) -> None:
    verdict = verdict_of(lambda sample: value)
    assert verdict == Verdict(label)
    assert type(verdict.label) is float


def test_a_declared_label_is_a_verdict() -> None:
    assert verdict_of(lambda sample: "good", good=1.0, bad=0.0, unsure=None) == Verdict("good")
    assert verdict_of(lambda sample: "unsure", good=1.0, bad=0.0, unsure=None) == Verdict("unsure")


def test_a_returned_verdict_is_unchanged() -> None:
    verdict = Verdict(0.5, "because", ("raw",))
    assert verdict_of(lambda sample: verdict) == verdict
    problem = Verdict(problem="parse_error: nothing to read")
    assert verdict_of(lambda sample: problem) == problem


def test_a_coroutine_function_gets_the_model_and_is_awaited() -> None:
    async def judge(sample: Sample, model: ChatModel) -> float:
        return float((await model.complete([{"role": "user", "content": sample.answer.text}])).text)

    assert FunctionJudge("tone", judge).needs_model
    assert verdict_of(judge) == Verdict(0.75)


class Callee:
    """An object whose instances and methods can be judges."""

    def judge(self, sample: Sample) -> float:
        return 0.5

    def __call__(self, sample: Sample, model: ChatModel, strict: bool = False) -> float:
        return 0.25


def test_methods_callable_objects_and_partials_are_accepted() -> None:
    assert verdict_of(Callee().judge).label == 0.5
    assert verdict_of(Callee()).label == 0.25
    assert verdict_of(partial(Callee(), strict=True)).label == 0.25
    assert verdict_of(lambda *args: len(args)).label == 1.0
    assert not FunctionJudge("tone", lambda sample, strict=True: 1).needs_model


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "it must return a number in 0..1, a bool, a label of its values, or a Verdict"),
        ([0.5], "it must return a number"),
        (2, r"the number 2.0 is not in 0..1"),
        (-0.1, "is not in 0..1"),
        (float("nan"), "the number nan is not in 0..1"),
        (np.array([1, 2]), "only .* arrays can be converted"),
        ("good", "the label 'good' has no value"),
        (Verdict("good"), "the label 'good' has no value"),
        (Verdict(7.0), "is not in 0..1"),
    ],
)
def test_an_invalid_verdict_is_an_error_of_the_case(value: object, problem: str) -> None:
    with pytest.raises(CaseError, match=f"(?s)^judge 'tone' returned .* for case 'q1': .*{problem}") as error:
        verdict_of(lambda sample: value)
    assert error.value.kind == "judge_error"


def test_a_number_or_undeclared_label_is_invalid_if_labels_are_declared() -> None:
    with pytest.raises(CaseError, match=r"the label 1\.0 has no value; known: bad, good"):
        verdict_of(lambda sample: True, good=1.0, bad=0.0)
    with pytest.raises(CaseError, match=r"the label 'god' has no value; did you mean 'good'\?"):
        verdict_of(lambda sample: "god", good=1.0, bad=0.0)


def three_parameters(sample: Sample, model: ChatModel, more: int) -> float:
    return 0.0


def keyword_only(sample: Sample, *, strict: bool) -> float:
    return 0.0


@pytest.mark.parametrize("function", [lambda: 1, three_parameters, keyword_only, "tone"])
def test_a_function_with_other_parameters_is_refused(function: Any) -> None:
    with pytest.raises(SettingError, match=r"^judge 'tone': .* cannot be called with \(sample\) or \(sample, model\)"):
        FunctionJudge("tone", function)


def test_a_value_out_of_range_is_refused() -> None:
    with pytest.raises(SettingError, match=r"^judge 'tone': values: found {'good': 2}, wanted numbers in 0..1"):
        FunctionJudge("tone", lambda sample: "good", {"good": 2})
