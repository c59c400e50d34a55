"""Which case is being answered."""

from __future__ import annotations

from contextvars import ContextVar

__all__ = ["CASE_IDS"]

CASE_IDS: ContextVar[tuple[str, ...]] = ContextVar("rageval_case_ids", default=())
"""The ids of the case that the running code answers, its own and its record's; none outside of an answer.

It is for what is recorded by id and can not be found by the question alone; a task and the plugin's threads inherit it.
"""
