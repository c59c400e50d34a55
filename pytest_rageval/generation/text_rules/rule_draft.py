"""Build a draft from a question about statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.text_rules.statements import Statement
from pytest_rageval.model.case import Gold, Passage

__all__ = ["GENERATOR", "make_draft"]

GENERATOR = "text-rule"


def make_draft(
    question: str,
    gold: Gold,
    task: str,
    origin: str,
    statements: Sequence[Statement],
    verdicts: Mapping[str, Any] | None = None,
    *,
    grouped: bool = False,
) -> Draft:
    """Build an unchecked draft.

    Args:
        question: the question.
        gold: the gold answer.
        task: the task of the case, such as long_form_qa.
        origin: the name of the rule.
        statements: the sentences with the answer; the first one decides topic and language.
        verdicts: values that the checks need, such as the calculation.
        grouped: whether each statement answers a separate slot.
    """
    sources: dict[str, Passage] = {}
    for at, statement in enumerate(statements):
        passage = replace(statement.passage, group=at) if grouped else statement.passage
        sources.setdefault(passage.id, passage)
    first = statements[0]
    return Draft(
        question=question,
        gold=gold,
        task=task,
        topic=first.topic,
        generator=GENERATOR,
        origin=origin,
        sources=tuple(sources.values()),
        language=first.language,
        evidence=tuple(dict.fromkeys(statement.quote for statement in statements)),
        passages=tuple(replace(source, role="positive") for source in sources.values()),
        verdicts=verdicts or {},
    )
