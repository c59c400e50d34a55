"""One sentence on the smallest drop that a number of cases can detect."""

from __future__ import annotations

from pytest_rageval.analysis.baseline.power import cases_needed, least_drop
from pytest_rageval.report.text.lines import counted

__all__ = ["power_line"]

DROP = 0.05
"""The small drop of the sentence's second half."""


def power_line(n: int) -> str:
    """Return the smallest detectable drop of ``n`` cases, and the number of cases that a small drop needs."""
    least = least_drop(n, changing=0.0)
    detectable = (
        "no drop is detectable" if least is None else f"the smallest detectable drop is {100 * least:.3g} points"
    )
    return (
        f"With {counted(n, 'case')} {detectable}; a drop of {100 * DROP:.0f} points needs "
        f"{cases_needed(DROP, changing=0.0)} cases (found four times in five, if no answer changes by chance)."
    )
