"""The comparison with the baseline in the summary: broken and fixed cases, changes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from pytest_rageval.analysis.account.sentences import broken_text
from pytest_rageval.analysis.baseline.comparison import Comparison, MetricComparison
from pytest_rageval.analysis.baseline.failure_cause import CAUSES, Cause
from pytest_rageval.analysis.baseline.pairing import Pair, Pairing
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.section import Screen, TerminalSection
from pytest_rageval.report.text.lines import Line, Style, counted, few_of, moment
from pytest_rageval.report.text.tables import table

__all__ = [
    "ALL_NOISE", "COMPARISON", "NO_PAIR", "broken_lines", "cases_by_kind", "cases_text", "causes_text",
    "change_columns", "change_text", "comparison_lines", "moved_text", "p_text", "row_name", "row_text",
    "unchanged_text", "verdict_lines",
]  # fmt: skip

NO_PAIR = "nothing to compare: no case of this run is in the baseline with a score"
ALL_NOISE = "no significant change"
UNCHANGED = "no score changed"
MAX_CASES = 10  # broken or fixed cases to list


def _lines(run: Run, screen: Screen) -> Iterator[Line]:
    comparison = run.comparison(screen.choice)
    if comparison is not None:
        failed = any(gate.result.regressed for gate in run.gates)
        yield from comparison_lines(comparison, screen.width, run.plan.alpha, failed=failed)
        yield from broken_lines(comparison, account_of(run).dropped)


COMPARISON = TerminalSection(_lines)


def comparison_lines(comparison: Comparison, width: int, alpha: float, *, failed: bool = False) -> Iterator[Line]:
    """Yield the number of compared cases, a table of changed metrics, and the changed cases.

    The table has the changed primary metrics and all significantly changed metrics. If a baseline gate ``failed``, no
    line says that no change is significant, because the gate's test is one-sided and has its own cells.
    """
    yield Line("")
    yield Line(ascii_safe(_head(comparison)))
    overall = comparison.overall
    if not overall:
        yield Line(NO_PAIR, "yellow")
        return
    changed = [each for each in overall if each.broken or each.fixed]
    shown = [each for each in changed if comparison.is_primary(each) or each.is_significant(alpha)]
    if shown:
        yield from table(["", *(row_name(each, comparison) for each in shown)], change_columns(shown), width)
        yield Line("")
    yield from verdict_lines(comparison, shown, alpha, failed=failed)
    if more := len(changed) - len(shown):
        them = "it" if more == 1 else "them"
        yield Line(f"{counted(more, 'metric')} more changed, not significantly; results.json has {them}")


def broken_lines(comparison: Comparison, dropped: Collection[str]) -> Iterator[Line]:
    """Yield a line on the cases that broke by the primary metrics and how many of them the verdict counts, if any."""
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    broken = [pair.after.name for each in primary for pair in each.broken]
    if broken:
        yield Line(broken_text(broken, dropped))


def change_text(each: MetricComparison, comparison: Comparison) -> str:
    """Return a sentence on the change of a metric, over all cases or in one cell."""
    cells = len(comparison.cells_of(each))
    return moved_text(row_name(each, comparison), each.slice, each.test.delta, each.p_holm, cells)


def moved_text(name: str, place: Mapping[str, str], delta: float | None, p_holm: float | None, cells: int) -> str:
    """Return ``desk accuracy fell by 0.26, p 0.031``; for a cell, also the number of ``cells`` of the correction."""
    over = "" if delta is None else f" by {abs(delta):.3g}"
    verb = "fell" if (delta or 0) < 0 else "rose"
    where = f" in ({' x '.join(place.values())})" if place else ""
    corrected = f" after correction over {cells} cells" if place else ""
    return f"{name}{where} {verb}{over}, {p_text(p_holm)}{corrected}"


def causes_text(causes: Mapping[Cause, int], by_answer: int = 0) -> str:
    """Return ``retrieval 5, generation 2``, and how many of these causes only the answer shows."""
    parts = [f"{cause} {causes[cause]}" for cause in CAUSES if causes.get(cause)]
    if by_answer:
        parts.append("by answer" if by_answer == sum(causes.values()) else f"{by_answer} of them by answer")
    return ", ".join(parts)


def unchanged_text(unscored: Mapping[str, int]) -> str:
    """Return a sentence that no score changed; ``unscored`` is metric -> number of cases that lost their score."""
    if not unscored:
        return UNCHANGED
    lost = few_of(tuple(f"{metric} in {counted(n, 'case')}" for metric, n in unscored.items()), 3)
    return f"no score changed where both runs have one; no longer scored: {lost}"


def p_text(p_value: float | None) -> str:
    """Return ``p 0.041``, or ``p < 0.0001`` for a smaller one."""
    if p_value is None:
        return "no p"
    return f"p {p_value:.2g}" if p_value >= 0.0001 else "p < 0.0001"


def cases_text(comparison: Comparison) -> str:
    """Return the number of compared cases, and of the cases of each other kind: ``60 cases compared, 2 new``."""
    pairing = comparison.pairing
    parts = [f"{counted(len(pairing.pairs), 'case')} compared"]
    parts += [f"{len(names)} {what}" for what, names in cases_by_kind(pairing).items() if names]
    if comparison.whole and not comparison.same_fingerprint:
        parts.append("data or settings differ")
    return ", ".join(parts)


def cases_by_kind(pairing: Pairing) -> dict[str, tuple[str, ...]]:
    """Return kind -> names of the renamed, new, removed and changed cases, and of those in error."""

    def new_names(pairs: Sequence[Pair]) -> tuple[str, ...]:
        return tuple(pair.after.name for pair in pairs)

    return {
        "renamed": tuple(f"{pair.before.name} -> {pair.after.name}" for pair in pairing.renamed),
        "new": tuple(case.name for case in pairing.new),
        "removed": tuple(case.name for case in pairing.removed),
        "changed": new_names(pairing.changed),
        "in error": new_names(pairing.failed),
    }


def _head(comparison: Comparison) -> str:
    before = comparison.before
    return f"against {before.path or before.run}, of {moment(before.started)}: {cases_text(comparison)}"


def change_columns(shown: Sequence[MetricComparison]) -> list[list[str]]:
    """Return the columns of a table with one row for each comparison."""
    has_repeats = any(each.n > each.test.n_pairs for each in shown)
    return [
        ["was", *(_share(each.test.baseline) for each in shown)],
        ["now", *(_share(each.test.value) for each in shown)],
        ["change [95 %]", *(_change(each) for each in shown)],
        ["n", *(str(each.n) for each in shown)],
        *([["cases", *(str(each.test.n_pairs) for each in shown)]] if has_repeats else ()),
        *([["units", *(str(each.test.n_units) for each in shown)]] if any(each.test.facet for each in shown) else ()),
        ["broke", *(str(len(each.broken)) for each in shown)],
        ["fixed", *(str(len(each.fixed)) for each in shown)],
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _change(each: MetricComparison) -> str:
    delta, ci95 = each.test.delta, each.test.ci95
    if delta is None:
        return "–"
    change = f"{delta:+.3f}" if delta else "0"
    return change if ci95 is None else f"{change} [{ci95[0]:+.2f}, {ci95[1]:+.2f}]"


def verdict_lines(
    comparison: Comparison, shown: Sequence[MetricComparison], alpha: float, *, failed: bool = False
) -> Iterator[Line]:
    """Yield the broken and fixed cases of the primary metrics with their causes, then all significant changes."""
    for each in (each for each in shown if comparison.is_primary(each)):
        if each.broken:
            why = f" ({causes_text(each.causes, each.by_answer)})"
            yield Line(ascii_safe(f"{row_name(each, comparison)}: broke {_names(each.broken)}{why}"))
        if each.fixed:
            yield Line(ascii_safe(f"{row_name(each, comparison)}: fixed {_names(each.fixed)}"))
    significant = [each for each in comparison.results if each.is_significant(alpha)]
    for each in significant:
        text = change_text(each, comparison)
        if each.slice and each.broken:
            text += f"; broke: {causes_text(each.causes, each.by_answer)}"
        yield Line(ascii_safe(text), _style(each, comparison))
    if not significant:
        some = any(each.broken or each.fixed for each in comparison.results)
        if not (some and failed):
            yield Line(ALL_NOISE if some else unchanged_text(comparison.unscored))
        yield from _smallest_drops(comparison)
    if comparison.answers_changed:
        changed = counted(comparison.answers_changed, "case")
        yield Line(f"{changed} with another answer and the same scores")


def _smallest_drops(comparison: Comparison) -> Iterator[Line]:
    """Yield the smallest detectable drops of the primary metrics."""
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    known = sorted((each.test.least_drop, row_name(each, comparison)) for each in primary if each.test.least_drop)
    if known:
        drops = few_of(tuple(f"{name} {drop:.2g}" for drop, name in known), 3)
        yield Line(ascii_safe(f"smallest detectable drops: {drops}"))


def _style(each: MetricComparison, comparison: Comparison) -> Style:
    info = comparison.after.metrics.get(each.metric)
    rose = (each.test.delta or 0) > 0
    return "green" if rose == (info is None or info.higher_is_better) else "red"


def row_name(each: MetricComparison, comparison: Comparison) -> str:
    """Return the testbed and metric of a comparison, and the system if there are several."""
    several = len(comparison.after.systems) > 1
    return row_text(comparison.after.testbeds[each.testbed].name, each.metric, each.system if several else "")


def row_text(testbed: str, metric: str, system: str) -> str:
    """Return ``desk accuracy (careful)``; no parentheses if the system is ""."""
    return f"{testbed} {metric}" + (f" ({system})" if system else "")


def _names(pairs: Sequence[Pair]) -> str:
    """Return the ids of cases; a case with several settings appears once."""
    return few_of(tuple(dict.fromkeys(pair.after.case for pair in pairs)), MAX_CASES)
