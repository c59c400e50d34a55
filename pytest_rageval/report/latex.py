"""Matrices as LaTeX tables with the rules of booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_rageval.analysis.matrix import Matrix
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.matrix_lines import matrix_rows, matrix_title
from pytest_rageval.report.tables import INDENT

__all__ = ["matrices_latex"]


def matrices_latex(matrices: Iterable[Matrix]) -> str:
    """Return each matrix as a ``tabular`` of its own, with what it shows as a comment above it.

    What LaTeX takes for commands is escaped; characters beyond ASCII stay, as XeLaTeX and LuaLaTeX read them.
    """
    return "\n".join(f"% {ascii_safe(matrix_title(each))}\n{_tabular(matrix_rows(each))}\n" for each in matrices)


def _tabular(table: Sequence[Sequence[str]]) -> str:
    from tabulate import tabulate

    head, *rows = [list(map(_safe, row)) for row in table]
    align = ["left", *["right"] * (len(head) - 1)]
    text = tabulate(rows, head, tablefmt="latex_booktabs", disable_numparse=True, colalign=align)
    return text.replace(INDENT, r"\quad ")


def _safe(text: str) -> str:
    indent = len(text) - len(text.lstrip(INDENT))
    return INDENT * (indent > 0) + ascii_safe(text[indent:])
