"""Format the comparison of two runs for `rageval compare`: cases, metrics and cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.account.finding import CAUSES_OF_FAILURE, Account
from pytest_rageval.analysis.baseline.comparison import Comparison, MetricComparison
from pytest_rageval.analysis.baseline.sensitivity import Sensitivity
from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.sections.comparison import (
    broken_lines,
    cases_by_kind,
    cases_text,
    change_columns,
    p_text,
    row_name,
    verdict_lines,
)
from pytest_rageval.report.text.lines import Line, Style, counted, few_of, moment, number, wrap
from pytest_rageval.report.text.tables import MAX_SHOWN, table

__all__ = ["account_lines", "compare_lines", "plan_lines"]

_STYLES: dict[str, Style] = {"passed": "green", "failed": "red", "open": "yellow"}

MAX_CASES = 10  # cases of each kind to list
MAX_UNSHARED = 3  # cases of each kind to list for runs that share no case


def account_lines(account: Account | None, width: int) -> Iterator[Line]:
    """Yield the verdict of a comparison and its numbered causes; nothing if the later run has no account."""
    if account is None:
        return
    yield from wrap(Line(ascii_safe(account.verdict), _STYLES[account.state]), width)
    for at, finding in enumerate(account.findings, 1):
        number_of_cause = f"{at}" if finding.kind in CAUSES_OF_FAILURE else " "
        yield from wrap(Line(ascii_safe(f"  {number_of_cause} {finding.sentence}")), width, indent=4)
    yield Line("")


def compare_lines(comparison: Comparison, width: int, alpha: float, account: Account | None) -> Iterator[Line]:
    """Yield a line on each run, and tables of changed metrics and cells, worst first.

    Without an account, sentences list the broken and fixed cases and the significant changes.
    """
    yield Line(ascii_safe(f"old: {_head(comparison.before)}"))
    yield Line(ascii_safe(f"new: {_head(comparison.after)}"))
    if not comparison.overall:
        yield from wrap(Line(ascii_safe(_nothing_compared(comparison)), "yellow"), width)
        return
    yield Line(cases_text(comparison))
    for kind, names in cases_by_kind(comparison.pairing).items():
        if names:
            yield Line(ascii_safe(f"  {kind}: {few_of(names, MAX_CASES)}"))
    overall = comparison.overall
    changed = _worst_first(overall, comparison)
    if account is None:
        yield Line("")
        for line in verdict_lines(comparison, changed, alpha):
            yield from wrap(line, width)
    if changed:
        yield Line("")
        yield from _changes(["", *(row_name(each, comparison) for each in changed)], changed, width)
        if account is not None:
            yield from broken_lines(comparison, account.dropped)
    if n_unchanged := len(overall) - len(changed):
        yield Line(f"{counted(n_unchanged, 'metric')} unchanged")
    for metric in changed:
        yield from _cells(metric, comparison, width)


def _nothing_compared(comparison: Comparison) -> str:
    """Return why two runs cannot be compared: their cases of each kind, and what to do."""
    kinds = {"compared, without a score": tuple(pair.after.name for pair in comparison.pairing.pairs)}
    kinds |= cases_by_kind(comparison.pairing)
    parts = [f"{len(names):,} {kind} ({few_of(names, MAX_UNSHARED)})" for kind, names in kinds.items() if names]
    counts = f": {', '.join(parts)}" if parts else ""
    advice = "name two runs of the same cases (rageval runs lists the runs)"
    return f"nothing to compare: no case has a score in both runs{counts}; {advice}"


def _worst_first(compared: Sequence[MetricComparison], comparison: Comparison) -> list[MetricComparison]:
    """Return the comparisons with a changed case, from the largest loss to the largest gain."""

    def gain(each: MetricComparison) -> float:
        info = comparison.after.metrics.get(each.metric)
        sign = 1 if info is None or info.higher_is_better else -1
        return sign * (each.test.delta or 0.0)

    return sorted((each for each in compared if each.broken or each.fixed), key=gain)


def plan_lines(plan: Sequence[Sensitivity], comparison: Comparison, drop: float, width: int) -> Iterator[Line]:
    """Yield the number of cases that each primary metric needs to detect a drop, and the drop that today's detect.

    Args:
        plan: the sensitivity of each primary metric.
        comparison: the comparison of the two runs.
        drop: the drop to detect, in 0..1.
        width: columns of the terminal.
    """
    names = [row_name(each.comparison, comparison) for each in plan]
    dependent = any(each.comparison.test.facet for each in plan)
    columns = [
        ["cases", *(str(each.comparison.test.n_pairs) for each in plan)],
        *([["units", *(str(each.comparison.test.n_units) for each in plan)]] if dependent else ()),
        ["changing", *(f"{each.comparison.test.changing:.1%}" for each in plan)],
        ["detectable drop", *(number(each.comparison.test.least_drop) for each in plan)],
        [f"needed for {drop:g}", *("–" if each.needed is None else f"{each.needed:,}" for each in plan)],
    ]
    yield Line("")
    unit = "independent units" if dependent else "cases"
    unchanged = [not each.comparison.broken and not each.comparison.fixed for each in plan]
    share = "if at most this share changes by chance" if all(unchanged) else "if as many change by chance as here"
    yield Line(f"{unit} that a drop of {drop:g} needs to be found with 80 % power, {share}")
    yield from table(["", *names], columns, width)
    if any(unchanged):
        which = "" if all(unchanged) else f" of {names[unchanged.index(True)]}"
        bound = f"an upper bound of the share of {unit} that change by chance, because none changed here"
        yield from wrap(Line(f"changing{which}: {bound}"), width)


def _head(snapshot: Snapshot) -> str:
    name = " ".join(dict.fromkeys(filter(None, (snapshot.path, snapshot.run and f"(run {snapshot.run})"))))
    cases = counted(len(snapshot.originals), "case")
    return f"{name or 'a run'}, of {moment(snapshot.started)}, {cases} of {', '.join(snapshot.systems) or 'no system'}"


def _changes(names: Sequence[str], shown: Sequence[MetricComparison], width: int) -> Iterator[Line]:
    """Yield tables of comparisons with all their statistics; ``names`` are the labels, the head first."""
    tests = [
        ["p", *(p_text(each.test.p_value).removeprefix("p ") for each in shown)],
        ["detectable drop", *(number(each.test.least_drop) for each in shown)],
    ]
    known = [column for column in tests if set(column[1:]) != {"–"}]
    yield from table(names, [*change_columns(shown), *known], width)


def _cells(metric: MetricComparison, comparison: Comparison, width: int) -> Iterator[Line]:
    """Yield a table of the changed cells of a metric, and the number of its other cells."""
    cells = comparison.cells_of(metric)
    changed = _worst_first(cells, comparison)
    if not changed:
        return
    shown = changed[:MAX_SHOWN]
    yield Line("")
    yield Line(ascii_safe(row_name(metric, comparison)))
    axes = " x ".join(dict.fromkeys(axis for each in shown for axis in each.slice))
    yield from _changes([axes, *(" x ".join(each.slice.values()) for each in shown)], shown, width)
    if len(cells) > len(shown):
        n_unchanged = len(cells) - len(changed)
        rest = [f"{n_unchanged} without a change"] if n_unchanged else []
        rest += [f"{len(changed) - len(shown)} more with one"] if len(changed) > len(shown) else []
        yield Line(f"of {counted(len(cells), 'cell')} {', '.join(rest)}")
