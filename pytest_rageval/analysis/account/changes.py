"""Find the significant changes between two runs, each where it happened: the whole testbed or one facet value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rageval.analysis.baseline.comparison import Comparison, both_scored, broken_of, difference
from pytest_rageval.analysis.baseline.family import smallest_p
from pytest_rageval.analysis.baseline.multiplicity import holm_attainable
from pytest_rageval.analysis.baseline.paired import Paired
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.facets import FACETS

__all__ = ["Change", "changes_of", "without"]

_PREFERRED = {facet: at for at, facet in enumerate(("task", "topic", "language", "ability", *FACETS))}
"""Which of two facets names a group of cases if both could."""


@dataclass(frozen=True, slots=True)
class Change:
    """A metric of a testbed under a system, over all cases or those with one facet value.

    Attributes:
        testbed: the testbed's node id.
        system: the system's name.
        metric: the metric.
        info: the metric's metadata.
        slice: the facet value; {} for all cases.
        pairs: its cases with a value in both runs.
        whole: these of the whole testbed.
        found: the paired test; ``p_worse`` is that of a change in the searched direction.
        moved: the cases that changed in the searched direction, the most changed first.
        p_value: one-sided, adjusted for its family.
    """

    testbed: str
    system: str
    metric: str
    info: MetricInfo
    slice: Mapping[str, str]
    pairs: tuple[Pair, ...]
    whole: tuple[Pair, ...]
    found: Paired
    moved: tuple[Pair, ...]
    p_value: float


def changes_of(
    comparison: Comparison, metrics: Mapping[str, Sequence[str]], alpha: float, *, worse: bool
) -> list[Change]:
    """Return the significant drops (``worse``) or rises, at most one for each testbed, system and metric.

    A change is that of the whole testbed, unless the cases outside one facet value show no significant change: then it
    is that of this value, of the smallest one if several qualify. All whole testbeds form one family, and all single
    facet values of a metric another; both are adjusted by `holm_attainable`.

    Args:
        comparison: the two runs.
        metrics: testbed -> the metrics to look at.
        alpha: the accepted chance of a false alarm in a family.
        worse: whether to look for drops.
    """
    found = _adjusted(list(_wholes(comparison, metrics, alpha, worse=worse)), alpha)
    located = (_located(whole, alpha, worse=worse) for whole in found if whole.moved)
    return [each for each in located if each is not None]


def without(drop: Change, left_out: Collection[int], alpha: float) -> Change | None:
    """Return where a drop happened if some of its cases, by their ids, are left out; None if it is not significant.

    The means and the number of cases are those of all cases there, the broken ones and p are those of the rest.

    Args:
        drop: a significant drop.
        left_out: ``id`` of each pair to leave out.
        alpha: the accepted chance of a false alarm.
    """
    rest = tuple(pair for pair in drop.whole if id(pair) not in left_out)
    of = drop.testbed, drop.system, drop.metric, drop.info
    found = _located(_change(*of, {}, rest, alpha, worse=True), alpha, worse=True)
    if found is None:
        return None
    there = tuple(pair for pair in drop.whole if found.slice.items() <= pair.after.facets.items())
    return replace(found, pairs=there, found=_test(there, drop.metric, drop.info, alpha, worse=True))


def _wholes(
    comparison: Comparison, metrics: Mapping[str, Sequence[str]], alpha: float, *, worse: bool
) -> Iterator[Change]:
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in comparison.pairing.pairs:
        groups.setdefault((pair.after.testbed, pair.after.system), []).append(pair)
    for (testbed, system), pairs in groups.items():
        for metric in metrics.get(testbed, ()):
            info = comparison.after.metrics.get(metric, MetricInfo())
            scored = tuple(both_scored(pairs, metric))
            if scored:
                yield _change(testbed, system, metric, info, {}, scored, alpha, worse=worse)


def _change(
    testbed: str,
    system: str,
    metric: str,
    info: MetricInfo,
    where: Mapping[str, str],
    pairs: tuple[Pair, ...],
    alpha: float,
    *,
    worse: bool,
) -> Change:
    test = _test(pairs, metric, info, alpha, worse=worse)
    moved = broken_of(pairs, metric, higher_is_better=info.higher_is_better == worse)
    p_value = 1.0 if test.p_worse is None else test.p_worse
    return Change(testbed, system, metric, info, where, pairs, pairs, test, moved, p_value)


def _test(pairs: Sequence[Pair], metric: str, info: MetricInfo, alpha: float, *, worse: bool) -> Paired:
    return difference(pairs, metric, higher_is_better=info.higher_is_better == worse, alpha=alpha)


def _adjusted(changes: Sequence[Change], alpha: float) -> list[Change]:
    """Return the changes with the p-values of their family."""
    smallest = [smallest_p(len(each.found.changes)) for each in changes]
    p_values = holm_attainable([each.p_value for each in changes], smallest, alpha)
    return [replace(each, p_value=p_value) for each, p_value in zip(changes, p_values, strict=True)]


def _located(whole: Change, alpha: float, *, worse: bool) -> Change | None:
    """Return where a change happened; None if it is significant nowhere."""
    cells = _adjusted(list(_cells(whole, alpha, worse=worse)), alpha)
    significant = [cell for cell in cells if cell.p_value <= alpha]
    apart = [cell for cell in significant if not _drops_outside(whole, cell, alpha, worse=worse)]
    if apart:
        return replace(min(apart, key=lambda cell: (len(cell.pairs), _rank(cell))), whole=whole.pairs)
    if whole.p_value <= alpha or not significant:
        return whole if whole.p_value <= alpha else None
    return replace(max(significant, key=lambda cell: len(cell.moved)), whole=whole.pairs)


def _drops_outside(whole: Change, cell: Change, alpha: float, *, worse: bool) -> bool:
    """Return whether the cases outside a cell changed significantly, without any adjustment."""
    inside = set(map(id, cell.pairs))
    outside = [pair for pair in whole.pairs if id(pair) not in inside]
    test = _test(outside, whole.metric, whole.info, alpha, worse=worse)
    return test.p_worse is not None and test.p_worse <= alpha


def _cells(whole: Change, alpha: float, *, worse: bool) -> Iterator[Change]:
    """Yield the change in each facet value in which enough cases changed to reach alpha.

    A value that has the same cases as another one, or all, is left out.
    """
    changed = {id(pair) for pair in whole.pairs if pair.before.scores[whole.metric] != pair.after.scores[whole.metric]}
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in whole.pairs:
        for each in pair.after.facets.items():
            groups.setdefault(each, []).append(pair)
    seen = {frozenset(map(id, whole.pairs))}
    for (facet, value), pairs in sorted(groups.items(), key=lambda each: _order(*each[0])):
        members = frozenset(map(id, pairs))
        if smallest_p(len(members & changed)) <= alpha and members not in seen:
            seen.add(members)
            where = {facet: value}
            yield _change(
                whole.testbed, whole.system, whole.metric, whole.info, where, tuple(pairs), alpha, worse=worse
            )


def _order(facet: str, value: str) -> tuple[int, str, str]:
    return _PREFERRED.get(facet, len(_PREFERRED)), facet, value


def _rank(change: Change) -> tuple[int, str, str]:
    return _order(*next(iter(change.slice.items())))
