"""Parse earlier turns of a conversation, in the forms of other tools."""

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
    """The conversation in a field.

    Attributes:
        turns: questions with their answers, in order; an unknown answer is "".
        asked: the last question of messages, if it has no answer yet.
        left: skipped parts -> how often.
    """

    turns: list[JsonObject] = field(default_factory=list)
    asked: str = ""
    left: Counter[str] = field(default_factory=Counter)


def conversation_of(value: object) -> Conversation | None:
    """Return the conversation in a field; None if it has none of the known forms.

    The known forms are a list of ``{"question", "answer"}`` (or similar names; of several answers the first), of
    ``[question, answer]``, or of messages ``{"role", "content"}`` or ``[role, content]``. A cell of a table may hold
    such a list in JSON or Python notation. Pairs are messages if each begins with a role; if only some do, the form is
    unknown.
    """
    items = value_in(value)
    if not isinstance(items, list):
        return None
    spoken = [_is_pair(item) and str(item[0]).casefold() in SPEAKERS for item in items]
    if any(spoken):
        if not all(spoken):
            return None
        items = [{"role": role, "content": content} for role, content in items]
    conversation = Conversation()
    for item in items:
        read = _message if isinstance(item, dict) and _role_of(item) is not None else _turn
        if not read(item, conversation):
            return None
    return conversation


def _is_pair(item: object) -> TypeGuard[Sequence[object]]:
    return isinstance(item, (list, tuple)) and len(item) == 2


def _role_of(item: Mapping[str, object]) -> object:
    return item.get("role", item.get("type")) if "content" in item or "tool_calls" in item else None


def _message(item: JsonObject, conversation: Conversation) -> bool:
    """Add a message to the conversation; return whether it is valid."""
    role = str(_role_of(item))
    side = ROLES.get(role.casefold())
    if side is None:
        conversation.left[f"{role} messages"] += 1
        return True
    left: Counter[str] = Counter(
        name for name, value in item.items() if name not in ("content", "role", "type") and value not in EMPTY
    )
    text = _text(item.get("content"), "content", left)
    if text is None:
        return False
    conversation.left.update(left)
    _say(side, text, conversation)
    return True


def _say(side: str, text: str, conversation: Conversation) -> None:
    """Add a message of one side; count a message without text, which is not an answer."""
    if side == "user":
        _leave_open(conversation)
    if not text.strip():
        conversation.left[f"{side} messages without text"] += 1
    elif side == "user":
        conversation.asked = text
    elif conversation.asked:
        conversation.turns.append({"question": conversation.asked, "answer": text})
        conversation.asked = ""
    else:
        conversation.left["answers without a question"] += 1


def _turn(item: object, conversation: Conversation) -> bool:
    """Add a question and its answer to the conversation; return whether they are valid."""
    if isinstance(item, dict):
        question_key = next((name for name in QUESTIONS if name in item), "")
        answer_key = next((name for name in ANSWERS if name in item), "")
        others = {name: v for name, v in item.items() if name not in (question_key, answer_key) and v not in EMPTY}
        if not answer_key and any(isinstance(value, str) for value in others.values()):
            return False  # one of them may be the answer
        conversation.left.update(others.keys())
        pair: Sequence[object] = (item.get(question_key), item.get(answer_key, ""))
    elif _is_pair(item):
        question_key, answer_key, pair = "question", "answer", item
    else:
        return False
    question, answer = (
        _text(_first(v), name, conversation.left) for v, name in zip(pair, (question_key, answer_key), strict=True)
    )
    if not question or answer is None:
        return False
    conversation.turns.append({"question": question, "answer": answer})
    return True


def _leave_open(conversation: Conversation) -> None:
    """Add the open question with an empty answer, because another question follows."""
    if conversation.asked:
        conversation.turns.append({"question": conversation.asked, "answer": ""})
        conversation.asked = ""


def _first(value: object) -> object:
    """Return the first of several texts; anything else unchanged."""
    return value[0] if isinstance(value, list) and value and not isinstance(value[0], dict) else value


def _text(value: object, name: str, left: Counter[str]) -> str | None:
    """Return a text, or the joined parts of a message; None for anything else. Count parts without text."""
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
            left[f"{name}.{part.get('type', 'part')}"] += 1
        else:
            return None
    return "\n".join(texts)
