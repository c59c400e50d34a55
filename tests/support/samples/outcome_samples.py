"""Outcomes for the tests of the analysis."""

from __future__ import annotations

from typing import Any

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Outcome, Score, Status


def outcome(
    name: str,
    value: float | str | None = None,
    *,
    status: Status = "scored",
    metric: str = "accuracy",
    usage: Usage | None = None,
    error: str | None = None,
    error_type: str | None = None,
    calls: Calls | None = None,
    **facets: str,
) -> Outcome:
    """Return an outcome with one score: a value, a reason, or none at all."""
    scores = {} if value is None else {metric: Score(reason=value) if isinstance(value, str) else Score(value)}
    return Outcome(
        nodeid=f"test_a.py::test_a[{name}{'-' if 'repeat' in facets else ''}{facets.get('repeat', '')}]",
        case_id=name,
        testbed="test_a.py::test_a",
        facets=facets,
        system="rag_system",
        status=status,
        answer=Answer("text", usage=usage),
        scores=scores,
        error=error,
        error_type=error_type,
        calls=calls,
    )


def repeats(name: str, *values: float | str | None, metric: str = "accuracy", **facets: Any) -> list[Outcome]:
    """Return the repeats of one case: a value or a reason each, None for an error."""
    return [
        failed(name, repeat=str(number), **facets)
        if value is None
        else outcome(name, value, metric=metric, repeat=str(number), **facets)
        for number, value in enumerate(values, 1)
    ]


def failed(name: str, value: float | None = None, **facets: Any) -> Outcome:
    """Return an outcome whose system raised; it may have scores from before the error."""
    return outcome(name, value, status="error", error="it broke", error_type="system_error", **facets)


def skipped(name: str, **facets: Any) -> Outcome:
    """Return an outcome whose test was skipped."""
    return outcome(name, status="skipped", error="no key", error_type="skipped", **facets)
