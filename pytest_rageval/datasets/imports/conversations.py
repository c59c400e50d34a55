"""Earlier turns of a conversation, in the forms that other tools write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rageval.datasets.imports.cells import value_in
from pytest_rageval.datasets.source import JsonObject

__all__ = ["Conversation", "conversation_of"]

QUESTIONS = ("question", "query", "q", "user", "human", "input", "prompt", "问题")
ANSWERS = ("answer", "answers", "a", "assistant", "response", "output", "reply", "回答", "答案")
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "bot": "assistant"}
"""Who speaks in a message -> which side; any other role (system, tool) is left out."""


@dataclass(slots=True)
class Conversation:
    """What a field says of a conversation.

    Attributes:
        turns: questions with their answers, in order; an answer that is not known is "".
        asked: the last question of messages, if nobody has answered it yet.
        left: what was left out, and how often.
    """

    turns: list[JsonObject] = field(default_factory=list)
    asked: str = ""
    left: Counter[str] = field(default_factory=Counter)


def conversation_of(value: object) -> Conversation | None:
    """Return the conversation in a field, or None where it has none of the known forms.

    A list of ``{"question", "answer"}`` (or like names; of several answers the first), of ``[question, answer]``, or
    of messages ``{"role", "content"}``. The cell of a table may hold such a list as JSON or as Python prints it.
    """
    items = value_in(value)
    if not isinstance(items, list):
        return None
    conversation = Conversation()
    for item in items:
        read = _message if isinstance(item, dict) and _role_of(item) is not None else _turn
        if not read(item, conversation):
            return None
    return conversation


def _role_of(item: Mapping[str, object]) -> object:
    return item.get("role", item.get("type")) if "content" in item else None


def _message(item: JsonObject, conversation: Conversation) -> bool:
    """Add a message to the conversation; return whether it can be read."""
    role, text = str(_role_of(item)), _text(item["content"])
    side = ROLES.get(role.casefold())
    if text is None:
        return False
    if side is None:
        conversation.left[f"{role} messages"] += 1
    elif side == "user":
        _leave_open(conversation)
        conversation.asked = text
    elif conversation.asked:
        conversation.turns.append({"question": conversation.asked, "answer": text})
        conversation.asked = ""
    else:
        conversation.left["answers without a question"] += 1
    return True


def _turn(item: object, conversation: Conversation) -> bool:
    """Add a question and its answer to the conversation; return whether they can be read."""
    if isinstance(item, dict):
        asked = next((name for name in QUESTIONS if name in item), None)
        answered = next((name for name in ANSWERS if name in item), None)
        pair: Sequence[object] = (item.get(asked or ""), item.get(answered or "", ""))
        conversation.left.update(
            name for name, value in item.items() if name not in (asked, answered) and value not in (None, "", [], {})
        )
    elif isinstance(item, (list, tuple)) and len(item) == 2:
        pair = item
    else:
        return False
    question, answer = map(_text, pair)
    if not question or answer is None:
        return False
    conversation.turns.append({"question": question, "answer": answer})
    return True


def _leave_open(conversation: Conversation) -> None:
    """Keep a question that was followed by another one instead of an answer."""
    if conversation.asked:
        conversation.turns.append({"question": conversation.asked, "answer": ""})


def _text(value: object) -> str | None:
    """Return a text, the first of several, or that of a message in parts; None for anything else."""
    if value is None:
        return ""
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        if parts and len(parts) == len(value):
            return "\n".join(part for part in parts if isinstance(part, str))
        return _text(value[0]) if value else ""
    return value if isinstance(value, str) else None
