"""Judges as metrics: convert a verdict to a score, or to a reason for no score."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.judges.function import FunctionJudge
from pytest_rageval.judges.prompted import always
from pytest_rageval.judges.values import Worth, worth_of
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["as_metric", "judged_metric", "judged_score"]


def as_metric(name: str, value: object) -> Metric:
    """Return the metric of a judge that a user registers as ``name``.

    Args:
        name: the name of the judge and of its metric.
        value: a `PromptedJudge`, a `FunctionJudge`, another `Judge`, or a function, which becomes a `FunctionJudge`.

    Raises:
        SettingError: ``value`` is not a judge, or it has another name.
    """
    if inspect.iscoroutinefunction(getattr(value, "ask", None)) and not isinstance(value, type):
        judge: Judge = value  # type: ignore[assignment] # it has the only method of a judge
        if getattr(judge, "name", None) != name:
            own_name = short_repr(getattr(judge, "name", None))
            raise SettingError(
                f"judge {short_repr(name)} cannot be registered: it is named {own_name}; give both one name"
            )
        return judged_metric(judge)
    if not callable(value) or isinstance(value, type):
        raise SettingError(
            f"judge {short_repr(name)} cannot be registered: {short_repr(value)} is not a judge; "
            "give a PromptedJudge, or a function of a sample that returns a number in 0..1"
        )
    return judged_metric(FunctionJudge(name, value))


def judged_metric(judge: Judge) -> Metric:
    """Return the metric that scores by a judge's verdicts and has its name; see `judged_score`."""

    def compute(sample: Sample) -> Score:
        return judged_score(sample, judge)

    higher_is_better: bool = getattr(judge, "higher_is_better", True)
    return Metric(judge.name, compute, higher_is_better, _is_binary(judge), judge)


def judged_score(sample: Sample, judge: Judge) -> Score:
    """Return the score for a judge's verdict in ``sample.verdicts``.

    The judge's ``values`` map labels to values. An integer x on its ``scale`` has the value
    ``(x - low) / (high - low)``. A judge without values and scale returns numbers in 0..1; so does a panel with the
    mean of labels. The score has a reason instead of a value if:

    - the judge does not apply, or the label's value is None ("not_applicable: LABEL");
    - the verdict has a problem ("parse_error: ...");
    - there is no verdict ("judge_unavailable").
    """
    applies: Callable[[Sample], str | None] = getattr(judge, "applies", always)
    why = applies(sample)
    if why is not None:
        return Score.not_applicable(why)
    verdict = sample.verdicts.get(judge.name)
    if verdict is None:
        return Score(reason="judge_unavailable")
    if verdict.label is None:
        return Score(reason=verdict.problem, verdict=verdict)
    is_mean = bool(verdict.votes) and not isinstance(verdict.label, str)
    worth = worth_of(judge)
    value = (Worth(scale=worth.scale) if is_mean else worth).of(verdict.label)
    if value is None:
        return Score(reason=f"not_applicable: {verdict.label}", verdict=verdict)
    return Score(float(value), verdict=verdict)


def _is_binary(judge: Judge) -> bool:
    """Return whether every value that the judge declares is 0 or 1."""
    worth = worth_of(judge)
    if worth.scale is not None:
        return worth.scale[1] - worth.scale[0] == 1
    return bool(worth.values) and set(worth.values.values()) <= {0, 1, None}
