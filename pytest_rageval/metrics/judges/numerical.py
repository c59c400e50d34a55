"""Whether an answer has the right numbers: by a rule where that is sure, else in the eyes of a judge."""

from __future__ import annotations

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.scoring import judged_score
from pytest_rageval.judges.wording import Packaged
from pytest_rageval.metrics.judges.aspects import stated
from pytest_rageval.metrics.judges.omnieval_judged import meanings, no_gold, objected
from pytest_rageval.metrics.shared.quantities import has_numeric_gold, numerical_verdict
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.model.verdict import Verdict

__all__ = ["NUMERICAL_ACCURACY", "NUMERICAL_JUDGE", "numerical_accuracy"]


def _no_number(sample: Sample) -> str | None:
    case = sample.case
    said = stated(case, "numeric_gold")
    numeric = has_numeric_gold(case.instance) if said is None else said
    return no_gold(sample) or (None if numeric else "no_number")


def _needs_no_judge(sample: Sample) -> str | None:
    why = _no_number(sample)
    if why is not None:
        return why
    return None if numerical_verdict(sample.case.instance, sample.answer.text) is None else "decided_by_rule"


NUMERICAL_JUDGE = PromptedJudge(
    "numerical_accuracy",
    Packaged("numerical_accuracy", "criteria"),
    labels=meanings("numerical_accuracy", "wrong", "right", "not_applicable"),
    values={"wrong": 0.0, "right": 1.0, "not_applicable": None},
    shows=("question", "gold", "answer"),
    applies=_needs_no_judge,
)


def numerical_accuracy(sample: Sample) -> Score:
    """Score whether the answer has the numbers of the gold answer.

    Formula: what `quantities.numerical_verdict` decides, 1 or 0; where it does not, 1 where the judge, from question,
    gold and answer, chooses "right", 0 "wrong". Not applicable where the gold answer states no quantity
    (`quantities.has_numeric_gold`, or what the record says in its facet ``numeric_gold``), which is the same for every
    system; where the judge finds so against that rule, the reason is judge_says_not_applicable.
    Range: 0 or 1, higher is better. Empty input: an empty answer has none of the numbers; no gold is not applicable;
    without a model the reason is judge_unavailable where the rule does not decide.
    Source: OmniEval (Wang et al., 2024), numerical accuracy of 0 or 1, or -1, with a rule and a prompt of our own.
    """
    why = _no_number(sample)
    if why is not None:
        return Score.not_applicable(why)
    ruled = numerical_verdict(sample.case.instance, sample.answer.text)
    if ruled is not None:
        return Score(ruled, verdict=Verdict("right" if ruled else "wrong", by="rule"))
    return objected(judged_score(sample, NUMERICAL_JUDGE))


NUMERICAL_ACCURACY = Metric("numerical_accuracy", numerical_accuracy, binary=True, judge=NUMERICAL_JUDGE)
