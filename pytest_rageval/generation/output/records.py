"""Convert drafts to dataset records and to lines of drafts.jsonl, and parse such lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import DataError
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.quotes import located_quotes
from pytest_rageval.model.case import Gold, Passage, Turn

__all__ = ["draft_line", "json_line", "read_drafts", "record_of", "text_sha"]

Json = dict[str, Any]


def record_of(draft: Draft) -> Json:
    """Return the dataset record of a draft: the case with its facets and its origin.

    The key ``generated`` has the draft's id, its generator, and its sources with the sha256 of their texts and the
    span of the evidence. Systems do not see it, and it is not a facet.
    """
    topic = draft.topic.split("/") if draft.topic else []
    facets = {
        "task": draft.task,
        **({"topic": topic[-1]} if topic else {}),
        **({"topic_1": topic[-2]} if len(topic) > 1 else {}),
        **({"level": draft.level} if draft.level else {}),
        "language": draft.language,
        "generator": draft.generator,
        **draft.facets,
    }
    pages = list(dict.fromkeys(source.page or source.id for source in draft.sources))
    return {
        "id": draft.id,
        "question": draft.question,
        **_gold("answers", "slots", draft.gold),
        **({"fake_answers": [list(slot) for slot in draft.fake]} if draft.fake else {}),
        **({"history": [_turn(turn) for turn in draft.history]} if draft.history else {}),
        **({"passages": [_passage(each) for each in draft.passages]} if draft.passages is not None else {}),
        "provenance": [pages],
        **({"evidence": evidence} if (evidence := _evidence(draft)) else {}),
        **facets,
        "generated": _generated(draft),
    }


def draft_line(draft: Draft) -> Json:
    """Return the line of a draft in drafts.jsonl."""
    return {
        "id": draft.id,
        "state": draft.state,
        "reason": draft.reason,
        "question": draft.question,
        "gold": draft.gold,
        "task": draft.task,
        "topic": draft.topic,
        "level": draft.level,
        "language": draft.language,
        "generator": draft.generator,
        "origin": draft.origin,
        "facets": dict(draft.facets),
        "history": [_turn(turn) for turn in draft.history],
        "evidence": draft.evidence,
        "sources": [_whole_passage(each) for each in draft.sources],
        "passages": None if draft.passages is None else [_whole_passage(each) for each in draft.passages],
        "fake": draft.fake,
        "checks": draft.checks,
        "verdicts": dict(draft.verdicts),
    }


def read_drafts(path: Path) -> list[Draft]:
    """Read the drafts of a drafts.jsonl in order; [] if the file is missing or empty.

    Raises:
        DataError: a line is malformed.
    """
    if not path.exists() or not path.stat().st_size:
        return []
    return [_read(f"{shown_path(path)}:{line}", values) for line, values in read_records(path)]


def text_sha(text: str) -> str:
    """Return the sha256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _generated(draft: Draft) -> Json:
    """Return the value of the key ``generated``."""
    spans: dict[str, list[int]] = {}
    for _, source, span in located_quotes(draft):
        if source is not None:
            spans.setdefault(source.id, []).extend(span)
    sources = [
        {"id": each.id, **_span(spans.get(each.id, [])), "sha256": text_sha(each.text)} for each in draft.sources
    ]
    return {"draft": draft.id, "by": draft.origin, "sources": sources, **_stored_verdicts(draft.verdicts)}


def _span(edges: Sequence[int]) -> Json:
    """Return the span from the first to the last quote of a source; {} if it has no quote."""
    return {"span": [min(edges), max(edges)]} if edges else {}


def _stored_verdicts(verdicts: Mapping[str, Any]) -> Json:
    """Return the verdicts of models and people that a record stores."""
    return {name: verdicts[name] for name in ("wording", "inspection", "grade", "reviewer") if name in verdicts}


def _gold(one: str, several: str, gold: Gold) -> Json:
    return {one: list(gold[0])} if len(gold) == 1 else {several: [list(slot) for slot in gold]}


def _turn(turn: Turn) -> Json:
    return {"question": turn.question, "answer": turn.answer}


def _passage(passage: Passage) -> Json:
    """Return the passage of a dataset record."""
    return {
        "id": passage.id,
        "text": passage.text,
        **({"title": passage.title} if passage.title else {}),
        **({"role": passage.role} if passage.role else {}),
        **({"group": passage.group} if passage.group is not None else {}),
    }


def _whole_passage(passage: Passage) -> Json:
    """Return the passage of a line of drafts.jsonl, with all its fields."""
    extra_fields = {"page": passage.page, "span": passage.span, "metadata": dict(passage.metadata)}
    return _passage(passage) | {name: value for name, value in extra_fields.items() if value}


def _evidence(draft: Draft) -> list[Json]:
    """Return the quotes with the page of the first source that contains each."""
    return [
        {"page": source.page or source.id, "quote": source.text[start:end]}
        for _, source, (start, end) in located_quotes(draft)
        if source is not None
    ]


def _read(where: str, values: Mapping[str, Any]) -> Draft:
    try:
        return _draft(values)
    except (KeyError, TypeError, ValueError) as error:
        problem = f"is not a draft of rageval generate ({type(error).__name__}: {error}); generate anew with --force"
        raise DataError(where, problem) from None


def _draft(values: Mapping[str, Any]) -> Draft:
    return Draft(
        question=values["question"],
        gold=_read_gold(values["gold"]),
        task=values["task"],
        topic=values["topic"],
        generator=values["generator"],
        origin=values["origin"],
        sources=tuple(map(_read_passage, values["sources"])),
        language=values["language"],
        level=values["level"],
        history=tuple(Turn(turn["question"], turn["answer"]) for turn in values["history"]),
        evidence=tuple(values["evidence"]),
        passages=None if values["passages"] is None else tuple(map(_read_passage, values["passages"])),
        fake=_read_gold(values["fake"]),
        facets=values["facets"],
        state=values["state"],
        reason=values["reason"],
        checks=tuple(values["checks"]),
        verdicts=values["verdicts"],
    )


def _read_gold(slots: Any) -> Gold:
    return tuple(tuple(slot) for slot in slots)


def _read_passage(values: Mapping[str, Any]) -> Passage:
    span = values.get("span")
    return Passage(
        id=values["id"],
        text=values["text"],
        title=values.get("title", ""),
        role=values.get("role", ""),
        group=values.get("group"),
        page=values.get("page", ""),
        span=(span[0], span[1]) if span else None,
        metadata=values.get("metadata", {}),
    )


def json_line(values: Json) -> str:
    """Return one line of a JSON Lines file."""
    return json.dumps(values, ensure_ascii=False) + "\n"
