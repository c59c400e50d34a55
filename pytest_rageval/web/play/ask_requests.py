"""Parse the body of a request that asks a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rageval.datasets.fields import ROLES, Fields
from pytest_rageval.errors import DataError
from pytest_rageval.hooks.playing.orders import AskOrder
from pytest_rageval.model.case import Passage, Turn

__all__ = ["ask_order", "passages_of", "turns_of"]

WHERE = "the request"
KEYS = ("question", "case", "system", "passages", "history")


def ask_order(body: Mapping[str, Any]) -> AskOrder:
    """Return the order of a body ``{question | case, system, passages?, history?}``.

    Raises:
        DataError: a value has the wrong type, a key is unknown, or there is neither a question nor a case.
    """
    fields = Fields(WHERE, dict(body)).without_nulls()
    fields.only(KEYS)
    question, case = (fields.string(name) if name in fields else None for name in ("question", "case"))
    if (question is None) == (case is None):
        raise DataError(WHERE, "give either a question or a case", code="RAG202")
    passages = passages_of(fields, "passages") if "passages" in fields else None
    history = turns_of(fields, "history") if "history" in fields else None
    return AskOrder(fields.string("system", ""), question, case, passages, history)


def passages_of(fields: Fields, name: str) -> tuple[Passage, ...]:
    """Return the passages of a field; passages without an id get ``own-0``, ``own-1`` and so on."""
    expected = "a list of passages, each an object with text and, if known, id, title, page and role"
    passages = []
    for at, each in enumerate(fields.objects(name, expected)):
        each.only(("id", "text", "title", "page", "role"))
        role = each.string("role", "")
        if role and role not in ROLES:
            raise each.error("role", f"one of {', '.join(ROLES)}")
        text, title, page = each.string("text"), each.string("title", ""), each.string("page", "")
        identifier = each.identifier("id") if "id" in each else f"own-{at}"
        passages.append(Passage(identifier, text, title, role, page=page))
    names = [each.id for each in passages]
    if len(set(names)) < len(names):
        raise DataError(WHERE, f"{name}: two passages have the same id; give each its own", code="RAG202")
    return tuple(passages)


def turns_of(fields: Fields, name: str) -> tuple[Turn, ...]:
    """Return the turns of the conversation in a field."""
    turns = fields.objects(name, "a list of turns, each an object with question and answer")
    return tuple(Turn(each.text("question"), each.string("answer")) for each in turns)
