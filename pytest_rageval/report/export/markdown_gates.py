"""Write gates as Markdown tables: failed and inconclusive gates open, the others folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.model.facets import place_text
from pytest_rageval.report.export.markdown_text import MarkdownTable, Row, code, plain
from pytest_rageval.report.run.gate_results import reason_of
from pytest_rageval.report.run.gate_values import reason_without_values, values_of_result
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.gates import cells_text, n_text, unscored_text
from pytest_rageval.report.text.lines import interval, number

__all__ = ["gate_tables", "worst_case_tables"]

MAX_OPEN_GATES = 30
"""Maximum number of failed and inconclusive gates in the open table."""

_SIGNS = {"passed": "✅", "failed": "❌", "skipped": "➖"}


def gate_tables(run: Run) -> Iterator[MarkdownTable]:
    """Yield a table of the failed and inconclusive gates, then a folded one of the others."""
    gates = sorted((g.result for g in run.gates), key=lambda gate: (gate.status != "failed", not gate.undecided))
    if not gates:
        return
    compares = any(gate.regression for gate in gates)
    numbers = range(3, 7 if compares else 6)
    failed = sum(gate.status == "failed" for gate in gates)
    inconclusive = sum(gate.status != "failed" and bool(gate.undecided) for gate in gates)
    n_open = min(failed + inconclusive, MAX_OPEN_GATES)
    if n_open:
        counts_by_state = [f"{n} {state}" for n, state in ((failed, "failed"), (inconclusive, "inconclusive")) if n]
        rows = list(_rows(gates[:n_open], compares=compares, texts=run.texts))
        yield MarkdownTable(f"Gates: {', '.join(counts_by_state)}", rows, folded=False, numbers=numbers)
    if gates[n_open:]:
        counts = Counter("inconclusive" if gate.undecided else gate.status for gate in gates[n_open:])
        title = f"Gates: {', '.join(f'{n} {state}' for state, n in counts.items())}"
        rows = list(_rows(gates[n_open:], compares=compares, texts=run.texts))
        yield MarkdownTable(title, rows, folded=True, numbers=numbers)


def worst_case_tables(run: Run) -> Iterator[MarkdownTable]:
    """Yield a table of the worst cases of failed gates."""
    worst = [[code(str(g.result.gate)), code(name), number(value)] for g in run.gates for name, value in g.result.worst]
    if worst:
        rows = [["gate", "case", "value"], *worst]
        yield MarkdownTable(f"Worst cases of gates that failed ({len(worst)})", rows, folded=True, numbers=range(2, 3))


def _rows(gates: Sequence[GateResult], *, compares: bool, texts: bool) -> Iterator[Row]:
    yield ["", "gate", "of", *(["was", "now"] if compares else ["value"]), "n", "95 %", "why"]
    for gate in gates:
        values, n_cases = values_of_result(gate)
        is_part = n_cases != gate.n  # the interval is over all cases, not over the compared ones
        n = str(n_cases) if is_part else n_text(gate).removeprefix("n ")
        figures = [*([values.was] if compares else ()), values.now, n, "" if is_part else interval(gate.ci95)]
        sign = "⚠️" if gate.undecided else _SIGNS[gate.status]
        reasons = "; ".join(_reasons(gate, texts=texts))
        yield [sign, code(str(gate.gate)), code(gate.scope), *map(plain, figures), plain(reasons)]


def _difference_text(gate: GateResult) -> Iterator[str]:
    """Yield the difference from the baseline with its interval, if a gate has one."""
    paired = None if gate.regression is None else gate.regression.test
    if gate.regression is not None and paired is not None and paired.delta is not None and not gate.not_comparable:
        yield f"{round(paired.delta, 2) + 0.0:+.2f} {interval(paired.ci95)}"


def _reasons(gate: GateResult, *, texts: bool) -> Iterator[str]:
    """Yield why a gate did not pass, its unscored answers, and its failed cells or its worst cell."""
    reason = reason_of(gate, texts=texts) or ""
    if gate.unscored and "unscored" not in reason:
        yield unscored_text(gate.unscored)
    if gate.status != "passed":
        if reason := reason_without_values(reason, gate.gate, place_text(gate.own_slice)):
            yield reason
        if gate.status == "failed" and len(gate.cells) > 1:
            yield cells_text(gate)
        return
    yield from _difference_text(gate)
    if gate.undecided:
        yield "inconclusive: too few cases to decide"
    if gate.cells:
        yield f"worst at {place_text(gate.slice)}"
