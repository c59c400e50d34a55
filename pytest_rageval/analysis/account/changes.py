"""Find significant changes between two runs: of a whole testbed or of one facet value."""

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
"""Facet -> its rank: if two facets select the same cases, the one with the lower rank names them."""

MIN_Z = 0.8
"""Smallest z of a cell that is tested. Below it the one-sided p is about 0.2 or more, so a test is useless."""


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a metric between two runs, over all cases of a testbed or those with one facet value.

    Attributes:
        testbed: the testbed's node id.
        system: the system's name.
        metric: the metric.
        info: the metric's metadata.
        slice: the facet value, as facet -> value; {} for all cases.
        pairs: the cases of the slice with a value in both runs.
        all_pairs: the cases of the whole testbed with a value in both runs.
        test: the paired test of ``pairs``; its ``p_worse`` is the p of a change in the searched direction.
        changed_pairs: the cases that changed in the searched direction, the largest change first.
        p_value: the one-sided p, adjusted for the family of tests.
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

    A change belongs to the whole testbed. But if the cases outside one facet value show no significant change, it
    belongs to that value; if several values qualify, to the one with the fewest cases.

    Three kinds of families are adjusted separately by `holm_attainable`: all whole testbeds; the facet values of one
    significant testbed, because they only locate its change; the facet values of all other testbeds together.

    Args:
        comparison: the two runs.
        metrics: testbed -> the metrics to look at.
        alpha: the accepted chance of a false alarm in a family.
        worse: whether to look for drops.
    """
    of_testbeds = _with_adjusted_p(list(_changes_of_testbeds(comparison, metrics, alpha, worse=worse)), alpha)
    insignificant = [whole for whole in of_testbeds if whole.changed_pairs and whole.p_value > alpha]
    cells = _significant([cell for whole in insignificant for cell in _cells(whole, alpha, worse=worse)], alpha)
    changes: list[Change] = []
    for whole in of_testbeds:
        if whole.p_value <= alpha:
            own_cells = _significant(list(_cells(whole, alpha, worse=worse)), alpha)
            changes.append(_narrowest(whole, own_cells, alpha, worse=worse) or whole)
        elif inside := [cell for cell in cells if cell.all_pairs is whole.all_pairs]:
            widest = max(inside, key=lambda cell: len(cell.changed_pairs))
            changes.append(_narrowest(whole, inside, alpha, worse=worse) or widest)
    return changes


def drop_without(drop: Change, excluded: Collection[int], alpha: float) -> Change | None:
    """Return the drop that remains without some pairs, at its facet value; None if the rest is not significant.

    Its broken cases and its p are computed without these pairs. Its means and its number of cases include them.

    Args:
        drop: a significant drop.
        excluded: ``id()`` of each pair to exclude.
        alpha: the accepted chance of a false alarm.
    """
    rest = tuple(pair for pair in drop.all_pairs if id(pair) not in excluded)
    whole = _change(drop.testbed, drop.system, drop.metric, drop.info, {}, rest, alpha, worse=True)
    if not rest or whole.p_value > alpha:
        return None
    cells = _significant(list(_cells(whole, alpha, worse=True)), alpha)
    narrowest = _narrowest(whole, cells, alpha, worse=True) or whole
    pairs_of_slice = tuple(pair for pair in drop.all_pairs if narrowest.slice.items() <= pair.after.facets.items())
    test = _test(pairs_of_slice, drop.metric, drop.info, alpha, worse=True)
    return replace(narrowest, pairs=pairs_of_slice, all_pairs=drop.all_pairs, test=test)


def _changes_of_testbeds(
    comparison: Comparison, metrics: Mapping[str, Sequence[str]], alpha: float, *, worse: bool
) -> Iterator[Change]:
    """Yield the change of each metric of each testbed and system, significant or not."""
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


def _with_adjusted_p(changes: Sequence[Change], alpha: float) -> list[Change]:
    """Return the changes with p-values adjusted for all of them together."""
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
    """Return the smallest cell that explains the change: the cases outside it show no significant change; or None."""
    sufficient = [cell for cell in cells if not _changed_outside(whole, cell, alpha, worse=worse)]
    return min(sufficient, key=lambda cell: (len(cell.pairs), _rank(cell)), default=None)


def _changed_outside(whole: Change, cell: Change, alpha: float, *, worse: bool) -> bool:
    """Return whether the cases outside a cell changed significantly, without any adjustment."""
    inside = set(map(id, cell.pairs))
    outside = [pair for pair in whole.pairs if id(pair) not in inside]
    test = _test(outside, whole.metric, whole.info, alpha, worse=worse)
    return test.p_worse is not None and test.p_worse <= alpha


class _Cell(NamedTuple):
    """One facet value.

    Attributes:
        change: its change; None if it was not tested, because it cannot be significant.
        smallest: the smallest p that a test of it could have.
    """

    change: Change | None
    smallest: float


def _cells(whole: Change, alpha: float, *, worse: bool) -> Iterator[_Cell]:
    """Yield the facet values in which enough cases changed for a p of at most alpha.

    A value is skipped if it has all cases, or the same cases as another value. A value with a z below `MIN_Z` counts
    in the family but is not tested, which saves most of the time.
    """
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
        if z < MIN_Z and not whole.test.facet:
            yield _Cell(None, smallest)
        else:
            change = _change(
                whole.testbed, whole.system, whole.metric, whole.info, {facet: value}, tuple(pairs), alpha, worse=worse
            )
            yield _Cell(replace(change, all_pairs=whole.all_pairs), smallest_p(len(change.test.changes)))


def _order(facet: str, value: str) -> tuple[int, str, str]:
    return _PREFERRED.get(facet, len(_PREFERRED)), facet, value


def _rank(change: Change) -> tuple[int, str, str]:
    return _order(*next(iter(change.slice.items())))
