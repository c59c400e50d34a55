"""Find the significant changes between two runs, each where it happened: the whole testbed or one facet value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pytest_rageval.analysis.baseline.comparison import Comparison, both_scored, broken_of, difference
from pytest_rageval.analysis.baseline.family import smallest_p
from pytest_rageval.analysis.baseline.multiplicity import holm_attainable
from pytest_rageval.analysis.baseline.paired_tests import ROUNDING, PairedTest
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.facets import FACETS

__all__ = ["Change", "changes_of", "drop_without"]

_PREFERRED = {facet: at for at, facet in enumerate(("task", "topic", "language", "ability", *FACETS))}
"""Which of two facets names a group of cases if both could."""


HOPELESS = 0.8
"""A cell whose sum of changes is below this many standard deviations has a one-sided p of about 0.2 or more."""


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
        test: the paired test; ``p_worse`` is that of a change in the searched direction.
        moved: the cases that changed in the searched direction, the most changed first.
        p_value: one-sided, adjusted for its family.
    """

    testbed: str
    system: str
    metric: str
    info: MetricInfo
    slice: Mapping[str, str]
    pairs: tuple[Pair, ...]
    all_pairs: tuple[Pair, ...]
    test: PairedTest
    changed_pairs: tuple[Pair, ...]
    p_value: float


def changes_of(
    comparison: Comparison, metrics: Mapping[str, Sequence[str]], alpha: float, *, worse: bool
) -> list[Change]:
    """Return the significant drops (``worse``) or rises, at most one for each testbed, system and metric.

    A change is that of the whole testbed, unless the cases outside one facet value show no significant change: then it
    is that of this value, of the smallest one if several qualify. All whole testbeds form one family. The facet values
    of a significant testbed form another, as they only say where; those of all other testbeds together form a third.
    Each is adjusted by `holm_attainable`.

    Args:
        comparison: the two runs.
        metrics: testbed -> the metrics to look at.
        alpha: the accepted chance of a false alarm in a family.
        worse: whether to look for drops.
    """
    wholes = _adjusted(list(_wholes(comparison, metrics, alpha, worse=worse)), alpha)
    others = [whole for whole in wholes if whole.changed_pairs and whole.p_value > alpha]
    cells = _significant([cell for whole in others for cell in _cells(whole, alpha, worse=worse)], alpha)
    changes: list[Change] = []
    for whole in wholes:
        if whole.p_value <= alpha:
            own = _significant(list(_cells(whole, alpha, worse=worse)), alpha)
            changes.append(_narrowest(whole, own, alpha, worse=worse) or whole)
        elif inside := [cell for cell in cells if cell.all_pairs is whole.all_pairs]:
            widest = max(inside, key=lambda cell: len(cell.changed_pairs))
            changes.append(_narrowest(whole, inside, alpha, worse=worse) or widest)
    return changes


def drop_without(drop: Change, left_out: Collection[int], alpha: float) -> Change | None:
    """Return where a drop happened if some of its cases, by their ids, are left out; None if it is not significant.

    The means and the number of cases are those of all cases there, the broken ones and p are those of the rest.

    Args:
        drop: a significant drop.
        left_out: ``id`` of each pair to leave out.
        alpha: the accepted chance of a false alarm.
    """
    rest = tuple(pair for pair in drop.all_pairs if id(pair) not in left_out)
    whole = _change(drop.testbed, drop.system, drop.metric, drop.info, {}, rest, alpha, worse=True)
    if not rest or whole.p_value > alpha:
        return None
    found = _narrowest(whole, _significant(list(_cells(whole, alpha, worse=True)), alpha), alpha, worse=True) or whole
    there = tuple(pair for pair in drop.all_pairs if found.slice.items() <= pair.after.facets.items())
    test = _test(there, drop.metric, drop.info, alpha, worse=True)
    return replace(found, pairs=there, all_pairs=drop.all_pairs, test=test)


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


