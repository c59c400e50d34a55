"""Run all checks on one draft."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_rageval.generation.checks import BUILTIN
from pytest_rageval.generation.draft import Draft
from pytest_rageval.registry import Registry

__all__ = ["Check", "first_failure", "run_checks"]

Check = Callable[[Draft], str]
"""Returns "" for a draft that passes, else the problem in a few words."""

_CHECKS: Registry[Check] = Registry("check of drafts", BUILTIN)


def first_failure(draft: Draft) -> tuple[str, str] | None:
    """Return the reason and the problem of the first check that a draft fails; None if it passes all."""
    for reason in BUILTIN:
        problem = _CHECKS.get(reason)(draft)
        if problem:
            return reason, problem
    return None


def run_checks(draft: Draft) -> Draft:
    """Return a draft with the names of its passed checks; the first failed check drops it."""
    failure = first_failure(draft)
    if failure is None:
        return replace(draft, checks=tuple(BUILTIN))
    reason, problem = failure
    passed = tuple(BUILTIN)[: list(BUILTIN).index(reason)]
    return replace(draft, checks=passed).dropped(reason, problem)
