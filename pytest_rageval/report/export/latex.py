"""Write matrices and other tables as LaTeX tables with booktabs rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_rageval.analysis.matrix import Matrix
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.sections.matrices import matrix_legend, matrix_rows, matrix_title
from pytest_rageval.report.sections.section import Table
from pytest_rageval.report.text.tables import INDENT, MAX_SHOWN

__all__ = ["matrices_latex", "tables_latex"]

GUARD = "\ue001"
"""Replaced by ``{}`` at the start of a row, where LaTeX would read ``[`` or ``*`` as an option of the line break."""


def matrices_latex(matrices: Iterable[Matrix]) -> str:
    """Return each matrix as its own ``tabular``, with its title and legend as a comment above.

    LaTeX commands are escaped. Characters beyond ASCII stay, because XeLaTeX and LuaLaTeX can read them.
    """
    return "\n".join(f"{_head(each)}\n{_tabular(matrix_rows(each))}\n" for each in matrices)


def tables_latex(tables: Iterable[Table]) -> str:
    """Return each table as its own ``tabular``, with its title and notes as comments above."""
    parts = []
    for each in tables:
        comments = [f"% {ascii_safe(text)}" for text in (each.title, *(note.text for note in each.notes))]
        parts.append("\n".join([*comments, _tabular(each.rows), ""]))
    return "\n".join(parts)


def _head(matrix: Matrix) -> str:
    sides = ((matrix.rows, "rows"), (matrix.cols, "columns"))
    left_out = [
        f"{len(values) - MAX_SHOWN} more {side} in results.json" for values, side in sides if len(values) > MAX_SHOWN
    ]
    return "\n".join(f"% {ascii_safe(text)}" for text in (matrix_title(matrix), matrix_legend(matrix), *left_out))


def _tabular(table: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    head, *rows = [[_safe(label, guard=True), *map(_safe, cells)] for label, *cells in table]
    align = ["left", *["right"] * (len(head) - 1)]
    text = tabulate(rows, head, tablefmt="latex_booktabs", disable_numparse=True, colalign=align)
    return text.replace(INDENT, r"\quad ").replace(GUARD, "{}")


def _safe(text: str, *, guard: bool = False) -> str:
    indent = len(text) - len(text.lstrip(INDENT))
    mark = GUARD if guard and text.startswith(("[", "*")) else ""
    return INDENT * (indent > 0) + mark + ascii_safe(text[indent:])
