"""Parse the earlier turns of a conversation in the formats of other tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from pytest_rageval.datasets.imports.cells import value_in
from pytest_rageval.datasets.source import JsonObject

__all__ = ["Conversation", "conversation_of"]

QUESTIONS = ("question", "query", "q", "user", "human", "input", "prompt", "问题")
ANSWERS = ("answer", "answers", "a", "assistant", "ai", "bot", "response", "output", "reply", "回答", "答案")
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "bot": "assistant"}
"""Role of a message -> side of the conversation; other roles (system, tool) are skipped."""
SPEAKERS = {*ROLES, "developer", "function", "system", "tool"}
EMPTY: tuple[object, ...] = (None, "", [], {})


@dataclass(slots=True)
class Conversation:
    """A parsed conversation.

    Attributes:
        turns: the questions with their answers, in order; an unknown answer is "".
        open_question: the last question, if no answer follows it; else "".
        skipped: skipped part -> number of times.
    """

    turns: list[JsonObject] = field(default_factory=list)
    open_question: str = ""
    skipped: Counter[str] = field(default_factory=Counter)


def conversation_of(value: object) -> Conversation | None:
    """Parse the conversation in a field; return None if its format is unknown.

    Known formats are lists of:

    - ``{"question", "answer"}``, or similar names; the first of several answers is used;
    - ``[question, answer]``;
    - messages: ``{"role", "content"}`` or ``[role, content]``.

    A table cell may contain such a list in JSON or Python notation. Pairs are messages if all of them start with a
    role; if only some do, the format is unknown.
    """
    items = value_in(value)
    if not isinstance(items, list):
        return None
    starts_with_role = [_is_pair(item) and str(item[0]).casefold() in SPEAKERS for item in items]
    if any(starts_with_role):
        if not all(starts_with_role):
            return None
        items = [{"role": role, "content": content} for role, content in items]
    conversation = Conversation()
    for item in items:
        add = _add_message if isinstance(item, dict) and _role_of(item) is not None else _add_turn
        if not add(item, conversation):
            return None
    return conversation


def _is_pair(item: object) -> TypeGuard[Sequence[object]]:
    return isinstance(item, (list, tuple)) and len(item) == 2


def _role_of(item: Mapping[str, object]) -> object:
    return item.get("role", item.get("type")) if "content" in item or "tool_calls" in item else None


def _add_message(item: JsonObject, conversation: Conversation) -> bool:
    """Add a message to the conversation; return whether it is valid."""
    role = str(_role_of(item))
    side = ROLES.get(role.casefold())
    if side is None:
        conversation.skipped[f"{role} messages"] += 1
        return True
    skipped: Counter[str] = Counter(
        name for name, value in item.items() if name not in ("content", "role", "type") and value not in EMPTY
    )
    text = _text(item.get("content"), "content", skipped)
    if text is None:
        return False
    conversation.skipped.update(skipped)
    _add_text(side, text, conversation)
    return True


def _add_text(side: str, text: str, conversation: Conversation) -> None:
    """Add the text of a message; a message without text is only counted as skipped."""
    if side == "user":
        _close_question(conversation)
    if not text.strip():
        conversation.skipped[f"{side} messages without text"] += 1
    elif side == "user":
        conversation.open_question = text
    elif conversation.open_question:
        conversation.turns.append({"question": conversation.open_question, "answer": text})
        conversation.open_question = ""
    else:
        conversation.skipped["answers without a question"] += 1


def _add_turn(item: object, conversation: Conversation) -> bool:
    """Add a question and its answer to the conversation; return whether they are valid."""
    if isinstance(item, dict):
        question_key = next((name for name in QUESTIONS if name in item), "")
        answer_key = next((name for name in ANSWERS if name in item), "")
        others = {name: v for name, v in item.items() if name not in (question_key, answer_key) and v not in EMPTY}
        if not answer_key and any(isinstance(value, str) for value in others.values()):
            return False  # one of them may be the answer
        conversation.skipped.update(others.keys())
        pair: Sequence[object] = (item.get(question_key), item.get(answer_key, ""))
    elif _is_pair(item):
        question_key, answer_key, pair = "question", "answer", item
    else:
        return False
    question, answer = (
        _text(_first(v), name, conversation.skipped) for v, name in zip(pair, (question_key, answer_key), strict=True)
    )
    if not question or answer is None:
        return False
    conversation.turns.append({"question": question, "answer": answer})
    return True


def _close_question(conversation: Conversation) -> None:
    """Add the open question with an empty answer when another question follows."""
    if conversation.open_question:
        conversation.turns.append({"question": conversation.open_question, "answer": ""})
        conversation.open_question = ""


def _first(value: object) -> object:
    """Return the first text of a list; return other values unchanged."""
    return value[0] if isinstance(value, list) and value and not isinstance(value[0], dict) else value


def _text(value: object, name: str, skipped: Counter[str]) -> str | None:
    """Return a text or the joined text parts of a message; None for other values. Count parts without text."""
    if value is None:
        return ""
    if not isinstance(value, list):
        return value if isinstance(value, str) else None
    texts: list[str] = []
    for part in value:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            texts.append(text)
        elif isinstance(part, dict):
            skipped[f"{name}.{part.get('type', 'part')}"] += 1
        else:
            return None
    return "\n".join(texts)
