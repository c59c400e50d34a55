"""OmniEval's judged metrics: an answer in the eyes of a judge who knows the gold answer."""

from __future__ import annotations

from dataclasses import replace

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.scoring import judged_score
from pytest_rageval.judges.wording import Packaged
from pytest_rageval.metrics.judges.aspects import has_several_aspects
from pytest_rageval.metrics.rankings.retrieved import NO_TEXTS
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
    "no_gold",
    "objected",
    "utilization",
]

GOLD = ("question", "gold", "answer")
PASSAGES = ("question", "passages", "gold", "answer")


def no_gold(sample: Sample) -> str | None:
    """Return why a judge of the answer by the gold one is not asked, or None when it is."""
    return None if sample.case.instance.gold else "no_gold"


def _one_aspect(sample: Sample) -> str | None:
    return no_gold(sample) or (None if has_several_aspects(sample.case) else "one_aspect")


def _unseen(sample: Sample) -> str | None:
    """Return why there is no passage that both the system and a judge can see, or None when there is."""
    case, ranking = sample.case, sample.answer.ranking
    if (why := no_gold(sample)) is not None:
        return why
    if case.facets.get("system") == "closed_book" or not (ranking if case.supplied is None else case.supplied):
        return "no_passages"
    return "no_texts" if case.supplied is None and not all(item.text for item in ranking or ()) else None


def meanings(table: str, *labels: str) -> dict[str, Packaged]:
    """Return what each label means, as a table of the package's prompts says."""
    return {label: Packaged(table, label) for label in labels}


ACCURACY_JUDGE = PromptedJudge(
    "accuracy_judged",
    Packaged("accuracy", "criteria"),
    labels=meanings("accuracy", "wrong", "partly_right", "right"),
    values={"wrong": 0.0, "partly_right": 0.5, "right": 1.0},
    shows=GOLD,
    applies=no_gold,
)
COMPLETENESS_JUDGE = PromptedJudge(
    "completeness",
    Packaged("completeness", "criteria"),
    labels=meanings("completeness", "none", "some", "all", "not_applicable"),
    values={"none": 0.0, "some": 0.5, "all": 1.0, "not_applicable": None},
    shows=GOLD,
    applies=_one_aspect,
)
HALLUCINATION_JUDGE = PromptedJudge(
    "hallucination",
    Packaged("hallucination", "criteria"),
    labels=meanings("hallucination", "hallucinated", "not_hallucinated"),
    values={"hallucinated": 1.0, "not_hallucinated": 0.0},
    shows=PASSAGES,
    applies=_unseen,
    higher_is_better=False,
)
UTILIZATION_JUDGE = PromptedJudge(
    "utilization",
    Packaged("utilization", "criteria"),
    labels=meanings("utilization", "unused", "partly_used", "fully_used"),
    values={"unused": 0.0, "partly_used": 0.5, "fully_used": 1.0},
    shows=PASSAGES,
    applies=_unseen,
)


def accuracy_judged(sample: Sample) -> Score:
    """Score how far a judge finds that the answer says what the gold answer says, in whatever words.

    Formula: 1 where the judge, from question, gold and answer, chooses "right", 0.5 "partly_right", 0 "wrong".
    Range: 0, 0.5 or 1, higher is better. Empty input: an empty answer is judged like any other; no gold is not
    applicable; without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), accuracy of 0, 1 or 2, halved, with a prompt of our own.
    """
    return judged_score(sample, ACCURACY_JUDGE)


def completeness(sample: Sample) -> Score:
    """Score how many of the gold answer's aspects a judge finds in the answer.

    Formula: 1 where the judge, from question, gold and answer, chooses "all", 0.5 "some", 0 "none". Not applicable
    where the gold answer has one aspect (`aspects.has_several_aspects`), which is the same for every system; where the
    judge finds so against that rule, the reason is judge_says_not_applicable.
    Range: 0, 0.5 or 1, higher is better. Empty input: an empty answer is judged like any other; no gold is not
    applicable; without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), completeness of 0, 1 or 2, halved, or -1, with a prompt of our own.
    """
    return objected(judged_score(sample, COMPLETENESS_JUDGE))


def hallucination(sample: Sample) -> Score:
    """Score whether a judge finds that the answer says what is wrong and in no passage.

    Formula: 1 where the judge, from question, passages, gold and answer, chooses "hallucinated", 0 where it chooses
    "not_hallucinated". The passages are those supplied, or retrieved; where there are none, as for a closed-book
    answer, it is not applicable, and where one is known by its id alone the reason is no_texts.
    Range: 0 or 1, lower is better. Empty input: an empty answer is judged like any other; no gold is not applicable;
    without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), hallucination of 0 or 1, with a prompt of our own.
    """
    return NO_TEXTS if _unseen(sample) == "no_texts" else judged_score(sample, HALLUCINATION_JUDGE)


def utilization(sample: Sample) -> Score:
    """Score how far a judge finds that the answer makes use of what the passages hold on the question.

    Formula: 1 where the judge, from question, passages, gold and answer, chooses "fully_used", 0.5 "partly_used", 0
    "unused". Not applicable, or no_texts, where `hallucination` is.
    Range: 0, 0.5 or 1, higher is better. Empty input: an empty answer is judged like any other; no gold is not
    applicable; without a model the reason is judge_unavailable.
    Source: OmniEval (Wang et al., 2024), utilization of 0, 1 or 2, halved, with a prompt of our own.
    """
    return NO_TEXTS if _unseen(sample) == "no_texts" else judged_score(sample, UTILIZATION_JUDGE)


def objected(score: Score) -> Score:
    """Return a score whose reason tells where it was the judge who said that the metric does not apply."""
    said = score.reason == "not_applicable: not_applicable"
    return replace(score, reason="judge_says_not_applicable") if said else score


ACCURACY_JUDGED = Metric("accuracy_judged", accuracy_judged, judge=ACCURACY_JUDGE)
COMPLETENESS = Metric("completeness", completeness, judge=COMPLETENESS_JUDGE)
HALLUCINATION = Metric("hallucination", hallucination, higher_is_better=False, binary=True, judge=HALLUCINATION_JUDGE)
UTILIZATION = Metric("utilization", utilization, judge=UTILIZATION_JUDGE)
