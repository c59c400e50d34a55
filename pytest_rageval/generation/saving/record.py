"""The record of a case that a person saves, with an id that its content decides."""

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
"""The keys of a record in the order in which they are written; facets, language and origin follow."""


def saved_record(values: Mapping[str, Any], origin: str, case: Case | None) -> dict[str, Any]:
    """Return a record with its id, its language and where it comes from.

    Args:
        values: the keys of the record: ``question``, ``answers`` or ``slots``, ``evidence``, ``passages``, ``history``,
            facets. Empty ones are left out.
        origin: the test that it was made of, such as ``town[q1]``; "" for a typed question.
        case: the case of that test, whose facets it has; None for a typed question.
    """
    kept = {key: value for key, value in values.items() if value not in (None, "", [], {})}
    question = str(kept.get("question", ""))
    record = {"id": _id(kept), **{key: kept[key] for key in KEYS if key in kept and key != "id"}}
    record |= {} if case is None else facets_of_record(case.instance)
    record |= {key: value for key, value in kept.items() if key not in (*KEYS, "generated")}
    record.setdefault("language", detect_language(question) if case is None else case.instance.language)
    made = {"by": "play", "from": origin} if origin else {"by": "play"}
    return {**record, "generated": made}


def _id(values: Mapping[str, Any]) -> str:
    """Return ``play-`` and 12 hex digits of the sha256 of the question with the evidence, sorted, or the passages."""
    evidence = sorted(json.dumps(each, sort_keys=True) for each in values.get("evidence", ()))
    passages = [[each.get("id"), each.get("text")] for each in values.get("passages", ())]
    parts = [str(values.get("question", "")), evidence, passages, values.get("history", [])]
    return f"play-{sha256(json.dumps(parts).encode()).hexdigest()[:12]}"


def gold_of_text(text: str) -> dict[str, Any]:
    """Return ``answers`` or ``slots``: an alias a line, and an empty line between answers that are all needed."""
    blocks = [[line.strip() for line in block.split("\n") if line.strip()] for block in text.split("\n\n")]
    slots = [block for block in blocks if block]
    if not slots:
        return {}
    return {"answers": slots[0]} if len(slots) == 1 else {"slots": slots}


def answers_text(gold: Gold) -> str:
    """Return gold answers as `gold_of_text` reads them."""
    return "\n\n".join("\n".join(slot) for slot in gold)


def passage_records(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Return passages as a record has them."""
    keys = ("id", "text", "title", "role")
    return [{key: value for key in keys if (value := getattr(each, key))} for each in passages]
