"""Measure the agreement of reviewers who graded the same cases, by kappa and alpha."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.analysis.people.agreement import Agreement, Estimate, Rating, agreement
from pytest_rageval.generation.review.apply_decisions import valid_decisions
from pytest_rageval.generation.review.decision import GRADES
from pytest_rageval.generation.review.decisions_file import Decisions
from pytest_rageval.generation.review.folder import ReviewFolder

__all__ = ["agreement_lines", "agreement_of_reviewers"]

_LEVELS = tuple((grade - 1) / (len(GRADES) - 1) for grade in GRADES)
"""The grades 1..5 as numbers in 0..1, which the statistics need."""


def agreement_of_reviewers(folder: ReviewFolder, decisions: Decisions) -> Agreement | None:
    """Return the agreement on the cases that several people graded; None if there is no such case.

    Each case's grade by the alphabetically first reviewer is compared with the grades by the others.
    """
    ratings = []
    for draft in folder.sample:
        by_name = sorted(valid_decisions(draft, decisions), key=lambda each: each.reviewer)
        if len(by_name) > 1:
            first, *others = (_LEVELS[each.grade - 1] for each in by_name)
            ratings.append(Rating(draft.id, first, tuple(others)))
    return agreement(ratings, _LEVELS) if ratings else None


def agreement_lines(folder: ReviewFolder, decisions: Decisions) -> Iterator[str]:
    """Yield the agreement of reviewers as a line; nothing if no case has two grades."""
    result = agreement_of_reviewers(folder, decisions)
    if result is None:
        return
    cases = f"{result.n_cases:,} case{'' if result.n_cases == 1 else 's'} with two grades"
    kappa, alpha = _text(result.kappa_quadratic), _text(result.alpha)
    yield f"agreement of reviewers, {cases}: quadratic kappa {kappa}, alpha {alpha}"


def _text(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined (all grades are the same)"
    if estimate.ci95 is None:
        return f"{estimate.value:.2f}"
    low, high = estimate.ci95
    return f"{estimate.value:.2f} [{low:.2f}, {high:.2f}]"
