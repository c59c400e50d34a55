"""Checks of drafts without a model: their names, functions and order."""

from __future__ import annotations

__all__ = ["BUILTIN"]

BUILTIN: dict[str, str] = {
    "wrong_fields": "pytest_rageval.generation.checks.fields:wrong_fields",
    "evidence_not_verbatim": "pytest_rageval.generation.checks.support:evidence_not_verbatim",
    "answer_unsupported": "pytest_rageval.generation.checks.support:answer_unsupported",
    "answer_in_question": "pytest_rageval.generation.checks.wording:answer_in_question",
    "yes_no": "pytest_rageval.generation.checks.wording:yes_no",
    "refers_to_text": "pytest_rageval.generation.checks.wording:refers_to_text",
    "follow_up_complete": "pytest_rageval.generation.checks.wording:follow_up_complete",
    "private_data": "pytest_rageval.generation.checks.private_data:private_data",
    "language": "pytest_rageval.generation.checks.wording:language",
    "too_long": "pytest_rageval.generation.checks.wording:too_long",
    "one_hop": "pytest_rageval.generation.checks.support:one_hop",
}
"""Reason -> ``"module:function"`` of a check; the first check that fails gives a draft its reason.

A check takes a `Draft` and returns "" if the draft passes, else the problem. The reasons ``duplicate`` and
``near_duplicate`` need several drafts: `stage.check_all` compares the drafts that passed all these checks.
"""
