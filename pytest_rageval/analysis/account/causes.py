"""Split a drop by the causes of its broken cases, and find the symptom that they share."""

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
"""Causes in addition to those of `failure_cause`: the corpus lacks the evidence; the same answer is scored lower."""

NOT_IN_CORPUS = "evidence_not_in_corpus"
"""Reason for which a ranking metric has no value: the corpus does not contain the evidence of the case."""

SHORTER = 0.75
"""An answer counts as shorter if its length is at most this share of its length in the baseline."""

_Case = TypeVar("_Case")

LOST_EVIDENCE = ("retrieval", "both", MISSING_DOCUMENT)
"""The causes for which the system no longer receives the evidence."""


def split_by_cause(
    drop: Change, outcomes: Mapping[str, Outcome], alpha: float
) -> list[tuple[str, Change, dict[str, int]]]:
    """Split a drop by cause; the cause with the most cases comes first.

    A cause gets its own part if the drop stays significant without the cases that broke for other reasons. Cases with
    any other cause stay in the first part, which counts them by cause.

    Args:
        drop: the significant drop.
        outcomes: node id -> outcome of the later run.
        alpha: the accepted chance of a false alarm.

    Returns:
        (cause, its part of the drop, other cause -> number of cases of that cause in this part).
    """
    groups: dict[str, list[Pair]] = {}
    for pair in drop.changed_pairs:
        groups.setdefault(_cause(pair, drop.info, outcomes), []).append(pair)
    ordered = sorted(groups, key=lambda cause: -len(groups[cause]))
    parts: list[tuple[str, Change, dict[str, int]]] = []
    for cause in ordered[1:]:
        with_cause = set(map(id, groups[cause]))
        part = drop_without(drop, {id(pair) for pair in drop.changed_pairs} - with_cause, alpha)
        if part is not None:
            parts.append((cause, part, {}))
    in_parts = {id(pair) for _, part, _ in parts for pair in part.changed_pairs}
    rest = (drop_without(drop, in_parts, alpha) if in_parts else drop) or drop
    in_rest, causes_of_parts = set(map(id, rest.changed_pairs)), {cause for cause, _, _ in parts}
    other_causes = {
        cause: n
        for cause in ordered[1:]
        if cause not in causes_of_parts
        and (n := len({pair.after.case for pair in groups[cause] if id(pair) in in_rest}))
    }
    return [(ordered[0], rest, other_causes), *parts]


def symptom_of(cause: str, broken: Sequence[Pair]) -> str:
    """Return what most broken cases share: "passages missing", "abstained", "answers shorter", or ""."""
    if cause in LOST_EVIDENCE and _most(broken, _has_less):
        return "passages missing"
    if _most(broken, lambda pair: pair.after.declined > 0.5 >= pair.before.declined):
        return "abstained"
    if _most(broken, _is_shorter):
        return "answers shorter"
    return ""


def cause_of_miss(outcome: Outcome, of: str) -> str:
    """Return the cause of a miss in a run without a baseline, from the evidence that the system received.

    Args:
        outcome: a case that misses a bound.
        of: what the bounded metric measures, see `MetricInfo.of`.
    """
    if of == "retrieval":
        return "retrieval"
    share = outcome.answer_seen if outcome.evidence is None else outcome.evidence
    if share is None:
        return "unknown"
    if share == 1 or outcome.facets.get("ability") in ABILITIES:
        return "generation"
    return "retrieval"


def symptom_of_misses(cause: str, missed: Sequence[Outcome]) -> str:
    """Return what more than half of the cases that miss a bound share: "passages missing", "abstained", or ""."""
    if cause == "retrieval":
        return "passages missing" if _most(missed, lambda outcome: (outcome.evidence or 0.0) < 1) else ""
    return "abstained" if _most(missed, lambda outcome: outcome.declined) else ""


def _cause(pair: Pair, info: MetricInfo, outcomes: Mapping[str, Outcome]) -> str:
    """Return the cause of a broken case; if the answer is the same, the cause is its judge or its scoring."""
    cause = cause_of(pair, info.of)
    if cause == "generation" and pair.before.said and pair.same_answer:
        return JUDGE if info.judge else SCORING
    if cause == "generation":
        return cause
    runs = (outcomes[node] for node in pair.after.nodes if node in outcomes)
    missing = any(score.reason == NOT_IN_CORPUS for run in runs for score in run.scores.values())
    return MISSING_DOCUMENT if missing else cause


def _has_less(pair: Pair) -> bool:
    """Return whether the system received less evidence than before; unknown evidence in the baseline counts as all."""
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
