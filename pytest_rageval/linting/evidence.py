"""Check that the corpus contains the evidence of the records."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.linting.finding import Finding, Severity, record_finding
from pytest_rageval.linting.subject import Subject

__all__ = ["evidence_not_in_corpus"]


def evidence_not_in_corpus(subject: Subject) -> Iterator[Finding]:
    """Find pages, quotes and spans of the evidence that are missing in the corpus.

    A finding is a warning if the corpus contains another complete alternative of the record's evidence, because
    rankings can still be scored; else it is an error.
    """
    locator = subject.locator
    if locator is None:
        return
    for instance in subject.instances:
        severity: Severity = "warning" if locator.has_whole(instance) else "error"
        for _, problem in locator.missing(instance):
            yield record_finding(instance, "evidence_not_in_corpus", severity, problem)
