"""Digests: what tells that a case or an answer is no longer the same, and tells nothing else of it."""

from __future__ import annotations

import hashlib
import json

from pytest_rageval.model.case import Case, Instance

__all__ = ["case_digest", "text_digest"]

LENGTH = 16  # hex digits: 64 bits, so that of a million cases two agree by chance once in 37 million times


def case_digest(case: Case) -> str:
    """Return 16 hex digits of what is asked and judged: all of a case but its ids and facets.

    These are the question, the turns before it, the gold and the fake answers, the judgements, and the passages with
    their roles: those supplied, else all of the record; and the evidence as the record states it, never where a corpus
    holds it. Not among them is what a testbed asks of the answer, which is a part of the system's prompt.
    """
    instance = case.instance
    if case.earlier is None:
        before = [[turn.question, turn.answer] for turn in instance.history]
    else:  # what the system said in them is no data
        before = [[earlier.instance.question] for earlier in case.earlier]
    passages = instance.passages or () if case.supplied is None else case.supplied
    return _digest([
        instance.question,
        before,
        instance.gold,
        instance.fake,
        sorted(instance.qrels.items()),
        instance.provenance,
        instance.answerable,
        case.relevance,
        [[passage.title, passage.text, passage.role, passage.group] for passage in passages],
        *_evidence(instance),
    ])  # fmt: skip


def _evidence(instance: Instance) -> list[object]:
    """Return the evidence of a record as one value, or none, so that digests of other records stay what they were."""
    units = [[[u.page, u.quote, u.span, u.grade] for u in each] for each in instance.evidence]
    return [units] if units else []


def text_digest(text: str) -> str:
    """Return 16 hex digits of a text."""
    return _digest(text)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, default=str).encode("ascii")).hexdigest()[:LENGTH]
