"""Check that judges agree with people well enough for their scores to count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.storage import Bounds, Share

if TYPE_CHECKING:
    from pytest_rageval.analysis.people.labelled_answers import MatchedLabels
    from pytest_rageval.datasets.labels import Label

__all__ = ["Trust", "trust_of", "trusts_of", "withhold_untrusted"]

UNTRUSTED = "judge_untrusted"


@dataclass(frozen=True, slots=True)
class Trust:
    """A judge compared with people, on the labelled answers that it judged in a run.

    Attributes:
        judge: the name of the judge and of its metric.
        least: the required kappa.
        n: number of labelled answers with a score of the judge.
        n_unscored: number of labelled answers without a score of the judge.
        accuracy: share of pairs in which a person's label equals the judge's score; None without pairs.
        kappa: Cohen's kappa, in -1..1; None if undefined.
        ci95: the 95 % interval of kappa, percentiles of resamples of the cases.
        problem: why the judge's scores do not count; None if they count.
        unused: reason why labels match no answer of the run -> number of labels.
        threshold: the score from which a verdict counts as yes, if people say yes or no and the judge gives graded
            scores; else None.
    """

    judge: str
    least: Share
    n: int
    n_unscored: int
    accuracy: Share | None
    kappa: Annotated[float, Bounds(-1, 1)] | None
    ci95: Interval | None
    problem: str | None
    unused: Mapping[str, Annotated[int, Bounds(1)]]
    threshold: Share | None = None


def trusts_of(
    judges: Iterable[str], least: Mapping[str, float], labels: Sequence[Label], outcomes: Sequence[Outcome]
) -> list[Trust]:
    """Return the trust in each judge that must agree with people.

    Args:
        judges: the judges of a run.
        least: judge (or "" for all others) -> the required kappa.
        labels: people's labels.
        outcomes: the outcomes of the run.
    """
    if not least:
        return []
    from pytest_rageval.analysis.people.labelled_answers import match_labels

    required = {judge: least.get(judge, least.get("")) for judge in judges}
    labelled = match_labels(labels, outcomes)
    return [trust_of(judge, labelled, kappa) for judge, kappa in required.items() if kappa is not None]


def trust_of(judge: str, labelled: MatchedLabels, least: float) -> Trust:
    """Return whether a judge's kappa on the labelled answers of a run is at least ``least``.

    A judge is not trusted if it judged no labelled answer, or if kappa is undefined because the judge and people give
    one label to all answers.
    """
    from pytest_rageval.analysis.people.agreement import agreement
    from pytest_rageval.analysis.people.labelled_answers import comparable_ratings, judged_answers

    both, unscored = judged_answers(judge, labelled.answers)
    on_same_scale = comparable_ratings(both)
    result = agreement(on_same_scale.ratings, on_same_scale.levels)
    kappa = result.kappa.value
    if not both:
        problem: str | None = "it has judged no labelled answer of this run"
    elif kappa is None:
        problem = f"its kappa is undefined, because it and people give one value to all {len(both)} labelled answers"
    else:
        problem = None if kappa >= least else f"kappa {kappa:.2f} on {len(both)} labelled answers, wanted {least:g}"
    unused = {why: sum(label.metric in ("", judge) for label in labels) for why, labels in labelled.unmatched.items()}
    return Trust(
        judge=judge,
        least=least,
        n=len(both),
        n_unscored=unscored.total(),
        accuracy=result.accuracy.value,
        kappa=kappa,
        ci95=result.kappa.ci95,
        problem=problem,
        unused={why: count for why, count in unused.items() if count},
        threshold=on_same_scale.threshold,
    )


def withhold_untrusted(outcome: Outcome, judges: Mapping[str, str], problems: Mapping[str, str]) -> Outcome:
    """Return an outcome in which each score of an untrusted judge has a reason instead of a value.

    A score that a rule decided without the judge keeps its value.

    Args:
        outcome: the outcome of a case.
        judges: metric -> its judge.
        problems: judge -> why it is not trusted.
    """
    scores = {name: _withheld(score, problems.get(judges.get(name, ""))) for name, score in outcome.scores.items()}
    return outcome if scores == outcome.scores else replace(outcome, scores=scores)


def _withheld(score: Score, problem: str | None) -> Score:
    by_rule = score.verdict is not None and score.verdict.by == "rule"
    if problem is None or score.value is None or by_rule:
        return score
    return replace(score, value=None, reason=f"{UNTRUSTED}: {problem}", withheld=score.value)
