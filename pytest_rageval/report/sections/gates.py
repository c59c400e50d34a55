"""The section on gates, and the failure text of a failed gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from pytest_rageval.analysis.account.sentences import OPPOSITE, two_values
from pytest_rageval.analysis.baseline.failure_cause import causes_of, n_by_answer
from pytest_rageval.analysis.baseline.regression import Regression
from pytest_rageval.analysis.corrected_cases import EARLIER_LABELS, LabelsUsed
from pytest_rageval.analysis.decisions.selected_part import is_not_decided
from pytest_rageval.analysis.decisions.verdicts import DESELECTED, NOT_DECIDED, GateResult
from pytest_rageval.analysis.decisions.worst_cases import Flaws
from pytest_rageval.errors import ascii_safe
from pytest_rageval.model.facets import place_text
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.comparison import causes_text, p_text
from pytest_rageval.report.sections.section import Screen, TerminalSection
from pytest_rageval.report.text.lines import Line, Style, counted, few_of, in_units, interval, number, wrap

__all__ = ["GATES", "cells_text", "gate_failure", "gate_headline", "gate_lines", "n_text", "unscored_text"]

_STYLE: dict[str, Style] = {"passed": "green", "failed": "red", "skipped": "yellow"}
MAX_CASES = 10  # cases of each kind to list for a failed gate
INDENT = 12  # columns before the details of a gate
MAX_SKIPPED = 3  # deselected or partial gates to list; more are only counted
WIDTH = 80  # columns of a failure text, which is written before the terminal's width is known
_PARTIAL_TEXT = "not decided: only a part of their cases was selected"
FACTS_WIDTH = 42  # columns of a gate's state, value, n and interval


def gate_failure(result: GateResult) -> str:
    """Return the failure text of a gate: value and bound first, then the details, then the worst cases."""
    head = [gate_headline(result)]
    facts = [
        *([_labels_text(result.labels)] if result.labels is not None and result.value is not None else ()),
        *([counted(result.n_errors, "error")] if result.n_errors else ()),
        *([unscored_text(result.unscored)] if result.unscored and "unscored" not in head[0] else ()),
        *([f"95 % {interval(result.ci95)}"] if result.ci95 is not None else ()),
    ]
    if result.n_cases is not None or result.n_units is not None:
        facts.insert(0, n_text(result))
    if result.regression is not None:
        facts += [] if result.not_comparable else _baseline_texts(result, result.regression)
        if result.regression.broken:
            facts.append(_causes(result.regression))
    if result.cells:
        facts.append(cells_text(result))
    if result.small:
        facts.append(_small_text(result))
    lines = wrap(Line("  " + " · ".join(facts)), WIDTH, between=" · ") if facts else iter(())
    if result.flaws is not None:
        lines = chain(lines, wrap(Line(f"  {_flaws_text(result.flaws)}"), WIDTH, indent=4))
    head += [line.text for line in lines]
    if result.worst:
        head.append("  worst cases:")
        head.extend(f"    {number(value)}  {nodeid}" for nodeid, value in result.worst)
    return "\n".join(ascii_safe(line) for line in head)


def gate_headline(result: GateResult) -> str:
    """Return ``0.18 < 0.33 (n 77, was 0.35) at task=qa``, or why the gate cannot be decided."""
    gate, value, regression = result.gate, result.value, result.regression
    place = f" at {place_text(result.own_slice)}" if result.cells and result.own_slice else ""
    if regression is not None and regression.verdict == "worse" and regression.test.baseline is not None:
        was, value = regression.test.baseline, regression.test.value or 0.0
        now, bound = two_values(value, was + gate.bound)
        return f"{now} {OPPOSITE[gate.op]} {bound} (n {regression.test.n_pairs}, was {was:.2f}){place}"
    if gate.baseline or value is None or result.bias or gate.holds(value):
        return result.reason or ""
    now, bound = two_values(value, gate.bound)
    return f"{now} {OPPOSITE[gate.op]} {bound} (n {result.n}){place}"


def cells_text(result: GateResult) -> str:
    """Return ``fails in 2 of 5 cells``."""
    failed = sum(cell.status == "failed" for cell in result.cells)
    return f"fails in {failed} of {counted(len(result.cells), 'cell')}"


def _lines(run: Run, screen: Screen) -> Iterator[Line]:
    yield from gate_lines([gate.result for gate in run.gates], screen.width, list_all=True)


GATES = TerminalSection(_lines)


def gate_lines(results: Sequence[GateResult], width: int, *, list_all: bool = False) -> Iterator[Line]:
    """Yield the gates by scope, with their comparison with the baseline and the repeats of their cases.

    More than `MAX_SKIPPED` gates without a selected case, or with only part of their cases, are counted, not listed;
    ``list_all`` lists them too.
    """
    if not results:
        return
    yield Line("")
    yield Line("gates")
    shown = list(results)
    for is_kind, what in ((_is_deselected, "skipped: all their cases were deselected"), (_is_partial, _PARTIAL_TEXT)):
        gates = [result for result in shown if is_kind(result)]
        if not list_all and len(gates) > MAX_SKIPPED:
            shown = [result for result in shown if not is_kind(result)]
            yield Line(f"  {len(gates)} gates {what}", "yellow")
    room = min(max((len(str(result.gate)) for result in shown), default=0), max(0, width - FACTS_WIDTH))
    scope = ""
    for result in shown:
        if result.scope != scope:
            scope = result.scope
            yield Line(ascii_safe(f"  {scope}"))
        for line in _gate_lines(result, room):
            yield from wrap(line, width, between="  ", indent=INDENT)


def _is_deselected(result: GateResult) -> bool:
    return result.status == "skipped" and result.reason == DESELECTED


def _is_partial(result: GateResult) -> bool:
    return is_not_decided(result.status, result.reason)


def _gate_lines(result: GateResult, room: int) -> Iterator[Line]:
    undecided = _undecided_text(result)
    style = "yellow" if undecided else _STYLE[result.status]
    margin = " " * INDENT
    yield Line(ascii_safe(_gate_text(result, room)), style)
    if result.regression is not None and result.status != "skipped":
        yield Line(f"{margin}{'  '.join(_baseline_texts(result, result.regression))}", style)
        if result.status == "failed" and result.regression.broken:
            yield Line(f"{margin}{_causes(result.regression)}", style)
    if undecided:
        yield Line(ascii_safe(f"{margin}{undecided}"), "yellow")
    if result.flaws is not None:
        yield Line(ascii_safe(f"{margin}{_flaws_text(result.flaws)}"))


def _gate_text(result: GateResult, room: int) -> str:
    facts = [f"{number(result.value):>6}", n_text(result)]
    if result.ci95 is not None:
        facts.append(interval(result.ci95))
    if result.labels is not None:
        facts.append(_labels_text(result.labels))
    if result.n_errors:
        facts.append(counted(result.n_errors, "error"))
    if result.bias:
        facts.append(result.bias)
    if result.unscored:
        facts.append(unscored_text(result.unscored))
    if result.cells and result.slice:
        facts.append(f"worst at {place_text(result.slice)}")
    if result.status == "skipped" or (result.reason or "").startswith(NOT_DECIDED):
        facts = [result.reason or ""]
    if result.small:
        facts.append(_small_text(result))
    return f"    {result.status.upper()}  {result.gate!s:<{room}}  {'  '.join(facts)}"


def _baseline_texts(result: GateResult, regression: Regression) -> list[str]:
    """Return the texts that compare a gate, or the cell that decides it, with the baseline."""
    paired = regression.test
    if result.not_comparable:
        return [ascii_safe(result.reason or "")]
    if paired.delta is None:
        return ["nothing to compare in the baseline"]
    least = ["no detectable drop" if paired.least_drop is None else f"smallest detectable drop {paired.least_drop:.3g}"]
    over = counted(paired.n_pairs, "case") + in_units(paired.n_units if paired.facet else None, paired.facet)
    if not paired.delta and not regression.broken:
        return [f"as in the baseline over {over}", *least]
    now = "" if number(paired.value) == number(result.value) else f", now {number(paired.value)}"
    change = f"was {number(paired.baseline)}{now}, {paired.delta:+.3g} {interval(paired.ci95)}"
    if result.status == "passed" and not result.undecided:
        return [f"{change} over {over}", *least]
    corrected = f", corrected over {regression.family} comparisons" if regression.family > 1 else ""
    return [change, f"one-sided {p_text(regression.p_value)} over {over}{corrected}", *least]


def _causes(regression: Regression) -> str:
    """Return the causes of the cases that broke: ``broke: retrieval 5, generation 2``."""
    pairs, metric_of = regression.broken, regression.of
    return f"broke: {causes_text(causes_of(pairs, metric_of), n_by_answer(pairs, metric_of))}"


def _undecided_text(result: GateResult) -> str:
    """Return why drops of a passed gate are inconclusive, and in which cells; "" if none is."""
    cells = result.undecided
    if not cells:
        return ""
    why = "too few cases to decide"
    if not any(cell.regression and cell.regression.test.n_pairs for cell in cells):
        why = "not in the baseline"
    if not result.cells:
        return f"inconclusive: {why}"
    places = few_of(tuple(place_text(cell.slice) for cell in cells), 3)
    return f"inconclusive in {len(cells)} of {len(result.cells)} cells: {why} ({places})"


def _small_text(result: GateResult) -> str:
    """Return the cells that are too small to judge, with their numbers of cases."""
    places = few_of(tuple(f"{place_text(cell.slice)} {n_text(cell)}" for cell in result.small), 3)
    return f"{len(result.small)} of {len(result.cells)} cells not judged, n < {result.gate.min_n} ({places})"


def n_text(result: GateResult) -> str:
    """Return ``n 12``, ``n 36 of 12 cases`` with repeats, or ``n 100 in 20 dialogues`` with dependent cases."""
    of = "" if result.n_cases is None else f" of {counted(result.n_cases, 'case')}"
    return f"n {result.n}{of}{in_units(result.n_units, result.unit)}"


def _labels_text(labels: LabelsUsed) -> str:
    """Return ``30 labels``, or ``30 labels of earlier answers``."""
    return f"{labels.n} {EARLIER_LABELS}" if labels.source == EARLIER_LABELS else counted(labels.n, "label")


def unscored_text(unscored: Mapping[str, int]) -> str:
    """Return ``5 unscored (no_ranking)``, or ``5 unscored (3 no_ranking, 2 no_texts)``."""
    reasons = tuple(unscored) if len(unscored) == 1 else tuple(f"{n} {why}" for why, n in unscored.items())
    return f"{sum(unscored.values())} unscored ({few_of(reasons, 3)})"


def _flaws_text(flaws: Flaws) -> str:
    return f"missed in every repeat: {few_of(flaws.always, MAX_CASES)}; flipping: {few_of(flaws.flipping, MAX_CASES)}"
