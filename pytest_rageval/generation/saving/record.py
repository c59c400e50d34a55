"""Build the record of a case that a person saves; its content decides its id."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from pytest_rageval.generation.shrinking.minimal_record import facets_of_record
from pytest_rageval.model.case import Case, Gold, Passage
from pytest_rageval.text.language import detect_language

__all__ = ["answers_text", "gold_of_text", "passage_records", "saved_record"]

KEYS = ("id", "question", "answers", "slots", "history", "evidence", "passages", "answerable")
"""The keys of a record, in the order of the file; facets, language and origin follow."""


def saved_record(values: Mapping[str, Any], origin: str, case: Case | None) -> dict[str, Any]:
    """Return a record with its id, language and origin.

    Args:
        values: the keys of the record: ``question``, ``answers`` or ``slots``, ``evidence``, ``passages``, ``history``,
            facets. Empty ones are left out.
        origin: the test that it comes from, such as ``town[q1]``; "" for a typed question.
        case: the case of that test, which gives the facets; None for a typed question.
    """
    non_empty = {key: value for key, value in values.items() if value not in (None, "", [], {})}
    question = str(non_empty.get("question", ""))
    record = {"id": _id(non_empty), **{key: non_empty[key] for key in KEYS if key in non_empty and key != "id"}}
    record |= {} if case is None else facets_of_record(case.instance)
    record |= {key: value for key, value in non_empty.items() if key not in (*KEYS, "generated")}
    record.setdefault("language", detect_language(question) if case is None else case.instance.language)
    generated = {"by": "play", "from": origin} if origin else {"by": "play"}
    return {**record, "generated": generated}


def _id(values: Mapping[str, Any]) -> str:
    """Return ``play-`` and 12 hex digits of a sha256 of the question, the sorted evidence, passages and history."""
    evidence = sorted(json.dumps(each, sort_keys=True) for each in values.get("evidence", ()))
    passages = [[each.get("id"), each.get("text")] for each in values.get("passages", ())]
    parts = [str(values.get("question", "")), evidence, passages, values.get("history", [])]
    return f"play-{sha256(json.dumps(parts).encode()).hexdigest()[:12]}"


def gold_of_text(text: str) -> dict[str, Any]:
    """Parse ``answers`` or ``slots``: one alias per line, an empty line between slots."""
    blocks = [[line.strip() for line in block.split("\n") if line.strip()] for block in text.split("\n\n")]
    slots = [block for block in blocks if block]
    if not slots:
        return {}
    return {"answers": slots[0]} if len(slots) == 1 else {"slots": slots}


def answers_text(gold: Gold) -> str:
    """Format gold answers as text for `gold_of_text`."""
    return "\n\n".join("\n".join(slot) for slot in gold)


def passage_records(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Return the passages of a record as JSON values."""
    keys = ("id", "text", "title", "role")
    return [{key: value for key in keys if (value := getattr(each, key))} for each in passages]
