"""The summary after the session, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from pytest_rageval.analysis.matrix import FEW
from pytest_rageval.analysis.verdicts import GateResult, MetricInfo
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run import MatrixChoice, Run
from pytest_rageval.report.tables import MOST, curve_blocks, matrix_blocks

__all__ = ["Line", "gate_failure", "summary_lines"]

Style = Literal["", "green", "red", "yellow", "bold"]

_STYLE: dict[str, Style] = {"passed": "green", "failed": "red", "skipped": "yellow"}


class Line(NamedTuple):
    """A line of text and how it is shown where colour is wanted."""

    text: str
    style: Style = ""


def summary_lines(run: Run, choice: MatrixChoice, width: int, verbosity: int) -> Iterator[Line]:
    """Yield the summary: counts, matrices, noise curves, gates, warnings.

    Args:
        run: the run, its gates evaluated.
        choice: which matrix is wanted.
        width: columns of the terminal.
        verbosity: pytest's; -1 leaves out curves and gates that hold, -2 all but failed gates.
    """
    if verbosity > -2:
        yield Line(_counts(run), "bold")
        yield from _matrices(run, choice, width)
        if verbosity > -1:
            yield from _curves(run, width)
    yield from _gates(run, failed_only=verbosity < 0)
    if verbosity > -2:
        yield from _warnings(run)


def gate_failure(result: GateResult) -> str:
    """Return a failed gate as text: value, n, errors, interval, bound, and the worst cases."""
    head = [f"gate {result.gate} failed: {result.reason}"]
    facts = [
        f"value {_number(result.value)}",
        f"n {result.n}",
        f"errors {result.n_errors}",
        f"95 % interval {_interval(result)}",
        f"bound {result.gate.op} {result.gate.bound_text}",
    ]
    if result.cells:
        cell = ", ".join(f"{key}={value}" for key, value in (result.slice or {}).items())
        failed = sum(cell.status == "failed" for cell in result.cells)
        facts.append(f"worst cell {cell} ({failed} of {len(result.cells)} cells fail)")
    head.append("  " + " · ".join(facts))
    if result.worst:
        head.append("  worst cases:")
        head.extend(f"    {_number(value)}  {nodeid}" for nodeid, value in result.worst)
    return "\n".join(ascii_safe(line) for line in head)


def _counts(run: Run) -> str:
    outcomes = list(run.outcomes.values())
    by_status = {status: sum(o.status == status for o in outcomes) for status in ("scored", "error", "skipped")}
    cases = _counted(len(outcomes), "case")
    parts = [f"{cases}: {by_status['scored']} scored", _counted(by_status["error"], "error")]
    if by_status["skipped"]:
        parts.append(f"{by_status['skipped']} skipped")
    if unfinished := run.unfinished().total():
        parts.append(f"{unfinished} not run")
    if run.plan.unselected:
        parts.append(f"{run.plan.unselected} not selected")
    systems = sorted({outcome.system for outcome in outcomes})
    return ascii_safe(f"{', '.join(parts)} · system {', '.join(systems) or '–'}")


def _matrices(run: Run, choice: MatrixChoice, width: int) -> Iterator[Line]:
    legend = f" - mean (n); * n < {FEW}; +k unscored"
    for matrix in run.matrices(choice):
        system = f" · {matrix.system}" if matrix.system else ""
        yield Line("")
        yield Line(ascii_safe(f"{matrix.metric} by {matrix.row_facet} x {matrix.col_facet}{system}") + legend)
        for block in matrix_blocks(matrix, width):
            yield Line("")
            yield from map(Line, block)
        left_out = [
            f"{len(v) - MOST} more {w}" for v, w in ((matrix.rows, "rows"), (matrix.cols, "columns")) if len(v) > MOST
        ]
        if left_out:
            yield Line(f"... {' and '.join(left_out)} in results.json")
        legend = ""


def _curves(run: Run, width: int) -> Iterator[Line]:
    found = run.curves()
    several = len({system for _, system, _, _ in found}) > 1
    for metric in dict.fromkeys(metric for _, _, metric, _ in found):
        binary = run.plan.metrics.get(metric, MetricInfo()).binary
        rows = [
            (f"{name} ({system})" if several else name, binary, group)
            for name, system, its_metric, group in found
            if its_metric == metric
        ]
        yield Line("")
        yield Line(f"{metric} over noise rates")
        for block in curve_blocks(rows, metric, width):
            yield Line("")
            yield from map(Line, block)


def _gates(run: Run, *, failed_only: bool) -> Iterator[Line]:
    shown = [gate.result for gate in run.gates if gate.result.status == "failed" or not failed_only]
    if not shown:
        return
    yield Line("")
    yield Line("gates")
    room = min(40, max(len(str(result.gate)) for result in shown))
    scope = ""
    for result in shown:
        if result.scope != scope:
            scope = result.scope
            yield Line(ascii_safe(f"  {scope}"))
        yield Line(ascii_safe(_gate_text(result, room)), _STYLE[result.status])


def _gate_text(result: GateResult, room: int) -> str:
    facts = [f"{_number(result.value):>6}", f"n {result.n}"]
    if result.ci95 is not None:
        facts.append(_interval(result))
    if result.n_errors:
        facts.append(_counted(result.n_errors, "error"))
    if result.cells and result.slice:
        facts.append("worst at " + ", ".join(f"{key}={value}" for key, value in result.slice.items()))
    if result.status == "skipped":
        facts = [result.reason or ""]
    return f"    {result.status.upper()}  {result.gate!s:<{room}}  {'  '.join(facts)}"


def _warnings(run: Run) -> Iterator[Line]:
    notes = [f"{testbed.name}: {note}" for testbed in run.plan.testbeds.values() for note in testbed.notes]
    notes += run.plan.notes
    notes += [f"{name}: no gate and no assertion decides this testbed; it cannot fail" for name in run.undecided()]
    if notes:
        yield Line("")
    for note in notes:
        yield Line(ascii_safe(f"warning: {note}"), "yellow")


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _interval(result: GateResult) -> str:
    return "–" if result.ci95 is None else f"[{result.ci95[0]:.2f}, {result.ci95[1]:.2f}]"
