"""The evidence of records: whether the corpus holds it."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.linting.finding import Finding, Severity, about
from pytest_rageval.linting.subject import Subject

__all__ = ["evidence_not_in_corpus"]


def evidence_not_in_corpus(subject: Subject) -> Iterator[Finding]:
    """Find pages, quotes and spans that the corpus does not hold.

    Where it holds another alternative whole, the rankings of the record are scored all the same: a warning.
    """
    locator = subject.locator
    if locator is None:
        return
    for instance in subject.instances:
        severity: Severity = "warning" if locator.has_whole(instance) else "error"
        for _, problem in locator.missing(instance):
            yield about(instance, "evidence_not_in_corpus", severity, problem)
