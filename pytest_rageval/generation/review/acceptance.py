"""Compute the share of graded cases that people accepted, per cell and overall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.output.report import markdown_table
from pytest_rageval.generation.quotas import cells_of
from pytest_rageval.generation.review.apply_decisions import GRADE
from pytest_rageval.generation.review.decision import ACCEPTED, MEND
from pytest_rageval.generation.split import Sets
from pytest_rageval.metrics.shared.proportion import wilson_interval

__all__ = ["Acceptance", "acceptance_lines", "acceptance_of", "acceptances", "review_section"]


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Counts of cases by grade: graded, accepted (4, 5), to correct (3) and dropped (1, 2)."""

    graded: int
    accepted: int
    mended: int
    dropped: int

    @property
    def share(self) -> str:
        """The accepted share with Wilson's 95 % interval, ``87.5 % [85.2, 89.5] of 910``; "" without grades."""
        if not self.graded:
            return ""
        low, high = wilson_interval(self.accepted, self.graded)
        return f"{100 * self.accepted / self.graded:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {self.graded:,}"


def acceptance_of(grades: Iterable[int]) -> Acceptance:
    """Count cases by grade; ``grades`` has one grade per case."""
    grades = list(grades)
    accepted, mended = sum(grade >= ACCEPTED for grade in grades), grades.count(MEND)
    return Acceptance(len(grades), accepted, mended, len(grades) - accepted - mended)


def acceptances(drafts: Iterable[Draft]) -> dict[tuple[str, str], Acceptance]:
    """Return the acceptance of each topic and task with graded drafts, sorted."""
    graded = [draft for draft in drafts if GRADE in draft.verdicts]
    return {cell: acceptance_of(map(_grade, members)) for cell, members in cells_of(graded, ()).items()}


def acceptance_lines(drafts: Sequence[Draft]) -> Iterator[str]:
    """Yield terminal lines with the acceptance overall and per cell; nothing without grades."""
    cells = acceptances(drafts)
    if not cells:
        return
    overall = _overall(drafts)
    yield f"accepted by people: {overall.share} ({overall.mended:,} to mend, {overall.dropped:,} dropped)"
    if len(cells) > 1:
        yield from (f"  topic={topic or '-'}, task={task}: {cell.share}" for (topic, task), cell in cells.items())


def review_section(material: Material, drafts: Sequence[Draft], sets: Sets) -> Iterator[str]:
    """Yield the section of report.md with the acceptance overall and per cell."""
    cells = acceptances(drafts)
    if not cells:
        return
    yield from ("## Review by people", "")
    yield f"Accepted (grade {ACCEPTED} or 5): {_overall(drafts).share}. The brackets are Wilson's 95 % interval."
    yield ""
    rows = [
        (topic or "-", task, *map(str, (cell.graded, cell.accepted, cell.mended, cell.dropped)), cell.share)
        for (topic, task), cell in cells.items()
    ]
    yield from markdown_table(("topic", "task", "graded", "accepted", "mend", "drop", "accepted, 95 %"), rows)


def _overall(drafts: Iterable[Draft]) -> Acceptance:
    return acceptance_of(_grade(draft) for draft in drafts if GRADE in draft.verdicts)


def _grade(draft: Draft) -> int:
    return int(draft.verdicts[GRADE])
