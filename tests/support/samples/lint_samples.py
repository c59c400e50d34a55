"""Records for tests of the linter's checks."""

from __future__ import annotations

from typing import Any

from pytest_rageval.linting.finding import Finding
from pytest_rageval.linting.linter import lint
from pytest_rageval.model.case import Instance, Passage, Role

__all__ = ["found_by", "of", "record"]


def of(role: Role, *texts: str, group: int | None = None) -> tuple[Passage, ...]:
    """Return passages of one role, with the ids p0 p1 ..., n0 n1 ... and so on."""
    return tuple(
        Passage(f"{(role or 'd')[0]}{group or ''}{at}", text, role=role, group=group) for at, text in enumerate(texts)
    )


def record(name: str = "q1", question: str = "", *, line: int = 1, **fields: Any) -> Instance:
    """Return a record of ``cases.jsonl``; its default question is unique."""
    fields.setdefault("gold", (("Paris",),))
    return Instance(name, question or f"What is {name * 5}?", origin=f"cases.jsonl:{line}", **fields)


def found_by(check: str, *instances: Instance, **settings: Any) -> list[Finding]:
    """Return the findings of one check."""
    return [finding for finding in lint(instances, **settings) if finding.check == check]
