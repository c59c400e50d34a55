"""Check that a draft is complete."""

from __future__ import annotations

from pytest_rageval.generation.draft import Draft

__all__ = ["wrong_fields"]


def wrong_fields(draft: Draft) -> str:
    """Find a draft without a question, an answer or a source, or with a blank text among them."""
    if not draft.question.strip():
        return "no question"
    if not draft.gold or not all(slot and all(alias.strip() for alias in slot) for slot in draft.gold):
        return "no answer"
    if not draft.sources or not all(source.text.strip() for source in draft.sources):
        return "no source"
    if not draft.task:
        return "no task"
    return ""
