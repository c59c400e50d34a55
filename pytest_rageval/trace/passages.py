"""Read the passages in the steps of a trace, and the ranking that they form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from pytest_rageval.model.answer import Step
from pytest_rageval.model.plain import plain_text
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.trace.steps import RETRIEVE, TOOL, has_failed

__all__ = ["passage_detail", "passage_of", "passages_of", "ranking_of_trace"]


def passage_detail(passage: ScoredPassage) -> dict[str, Any]:
    """Return a passage as a step stores it: ``{id, page?, title?, text?, score?}``."""
    values = (("page", passage.page), ("title", passage.title), ("text", passage.text))
    detail: dict[str, Any] = {"id": passage.doc_id} | {key: value for key, value in values if value}
    return detail if passage.score is None else {**detail, "score": float(passage.score)}


def passages_of(step: Step) -> list[ScoredPassage]:
    """Return the passages that a search or a tool returned; [] if it failed. Skip items without an id."""
    passages = step.detail.get("passages")
    if step.kind not in (RETRIEVE, TOOL) or has_failed(step) or not isinstance(passages, Sequence):
        return []
    return [passage_of(each) for each in passages if isinstance(each, Mapping) and each.get("id") not in (None, "")]


def ranking_of_trace(trace: Sequence[Step]) -> Ranking | None:
    """Return the passages of a trace in the order in which they first appeared; None if no step reports passages.

    Scores are dropped if one is higher than the score before it, because scores of different searches are not
    comparable.
    """
    if not any(isinstance(step.detail.get("passages"), list | tuple) for step in trace):
        return None
    first: dict[str, ScoredPassage] = {}
    for step in trace:
        for passage in passages_of(step):
            first.setdefault(passage.doc_id, passage)
    items = tuple(first.values())
    scores = [item.score for item in items if item.score is not None]
    if len(scores) < len(items) or any(after > before for before, after in pairwise(scores)):
        items = tuple(replace(item, score=None) for item in items)
    return Ranking(items)


def passage_of(values: Mapping[str, Any]) -> ScoredPassage:
    """Return the passage of a `passage_detail`; ignore a value of the wrong type."""
    score = values.get("score")
    text, title, page = (each if isinstance(each := values.get(key), str) else "" for key in ("text", "title", "page"))
    number = float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None
    return ScoredPassage(plain_text(values["id"]), number, text, title, page)
