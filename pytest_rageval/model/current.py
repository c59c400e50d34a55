"""The case that is being answered, in context variables that tasks and threads inherit."""

from __future__ import annotations

from contextvars import ContextVar

__all__ = ["CASE_ENVIRONMENT", "CASE_IDS"]

CASE_IDS: ContextVar[tuple[str, ...]] = ContextVar("rageval_case_ids", default=())
"""The ids of the case that is being answered: the case's id and its record's id; empty outside of an answer.

Recordings that are stored by id need them, because the question alone does not identify a recording.
"""

CASE_ENVIRONMENT: ContextVar[str] = ContextVar("rageval_case_environment", default="")
"""The facet ``environment`` of the case that is being answered; "" if it has none."""
