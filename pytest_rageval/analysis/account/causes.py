"""Split a drop by the causes of its broken cases, and say what these cases share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pytest_rageval.analysis.account.changes import Change, drop_without
from pytest_rageval.analysis.baseline.failure_cause import cause_of
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.facets import ABILITIES
from pytest_rageval.model.outcome import Outcome

__all__ = ["MISSING_DOCUMENT", "NOT_IN_CORPUS", "cause_of_miss", "split_by_cause", "symptom_of", "symptom_of_misses"]

MISSING_DOCUMENT, JUDGE, SCORING = "missing document", "judge", "scoring"
"""Causes in addition to those of `failure_cause`: evidence not in the corpus; other scores of the same answer."""

NOT_IN_CORPUS = "evidence_not_in_corpus"
"""The reason of a ranking score of a case whose evidence the corpus does not hold."""

SHORTER = 0.75
"""An answer counts as shorter if it has at most this share of the characters that it had."""

_Case = TypeVar("_Case")

LOST = ("retrieval", "both", MISSING_DOCUMENT)
"""The causes with evidence that the system no longer had."""


def split_by_cause(
    drop: Change, outcomes: Mapping[str, Outcome], alpha: float
) -> list[tuple[str, Change, dict[str, int]]]:
    """Return the causes of a drop, each with its own part of the drop, the cause of the most cases first.

    A cause stands alone if the drop is significant without the cases that broke by others; its part is where these
    cases are. The cases of any other cause are part of the drop of the most frequent one, and counted by their causes.

    Args:
        drop: the drop.
        outcomes: node id -> outcome, of the later run.
        alpha: the accepted chance of a false alarm.
    """
    groups: dict[str, list[Pair]] = {}
    for pair in drop.changed_pairs:
        groups.setdefault(_cause(pair, drop.info, outcomes), []).append(pair)
    ordered = sorted(groups, key=lambda cause: -len(groups[cause]))
    parts: list[tuple[str, Change, dict[str, int]]] = []
    for cause in ordered[1:]:
        own = set(map(id, groups[cause]))
        part = drop_without(drop, {id(pair) for pair in drop.changed_pairs} - own, alpha)
        if part is not None:
            parts.append((cause, part, {}))
    apart = {id(pair) for _, part, _ in parts for pair in part.changed_pairs}
    rest = (drop_without(drop, apart, alpha) if apart else drop) or drop
    there, alone = set(map(id, rest.changed_pairs)), {cause for cause, _, _ in parts}
    others = {
        cause: n
        for cause in ordered[1:]
        if cause not in alone and (n := len({pair.after.case for pair in groups[cause] if id(pair) in there}))
    }
    return [(ordered[0], rest, others), *parts]


def symptom_of(cause: str, broken: Sequence[Pair]) -> str:
    """Return what most broken cases share: "passages missing", "abstained", "answers shorter", or ""."""
    if cause in LOST and _most(broken, _has_less):
        return "passages missing"
    if _most(broken, lambda pair: pair.after.declined > 0.5 >= pair.before.declined):
        return "abstained"
    if _most(broken, _is_shorter):
        return "answers shorter"
    return ""


def cause_of_miss(outcome: Outcome, of: str) -> str:
    """Return where a case without a baseline lost its answer, from the evidence that the system had.

    Args:
        outcome: a case that misses a bound.
        of: what the bounded metric measures, as `MetricInfo.of`.
    """
    if of == "retrieval":
        return "retrieval"
    had = outcome.answer_seen if outcome.evidence is None else outcome.evidence
    if had is None:
        return "unknown"
    if had == 1 or outcome.facets.get("ability") in ABILITIES:
        return "generation"
    return "retrieval"


def symptom_of_misses(cause: str, missed: Sequence[Outcome]) -> str:
    """Return what more than half of the cases that miss a bound share: "passages missing", "abstained", or ""."""
    if cause == "retrieval":
        return "passages missing" if _most(missed, lambda outcome: (outcome.evidence or 0.0) < 1) else ""
    return "abstained" if _most(missed, lambda outcome: outcome.declined) else ""


def _cause(pair: Pair, info: MetricInfo, outcomes: Mapping[str, Outcome]) -> str:
    """Return the cause of a broken case; an unchanged answer was scored otherwise, by its judge or by the metric."""
    cause = cause_of(pair, info.of)
    if cause == "generation" and pair.before.said and pair.same_answer:
        return JUDGE if info.judge else SCORING
    if cause == "generation":
        return cause
    runs = (outcomes[node] for node in pair.after.nodes if node in outcomes)
    missing = any(score.reason == NOT_IN_CORPUS for run in runs for score in run.scores.values())
    return MISSING_DOCUMENT if missing else cause


def _has_less(pair: Pair) -> bool:
    for then, now in (
        (pair.before.evidence, pair.after.evidence),
        (pair.before.answer_seen, pair.after.answer_seen),
    ):
        if now is not None and now < (1.0 if then is None else then):
            return True
    return False


def _is_shorter(pair: Pair) -> bool:
    then, now = pair.before.length, pair.after.length
    return then is not None and now is not None and now <= SHORTER * then


def _most(cases: Sequence[_Case], holds: Callable[[_Case], bool]) -> bool:
    return 2 * sum(map(holds, cases)) > len(cases)
