"""Passages in the steps of a trace, and the ranking that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rageval.model.answer import Step
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["ranking_of_trace"]


def ranking_of_trace(steps: Sequence[Step]) -> Ranking | None:
    """Return the passages of a trace in order of first appearance; None if it has none."""
    found: dict[str, ScoredPassage] = {}
    for step in steps:
        if step.detail.get("error") or step.detail.get("invalid"):
            continue
        for each in step.detail.get("passages") or ():
            if isinstance(each, Mapping) and each.get("id") is not None:
                name = str(each["id"])
                text, title, page = (str(each.get(key) or "") for key in ("text", "title", "page"))
                found.setdefault(name, ScoredPassage(name, each.get("score"), text, title, page))
    return Ranking(tuple(found.values())) if found else None
