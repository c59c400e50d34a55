"""Report how a run used its local judges: answers decided, passed on, and unlike training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.people.labelled_answers import comparable_ratings, judged_answers, match_labels
from pytest_rageval.datasets.labels import Label
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import ALWAYS, Amount, Bounds, Share
from pytest_rageval.model.verdict import Verdict

__all__ = ["MAX_UNLIKE", "LabelMatches", "LocalUse", "local_uses_of"]

MAX_UNLIKE = 0.2
"""Largest share of a run's answers that may be unlike the training data without a warning."""

Count = Annotated[int, Bounds(0)]


@dataclass(frozen=True, slots=True)
class LabelMatches:
    """How many pairs of a person's label and a verdict agree.

    Attributes:
        n: number of pairs.
        same: number of pairs with the same value.
    """

    n: Count = field(default=0, metadata=ALWAYS)
    same: Count = field(default=0, metadata=ALWAYS)


@dataclass(frozen=True, slots=True)
class LocalUse:
    """How a run used the local judge of one metric.

    Attributes:
        metric: the metric.
        decided: number of answers that the local judge decided; answers on which it only votes in a panel do not count.
        escalated: number of answers that it passed on to a model.
        no_label: number of answers without a verdict, because a feature was not finite.
        escalate: the lowest confidence at which it decides itself; None if it passes nothing on.
        local: agreement of its verdicts with people's labels.
        model: agreement of the model's verdicts, on answers that it passed on, with people's labels.
        cost_usd: price of the model calls for these answers, in US dollars; None if unknown.
        unlike: share of answers unlike its training data, out of all answers that it read, also as a voter.
        unlike_by_system: system -> this share of its answers.
    """

    metric: str
    decided: Count
    escalated: Count
    no_label: Count
    escalate: Share | None
    local: LabelMatches
    model: LabelMatches
    cost_usd: Amount | None
    unlike: Share
    unlike_by_system: Mapping[str, Share] = field(default_factory=dict)


def local_uses_of(
    metrics: Mapping[str, MetricInfo], labels: Sequence[Label], outcomes: Sequence[Outcome]
) -> list[LocalUse]:
    """Return how a run used each local judge; empty without one.

    Args:
        metrics: the metrics of the run.
        labels: people's labels; empty if there are none.
        outcomes: the outcomes of the run.
    """
    uses = []
    for name, info in metrics.items():
        if info.judge in ("", name) or info.judge not in metrics:  # skip metrics that share another metric's judge
            unlike = _unlike(name, outcomes)
            if unlike:
                judged = [verdict for each in outcomes if (verdict := _verdict(each, name)) is not None]
                uses.append(_use(name, info.escalate, judged, unlike, *_label_matches(name, labels, outcomes)))
    return uses


def _unlike(metric: str, outcomes: Sequence[Outcome]) -> dict[str, list[bool]]:
    """Return system -> whether each answer that a local judge read, also as a voter, is unlike its training data."""
    by_system: dict[str, list[bool]] = {}
    for outcome in outcomes:
        score = outcome.scores.get(metric)
        if score is not None and score.verdict is not None:
            verdicts = (score.verdict, *(vote.verdict for vote in score.verdict.votes))
            read = [verdict.unlike for verdict in verdicts if _was_read_locally(verdict)]
            if read:
                by_system.setdefault(outcome.system, []).append(any(read))
    return by_system


def _was_read_locally(verdict: Verdict) -> bool:
    """Return whether a local judge read the answer, even if it passed it on to a model."""
    return verdict.by == "local" or verdict.confidence is not None


def _verdict(outcome: Outcome, metric: str) -> Verdict | None:
    score = outcome.scores.get(metric)
    verdict = None if score is None else score.verdict
    return verdict if verdict is not None and _was_read_locally(verdict) else None


def _use(
    metric: str,
    escalate: float | None,
    judged: Sequence[Verdict],
    unlike: Mapping[str, Sequence[bool]],
    local: LabelMatches,
    model: LabelMatches,
) -> LocalUse:
    passed_on = [verdict for verdict in judged if verdict.by != "local"]
    local_verdicts = [verdict for verdict in judged if verdict.by == "local"]
    costs = [verdict.cost_usd for verdict in passed_on]
    known = [cost for cost in costs if cost is not None]
    return LocalUse(
        metric=metric,
        decided=sum(verdict.label is not None for verdict in local_verdicts),
        escalated=len(passed_on),
        no_label=sum(verdict.label is None for verdict in local_verdicts),
        escalate=escalate,
        local=local,
        model=model,
        cost_usd=sum(known) if len(known) == len(costs) else None,
        unlike=sum(map(sum, unlike.values())) / sum(map(len, unlike.values())),
        unlike_by_system={system: sum(flags) / len(flags) for system, flags in unlike.items()},
    )


def _label_matches(
    metric: str, labels: Sequence[Label], outcomes: Sequence[Outcome]
) -> tuple[LabelMatches, LabelMatches]:
    """Return how people's labels agree with the local judge, and with the model to which it passes answers."""
    if not labels:
        return LabelMatches(), LabelMatches()
    both, _ = judged_answers(metric, match_labels(labels, outcomes).answers)
    verdicts = [_verdict(each.outcome, metric) for each in both]
    sides = []
    for local in (True, False):
        of_side = [
            each
            for each, verdict in zip(both, verdicts, strict=True)
            if verdict is not None and (verdict.by == "local") is local
        ]
        pairs = (
            [value == rating.judged for rating in comparable_ratings(of_side).ratings for value in rating.people]
            if of_side
            else []
        )
        sides.append(LabelMatches(len(pairs), sum(pairs)))
    return sides[0], sides[1]
