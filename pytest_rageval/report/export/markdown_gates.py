"""The gates of a run as tables of Markdown: those that failed in the open, many that hold folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rageval.analysis.verdicts import GateResult
from pytest_rageval.model.facets import place_text
from pytest_rageval.report.export.markdown_text import FEW_ROWS, Part, Row, code, plain
from pytest_rageval.report.run.gate_results import reason_of
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.sections.comparison import p_text
from pytest_rageval.report.sections.gates import cells_text, n_text
from pytest_rageval.report.text.lines import counted, interval, number, signed

__all__ = ["gate_parts", "worst_parts"]

OPEN_ROWS = 30
"""Gates that are shown unfolded where there are many, as they failed or may hide a drop."""

_SIGNS = {"passed": "✅", "failed": "❌", "skipped": "➖"}


def gate_parts(run: Run) -> Iterator[Part]:
    """Yield the gates, those that failed or may hide a drop first; of many the others are folded."""
    gates = sorted((g.result for g in run.gates), key=lambda gate: (gate.status != "failed", not gate.undecided))
    if not gates:
        return
    head, *rows = _rows(gates, texts=run.texts)
    urgent = sum(gate.status == "failed" or bool(gate.undecided) for gate in gates)
    shown = len(rows) if len(rows) <= FEW_ROWS else min(urgent, OPEN_ROWS)
    title, numbers = f"Gates ({len(rows)})", range(3, 6)
    if shown:
        yield Part(title, [head, *rows[:shown]], folded=False, numbers=numbers)
        title = counted(len(rows) - shown, "more gate")
    if rows[shown:]:
        yield Part(title, [head, *rows[shown:]], folded=True, numbers=numbers)


def worst_parts(run: Run) -> Iterator[Part]:
    """Yield the worst cases of the gates that failed."""
    worst = [[code(str(g.result.gate)), code(name), number(value)] for g in run.gates for name, value in g.result.worst]
    if worst:
        rows = [["gate", "case", "value"], *worst]
        yield Part(f"Worst cases of gates that failed ({len(worst)})", rows, folded=True, numbers=range(2, 3))


def _rows(gates: Sequence[GateResult], *, texts: bool) -> Iterator[Row]:
    compares = any(gate.regression for gate in gates)
    against = ["against the baseline"] if compares else []
    yield ["", "gate", "of", "value", "n", "95 %", *against, "why"]
    for gate in gates:
        n = n_text(gate).removeprefix("n ")
        facts = [number(gate.value), n, interval(gate.ci95), *([_against(gate)] if compares else [])]
        sign = "⚠️" if gate.undecided else _SIGNS[gate.status]
        why = "; ".join(_why(gate, texts=texts))
        yield [sign, code(str(gate.gate)), code(gate.scope), *map(plain, facts), plain(why)]


def _against(gate: GateResult) -> str:
    told = gate.regression
    if told is None or told.found.delta is None or gate.not_comparable:
        return "not comparable" if gate.not_comparable else ""
    return f"{signed(told.found.delta)} {interval(told.found.ci95)}, {p_text(told.p_value)}"


def _why(gate: GateResult, *, texts: bool) -> Iterator[str]:
    """Yield why a gate did not pass, and where its cells fail or are lowest."""
    if gate.status != "passed":
        yield reason_of(gate, texts=texts)
        if gate.status == "failed" and len(gate.cells) > 1:
            yield cells_text(gate)
        return
    if gate.undecided:
        yield "inconclusive: too few cases to tell a drop from noise"
    if gate.cells:
        yield f"worst at {place_text(gate.slice)}"
