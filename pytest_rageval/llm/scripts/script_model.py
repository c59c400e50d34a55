"""A chat model whose replies come from a script."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from pytest_rageval.errors import ModelError, ascii_safe
from pytest_rageval.llm.client.usage_meter import Meter, current
from pytest_rageval.llm.scripts.script_file import ScriptReply
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Message, ToolCall

__all__ = ["ScriptModel"]

_BEGINNING, _END = 100, 200
"""Numbers of characters of a long message that an error shows, from its beginning and its end."""


class ScriptModel:
    """A `ChatModel` that returns the first reply of a script that fits.

    Requests are counted for each case, so tests may run in any order and in parallel. Requests outside of any case are
    counted together. A call costs nothing, and its tokens are unknown.

    Args:
        name: the model's name, as in ``script:replies.toml``.
        replies: the script.

    Attributes:
        computes_here: whether asking it again costs nothing.
    """

    computes_here = True

    def __init__(self, name: str, replies: Sequence[ScriptReply]) -> None:
        self.name = name
        self._replies = tuple(replies)
        self._lock = threading.Lock()
        self._outside = Meter()
        self._numbers: WeakKeyDictionary[Meter, int] = WeakKeyDictionary()

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the script's reply; raise `ModelError` if the script says so, or has no reply that fits."""
        number = self._number()
        role, text = _last(messages)
        reply = next((reply for reply in self._replies if reply.fits(text, number)), None)
        if reply is None:
            raise ModelError("no_reply", self._no_reply(number, role, text))
        if reply.error:
            raise ModelError(reply.error, f"{reply.where} raises {reply.error}")
        calls = (ToolCall(f"call{number:05}", reply.tool, reply.arguments),) if reply.tool else ()
        reason = "tool_calls" if calls else "stop"
        return Completion(reply.text, Usage(cost_usd=0.0), reason, self.name, tool_calls=calls)

    def _number(self) -> int:
        """Return the number of this request within its case, from 1."""
        meter = current(self._outside).meter  # each answer of a case has its own
        with self._lock:
            self._numbers[meter] = number = self._numbers.get(meter, 0) + 1
        return number

    def _no_reply(self, number: int, role: str, text: str) -> str:
        message = f"the last {role} message is {_quote(text)}" if role else "it has no user or tool message"
        return (
            f"{self.name} has no reply to request {number} of this case: {message}; "
            "add a [[reply]] that fits, or a last one without when and nth"
        )


def _last(messages: Sequence[Message]) -> tuple[str, str]:
    """Return role and text of the last message from the user or a tool; ("", "") if there is none."""
    for message in reversed(messages):
        if message.get("role") in ("user", "tool"):
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"text": content or ""}]
            return message["role"], "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    return "", ""


def _quote(text: str) -> str:
    """Return a text in quotes on one line; of a long text only the beginning and the end."""
    if len(text) > _BEGINNING + _END:
        text = f"{text[:_BEGINNING]} ... {text[-_END:]}"
    return ascii_safe(repr(text))
