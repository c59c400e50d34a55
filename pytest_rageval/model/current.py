"""The case that is being answered, as context variables. Tasks and the plugin's threads inherit them."""

from __future__ import annotations

from contextvars import ContextVar

__all__ = ["CASE_ENVIRONMENT", "CASE_IDS"]

CASE_IDS: ContextVar[tuple[str, ...]] = ContextVar("rageval_case_ids", default=())
"""The ids of the case that the running code answers: its own and its record's; empty outside of an answer.

Recordings that are stored by id need it, because the question alone does not identify them.
"""

CASE_ENVIRONMENT: ContextVar[str] = ContextVar("rageval_case_environment", default="")
"""The facet ``environment`` of the case that the running code answers; "" if it has none."""
