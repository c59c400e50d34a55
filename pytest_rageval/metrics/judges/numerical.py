"""Numerical accuracy: a rule decides clear answers, a judge decides the others."""

from __future__ import annotations

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.scoring import judged_score
from pytest_rageval.judges.wording import PackagedText
from pytest_rageval.metrics.judges.aspects import true_false_facet
from pytest_rageval.metrics.judges.omnieval_judged import meanings, name_judge_objection, no_gold
from pytest_rageval.metrics.shared.quantities import has_numeric_gold, numerical_verdict
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict

__all__ = ["NUMERICAL_ACCURACY", "NUMERICAL_JUDGE", "numerical_accuracy"]


def _no_number(sample: Sample) -> str | None:
    """Return why the metric does not apply, or None."""
    case = sample.case
    facet = true_false_facet(case, "numeric_gold")
    numeric = has_numeric_gold(case.instance) if facet is None else facet
    return no_gold(sample) or (None if numeric else "no_number")


def _needs_no_judge(sample: Sample) -> str | None:
    """Return why the judge is not asked, or None."""
    reason = _no_number(sample)
    if reason is not None:
        return reason
    return None if numerical_verdict(sample.case.instance, sample.answer.text) is None else "decided_by_rule"


NUMERICAL_JUDGE = PromptedJudge(
    "numerical_accuracy",
    PackagedText("numerical_accuracy", "criteria"),
    labels=meanings("numerical_accuracy", "wrong", "right", "not_applicable"),
    values={"wrong": 0.0, "right": 1.0, "not_applicable": None},
    shows=("question", "gold", "answer"),
    applies=_needs_no_judge,
)


def numerical_accuracy(sample: Sample) -> Score:
    """Score whether the answer has the numbers of the gold answer.

    Formula: 1 or 0 by `quantities.numerical_verdict`. If that is undecided, the judge decides from question, gold and
    answer: 1 for "right", 0 for "wrong". Not applicable if the gold answer states no quantity
    (`quantities.has_numeric_gold`, or the record's facet ``numeric_gold``), for every system alike. If the judge says
    "not_applicable" although that rule applies, the reason is judge_says_not_applicable.
    Range: 0 or 1, higher is better. Empty input: an empty answer lacks the numbers; no gold is not applicable;
    without a model the reason is judge_unavailable if the rule does not decide.
    Source: OmniEval (Wang et al., 2024), numerical accuracy (0, 1 or -1), with our own rule and prompt.
    """
    reason = _no_number(sample)
    if reason is not None:
        return Score.not_applicable(reason)
    by_rule = numerical_verdict(sample.case.instance, sample.answer.text)
    if by_rule is not None:
        return Score(by_rule, verdict=Verdict("right" if by_rule else "wrong", by="rule"))
    return name_judge_objection(judged_score(sample, NUMERICAL_JUDGE))


NUMERICAL_ACCURACY = Metric("numerical_accuracy", numerical_accuracy, binary=True, judge=NUMERICAL_JUDGE)