def _test(pairs: Sequence[Pair], metric: str, info: MetricInfo, alpha: float, *, worse: bool) -> PairedTest:
    return difference(pairs, metric, higher_is_better=info.higher_is_better == worse, alpha=alpha)


def _adjusted(changes: Sequence[Change], alpha: float) -> list[Change]:
    """Return the changes with the p-values of their family."""
    smallest = [smallest_p(len(each.test.changes)) for each in changes]
    p_values = holm_attainable([each.p_value for each in changes], smallest, alpha)
    return [replace(each, p_value=p_value) for each, p_value in zip(changes, p_values, strict=True)]


def _significant(cells: Sequence[_Cell], alpha: float) -> list[Change]:
    """Return the significant changes of a family of cells, with their adjusted p-values."""
    p_values = holm_attainable(
        [1.0 if cell.change is None else cell.change.p_value for cell in cells],
        [cell.smallest for cell in cells],
        alpha,
    )
    return [
        replace(cell.change, p_value=p_value)
        for cell, p_value in zip(cells, p_values, strict=True)
        if cell.change is not None and p_value <= alpha
    ]


def _narrowest(whole: Change, cells: Sequence[Change], alpha: float, *, worse: bool) -> Change | None:
    """Return the smallest cell outside which nothing changed significantly, or None."""
    apart = [cell for cell in cells if not _changed_outside(whole, cell, alpha, worse=worse)]
    return min(apart, key=lambda cell: (len(cell.pairs), _rank(cell)), default=None)


def _changed_outside(whole: Change, cell: Change, alpha: float, *, worse: bool) -> bool:
    """Return whether the cases outside a cell changed significantly, without any adjustment."""
    inside = set(map(id, cell.pairs))
    outside = [pair for pair in whole.pairs if id(pair) not in inside]
    test = _test(outside, whole.metric, whole.info, alpha, worse=worse)
    return test.p_worse is not None and test.p_worse <= alpha


class _Cell(NamedTuple):
    """The change in one facet value; None if it cannot be significant. ``smallest`` is the smallest possible p."""

    change: Change | None
    smallest: float


def _cells(whole: Change, alpha: float, *, worse: bool) -> Iterator[_Cell]:
    """Yield the facet values in which enough cases changed to reach alpha.

    A value that has the same cases as another one, or all, is left out. A value whose changes are far from alpha
    counts in the family and is not tested, which saves most of the time.
    """
    of = whole.testbed, whole.system, whole.metric, whole.info
    sign = -1 if whole.info.higher_is_better == worse else 1
    changes = {
        id(pair): sign * (pair.after.scores[whole.metric] - pair.before.scores[whole.metric]) for pair in whole.pairs
    }
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in whole.pairs:
        for each in pair.after.facets.items():
            groups.setdefault(each, []).append(pair)
    seen = {frozenset(map(id, whole.pairs))}
    for (facet, value), pairs in sorted(groups.items(), key=lambda each: _order(*each[0])):
        members = frozenset(map(id, pairs))
        moves = [changes[member] for member in members if abs(changes[member]) > ROUNDING]
        smallest = smallest_p(len(moves))
        if smallest > alpha or members in seen:
            continue
        seen.add(members)
        z = math.fsum(moves) / math.sqrt(math.fsum(move * move for move in moves))
        if z < HOPELESS and not whole.test.facet:
            yield _Cell(None, smallest)
        else:
            change = _change(*of, {facet: value}, tuple(pairs), alpha, worse=worse)
            yield _Cell(replace(change, all_pairs=whole.all_pairs), smallest_p(len(change.test.changes)))


def _order(facet: str, value: str) -> tuple[int, str, str]:
    return _PREFERRED.get(facet, len(_PREFERRED)), facet, value


def _rank(change: Change) -> tuple[int, str, str]:
    return _order(*next(iter(change.slice.items())))
