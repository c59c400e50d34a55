"""OmniEval's judged metrics: the judge sees the gold answer."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.scoring import judged_score
from pytest_rageval.judges.wording import PackagedText
from pytest_rageval.metrics.judges.aspects import has_several_aspects
from pytest_rageval.metrics.rankings.ranked_passages import NO_TEXTS
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = [
    "ACCURACY_JUDGE",
    "ACCURACY_JUDGED",
    "COMPLETENESS",
    "COMPLETENESS_JUDGE",
    "HALLUCINATION",
    "HALLUCINATION_JUDGE",
    "UTILIZATION",
    "UTILIZATION_JUDGE",
    "accuracy_judged",
    "completeness",
    "hallucination",
    "meanings",
    "name_judge_objection",
    "no_gold",
    "utilization",
]

GOLD = ("question", "gold", "answer")
PASSAGES = ("question", "passages", "gold", "answer")


def no_gold(sample: Sample) -> str | None:
    """Return why a judge that needs the gold answer is not asked, or None."""
    return None if sample.case.instance.gold else "no_gold"


def _one_aspect(sample: Sample) -> str | None:
    """Return why an answer cannot be partly complete, or None."""
    return no_gold(sample) or (None if has_several_aspects(sample.case) else "one_aspect")


def _no_passages(sample: Sample) -> str | None:
    """Return why the judge cannot see the passages that the system saw, or None."""
    case, ranking = sample.case, sample.answer.ranking
    if (reason := no_gold(sample)) is not None:
        return reason
    if case.facets.get("system") == "closed_book" or not (ranking if case.supplied is None else case.supplied):
        return "no_passages"
    return "no_texts" if case.supplied is None and not all(item.text for item in ranking or ()) else None


def meanings(table: str, *labels: str) -> dict[str, PackagedText]:
    """Return label -> its meaning, as a text in one table of the package's prompts."""
    return {label: PackagedText(table, label) for label in labels}


ACCURACY_JUDGE = PromptedJudge(
    "accuracy_judged",
    PackagedText("accuracy", "criteria"),
    labels=meanings("accuracy", "wrong", "partly_right", "right"),
    values={"wrong": 0.0, "partly_right": 0.5, "right": 1.0},
    shows=GOLD,
    applies=no_gold,
)
COMPLETENESS_JUDGE = PromptedJudge(
    "completeness",
    PackagedText("completeness", "criteria"),
    labels=meanings("completeness", "none", "some", "all", "not_applicable"),
    values={"none": 0.0, "some": 0.5, "all": 1.0, "not_applicable": None},
    shows=GOLD,
    applies=_one_aspect,
)
HALLUCINATION_JUDGE = PromptedJudge(
    "hallucination",
    PackagedText("hallucination", "criteria"),
    labels=meanings("hallucination", "hallucinated", "not_hallucinated"),
    values={"hallucinated": 1.0, "not_hallucinated": 0.0},
    shows=PASSAGES,
    applies=_no_passages,
    higher_is_better=False,
)
UTILIZATION_JUDGE = PromptedJudge(
    "utilization",
    PackagedText("utilization", "criteria"),
    labels=meanings("utilization", "unused", "partly_used", "fully_used"),
    values={"unused": 0.0, "partly_used": 0.5, "fully_used": 1.0},
    shows=PASSAGES,
    applies=_no_passages,
)


def accuracy_judged(sample: Sample) -> Score:
    """Score whether a judge finds that the answer means the same as the gold answer.

    Formula: from question, gold and answer, the judge chooses "right" (1), "partly_right" (0.5) or "wrong" (0).
    Range: 0, 0.5 or 1, higher is better. Empty input: an empty answer is judged like any other; no gold is not
    applicable; without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), accuracy (0, 1 or 2), halved, with our own prompt.
    """
    return judged_score(sample, ACCURACY_JUDGE)


def completeness(sample: Sample) -> Score:
    """Score how many aspects of the gold answer a judge finds in the answer.

    Formula: from question, gold and answer, the judge chooses "all" (1), "some" (0.5) or "none" (0). Not applicable if
    the gold answer has only one aspect (`aspects.has_several_aspects`), for every system alike. If the judge says
    "not_applicable" although that rule applies, the reason is judge_says_not_applicable.
    Range: 0, 0.5 or 1, higher is better. Empty input: an empty answer is judged like any other; no gold is not
    applicable; without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), completeness (0, 1 or 2, halved, or -1), with our own prompt.
    """
    return name_judge_objection(judged_score(sample, COMPLETENESS_JUDGE))


def hallucination(sample: Sample) -> Score:
    """Score whether a judge finds a claim in the answer that is wrong and in no passage.

    Formula: from question, passages, gold and answer, the judge chooses "hallucinated" (1) or "not_hallucinated" (0).
    The passages are the supplied or the retrieved ones. Not applicable without passages (a closed-book answer);
    no value with the reason no_texts if the text of a passage is unknown.
    Range: 0 or 1, lower is better. Empty input: an empty answer is judged like any other; no gold is not applicable;
    without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), hallucination (0 or 1), with our own prompt.
    """
    return NO_TEXTS if _no_passages(sample) == "no_texts" else judged_score(sample, HALLUCINATION_JUDGE)


def utilization(sample: Sample) -> Score:
    """Score how much relevant content of the passages a judge finds in the answer.

    Formula: from question, passages, gold and answer, the judge chooses "fully_used" (1), "partly_used" (0.5) or
    "unused" (0). Not applicable or without a value (no_texts) in the same cases as `hallucination`.
    Range: 0, 0.5 or 1, higher is better. Empty input: an empty answer is judged like any other; no gold is not
    applicable; without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), utilization (0, 1 or 2), halved, with our own prompt.
    """
    return NO_TEXTS if _no_passages(sample) == "no_texts" else judged_score(sample, UTILIZATION_JUDGE)


def name_judge_objection(score: Score) -> Score:
    """Change the reason of a score to ``judge_says_not_applicable`` if the judge said "not_applicable"."""
    by_judge = score.reason == "not_applicable: not_applicable"
    return replace(score, reason="judge_says_not_applicable") if by_judge else score


ACCURACY_JUDGED = Metric("accuracy_judged", accuracy_judged, judge=ACCURACY_JUDGE)
COMPLETENESS = Metric("completeness", completeness, judge=COMPLETENESS_JUDGE)
HALLUCINATION = Metric("hallucination", hallucination, higher_is_better=False, binary=True, judge=HALLUCINATION_JUDGE)
UTILIZATION = Metric("utilization", utilization, judge=UTILIZATION_JUDGE)
