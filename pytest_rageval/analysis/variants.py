"""Compare variants of cases with their originals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pytest_rageval.analysis.cells import cell_of, value_of
from pytest_rageval.analysis.clusters import REPEAT
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.metrics.answers.stable import BY_RULE
from pytest_rageval.model.facets import KNEW, RELATION, VARIANT, is_variant
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.storage import Bounds, Share

__all__ = ["STABLE", "RelationResult", "originals", "relation_results", "stable_scores"]

STABLE = "stable"

_Key = tuple[str, str]
"""A node id without its relation and variant, and the system."""


@dataclass(frozen=True, slots=True)
class RelationResult:
    """The variants of one testbed by one relation under one system.

    Attributes:
        testbed: the testbed's node id.
        system: the system that answered.
        relation: the relation.
        metric: the testbed's primary metric.
        n: number of variants.
        n_cases: number of original cases of the variants; repeats of a case count once.
        before: mean of the primary metric over the originals.
        after: mean of the primary metric over the variants.
        stable: mean of ``stable``.
        ci95: the 95 % interval of ``stable``, over independent units.
        n_unscored: number of variants without a value of ``stable``.
        unstable: node ids of the variants with the lowest values below 1, the lowest first.
    """

    testbed: str
    system: str
    relation: str
    metric: str
    n: Annotated[int, Bounds(1)]
    n_cases: Annotated[int, Bounds(1)]
    before: Share | None
    after: Share | None
    stable: Share | None
    ci95: Interval | None
    n_unscored: int
    unstable: tuple[str, ...] = ()


def originals(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that are not variants."""
    return [outcome for outcome in outcomes if not is_variant(outcome.facets)]


def stable_scores(outcomes: Sequence[Outcome], primary: Mapping[str, str]) -> dict[str, Score]:
    """Return node id -> the score ``stable`` of each scored variant that has one.

    Args:
        outcomes: variants and originals of a session.
        primary: testbed -> its primary metric.
    """
    by_original = {_key(outcome): outcome for outcome in originals(outcomes)}
    return {
        variant.nodeid: _stable(variant, by_original.get(_key(variant)), primary[variant.testbed])
        for variant in outcomes
        if is_variant(variant.facets) and STABLE in variant.scores and variant.testbed in primary
    }


def relation_results(
    outcomes: Sequence[Outcome], primary: Mapping[str, str], binary: Mapping[str, bool]
) -> list[RelationResult]:
    """Return the results of each testbed, system and relation, in the order of the outcomes.

    Args:
        outcomes: variants and originals of a session; skipped ones are left out.
        primary: testbed -> its primary metric.
        binary: metric -> whether its values are 0 or 1.
    """
    by_original = {_key(outcome): outcome for outcome in originals(outcomes)}
    groups: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if is_variant(outcome.facets) and outcome.status != "skipped" and outcome.testbed in primary:
            groups.setdefault((outcome.testbed, outcome.system, outcome.facets[RELATION]), []).append(outcome)
    results = []
    for (testbed, system, relation), variants in groups.items():
        metric = primary[testbed]
        keys = dict.fromkeys(map(_key, variants))
        before = [by_original[key] for key in keys if key in by_original]
        is_binary = binary.get(metric, False)
        stable = cell_of(STABLE, False, variants)
        n_cases = len(set(map(_case, variants)))
        results.append(
            RelationResult(
                testbed, system, relation, metric, len(variants), n_cases,
                cell_of(metric, is_binary, before).mean, cell_of(metric, is_binary, variants).mean,
                stable.mean, stable.ci95, stable.n_unscored, _unstable(variants),
            )
        )  # fmt: skip
    return results


def _stable(variant: Outcome, original: Outcome | None, metric: str) -> Score:
    score_by_rule = variant.scores[STABLE]
    if original is not None and original.status == "error":
        return Score(reason="original_error: its original ended in an error")
    if variant.facets[RELATION] in BY_RULE:
        return score_by_rule
    if original is None or original.status == "skipped":
        return Score(reason="original_not_run: its original did not run")
    before, after = value_of(metric, original), value_of(metric, variant)
    if before is None or after is None:
        missing = (original if before is None else variant).scores.get(metric)
        return Score(reason=(missing.reason if missing is not None else None) or f"unscored: it has no {metric}")
    return Score(1 - abs(after - before))


def _case(variant: Outcome) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return a key that all variants and repeats of a case share, within one testbed and system."""
    facets = variant.facets.items()
    return variant.case_id, frozenset(each for each in facets if each[0] not in (RELATION, VARIANT, REPEAT, KNEW))


def _unstable(variants: Iterable[Outcome]) -> tuple[str, ...]:
    values = ((value_of(STABLE, variant), variant.nodeid) for variant in variants)
    return tuple(
        nodeid for _, nodeid in sorted((value, nodeid) for value, nodeid in values if value is not None and value < 1)
    )[:5]


def _key(outcome: Outcome) -> _Key:
    """Return the key that a variant shares with its original: the node id without the variant, and the system."""
    if not is_variant(outcome.facets):
        return outcome.nodeid, outcome.system
    ending = f"-{RELATION}={outcome.facets[RELATION]}-{VARIANT}={outcome.facets[VARIANT]}"
    before, _, after = outcome.nodeid.rpartition(ending)
    return before + after, outcome.system
