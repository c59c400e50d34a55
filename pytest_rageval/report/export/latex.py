"""Matrices as LaTeX tables with the rules of booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_rageval.analysis.matrix import Matrix
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.sections.matrices import matrix_legend, matrix_rows, matrix_title
from pytest_rageval.report.text.tables import INDENT, MOST

__all__ = ["matrices_latex"]

APART = "\ue001"
"""Shown as an empty group at the beginning of a row, where LaTeX takes ``[`` and ``*`` for part of the break above."""


def matrices_latex(matrices: Iterable[Matrix]) -> str:
    """Return each matrix as a ``tabular`` of its own, with what it and its cells show as a comment above it.

    What LaTeX takes for commands is escaped; characters beyond ASCII stay, as XeLaTeX and LuaLaTeX read them.
    """
    return "\n".join(f"{_head(each)}\n{_tabular(matrix_rows(each))}\n" for each in matrices)


def _head(matrix: Matrix) -> str:
    sides = ((matrix.rows, "rows"), (matrix.cols, "columns"))
    left_out = [f"{len(values) - MOST} more {side} in results.json" for values, side in sides if len(values) > MOST]
    return "\n".join(f"% {ascii_safe(text)}" for text in (matrix_title(matrix), matrix_legend(matrix), *left_out))


def _tabular(table: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    head, *rows = [[_safe(label, apart=True), *map(_safe, cells)] for label, *cells in table]
    align = ["left", *["right"] * (len(head) - 1)]
    text = tabulate(rows, head, tablefmt="latex_booktabs", disable_numparse=True, colalign=align)
    return text.replace(INDENT, r"\quad ").replace(APART, "{}")


def _safe(text: str, *, apart: bool = False) -> str:
    indent = len(text) - len(text.lstrip(INDENT))
    mark = APART if apart and text.startswith(("[", "*")) else ""
    return INDENT * (indent > 0) + mark + ascii_safe(text[indent:])
