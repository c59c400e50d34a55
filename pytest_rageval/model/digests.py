"""Digests of cases and texts: detect a change without storing the text."""

from __future__ import annotations

import hashlib
import json

from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.plain import encoder_of

__all__ = ["case_digest", "content_id", "text_digest"]

LENGTH = 16  # hex digits (64 bits); the chance of a collision among a million cases is 1 in 37 million

_to_json = encoder_of(json.JSONEncoder(default=str))


def case_digest(case: Case) -> str:
    """Return the digest (16 hex digits) of the content of a case: everything that is asked and judged.

    It includes the question, the earlier turns, the gold and fake answers, the relevance judgements, the supplied
    passages with their roles (all passages of the record if none are supplied), and the evidence without its place in a
    corpus. It excludes ids and facets, and the testbed's instructions, which are a part of the system's prompt.
    """
    instance = case.instance
    if case.earlier is None:
        before = [[turn.question, turn.answer] for turn in instance.history]
    else:  # the system's own answers are not data
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
    """Return the evidence of a record as a list of one value; an empty list without it keeps older digests valid."""
    units = [[[u.page, u.quote, u.span, u.grade] for u in each] for each in instance.evidence]
    return [units] if units else []


def text_digest(text: str) -> str:
    """Return the digest of a text: 16 hex digits."""
    return _digest(text)


def content_id(text: str) -> str:
    """Return an id that is made from the text, for a passage without an id."""
    return f"text-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _digest(value: object) -> str:
    return hashlib.sha256(_to_json(value).encode("ascii")).hexdigest()[:LENGTH]
