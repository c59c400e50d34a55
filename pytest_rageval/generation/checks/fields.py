"""Check that a draft has all its fields."""

from __future__ import annotations

from pytest_rageval.generation.draft import Draft

__all__ = ["wrong_fields"]


def wrong_fields(draft: Draft) -> str:
    """Return which field of a draft is missing or blank: question, answer, source or task; "" if none is."""
    if not draft.question.strip():
        return "no question"
    if not draft.gold or not all(slot and all(alias.strip() for alias in slot) for slot in draft.gold):
        return "no answer"
    if not draft.sources or not all(source.text.strip() for source in draft.sources):
        return "no source"
    if not draft.task:
        return "no task"
    return ""
