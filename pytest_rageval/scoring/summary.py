"""Write the summary of scores as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_rageval.report.files.gate_json import encode_gate
from pytest_rageval.report.files.matrix_json import encode_matrix
from pytest_rageval.report.run.cell_json import encode_cell
from pytest_rageval.report.sections.gates import gate_lines
from pytest_rageval.report.sections.matrices import matrix_lines
from pytest_rageval.report.text.lines import interval, number
from pytest_rageval.report.text.tables import table
from pytest_rageval.scoring.chunk import Leftovers
from pytest_rageval.scoring.merge import Figures
from pytest_rageval.scoring.scores import Scores

__all__ = ["lines_of", "summary_of", "text_of"]

WIDTH = 120
"""Characters of a line of ``summary.txt``."""


def summary_of(figures: Figures, leftovers: Leftovers) -> dict[str, Any]:
    """Return the figures in the format of ``summary.schema.json``; the order of input lines does not matter."""
    return {
        "schema": 1,
        "counts": {
            **figures.counts,
            "errors": dict(figures.errors),
            "unused": {"n": leftovers.n_unused, "first": list(leftovers.unused)},
            "unanswered": {"n": leftovers.n_unanswered, "first": [list(pair) for pair in leftovers.unanswered]},
            "long": leftovers.n_long,
        },
        "means": [
            {
                "testbed": each.testbed,
                "system": each.system,
                "metric": each.metric,
                **({"facet": each.facet, "value": each.value} if each.facet else {}),
                **encode_cell(each.cell),
            }
            for each in figures.means
        ],
        "gates": [encode_gate(gate, texts=True) for gate in figures.gates],
        "matrices": [encode_matrix(matrix) for matrix in figures.matrices],
    }


def text_of(scores: Scores) -> str:
    """Return the summary as text."""
    return "".join(f"{line}\n" for line in lines_of(scores, WIDTH))


def lines_of(scores: Scores, width: int) -> Iterator[str]:
    """Yield the lines of the summary: counts, means, matrices, gates, warnings."""
    figures = scores.figures
    yield ", ".join(f"{n} {status}" for status, n in sorted(figures.counts.items(), reverse=True))
    several = len(figures.plan.testbeds) > 1
    means = list(figures.means)
    names = [
        f"{each.testbed} " * several + each.system + (f" {each.facet}={each.value}" if each.facet else "")
        for each in means
    ]
    yield ""
    columns = [
        ["metric", *(each.metric for each in means)],
        ["mean", *(number(each.cell.mean) for each in means)],
        ["n", *(str(each.cell.n) for each in means)],
        ["unscored", *(str(each.cell.n_unscored) for each in means)],
        ["95 % interval", *(interval(each.cell.ci95) for each in means)],
    ]
    yield from (line.text for line in table(["", *names], columns, width))
    yield from (line.text for line in matrix_lines(figures.matrices, figures.plan.metrics, width))
    yield from (line.text for line in gate_lines(scores.gates, width, list_all=True))
    yield from ("", *(line for note in scores.notes for line in f"warning: {note}".split("\n"))) if scores.notes else ()
