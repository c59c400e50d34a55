"""Protocols of chat and embedding models, and their replies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from pytest_rageval.model.answer import Usage

__all__ = [
    "CHAT_DEFAULTS",
    "EMBEDDED",
    "SCRIPT",
    "ChatModel",
    "Completion",
    "EmbeddingModel",
    "Embeddings",
    "Message",
    "ToolCall",
]

EMBEDDED = "embedded"
"""The name of the built-in rule-based model of `systems/embedded`, which needs no key."""

CHAT_DEFAULTS: Mapping[str, Any] = MappingProxyType({"temperature": 0})
"""Default parameters of a call."""

SCRIPT = "script:"
"""Prefix of the names of models whose replies come from a file."""

Message = Mapping[str, Any]
"""One message of a conversation, in OpenAI's form.

``{"role": "system" | "user" | "assistant", "content": ...}``. A message of the assistant may have ``tool_calls``; a
result is ``{"role": "tool", "tool_call_id": ..., "content": ...}``.
"""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model asks for.

    Attributes:
        id: the provider's id of the call; the message with the tool's result repeats it.
        name: the tool's name, as the model wrote it.
        arguments: the arguments as the model wrote them, usually the JSON text of an object; they are not checked.
    """

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's reply.

    Attributes:
        text: the reply; "" is a reply. None, which servers send together with tool calls, becomes "".
        usage: tokens, price and seconds of the successful attempt; None means unknown.
        finish_reason: why the model stopped ("stop", "length", ...); None if unknown.
        model: the name of the model that replied, as its provider gives it.
        attempts: number of requests sent; 0 if the reply was replayed from a recording.
        replayed: whether the reply was read from a recording.
        refused: whether the provider marks the text as a refusal to answer.
        tool_calls: the tool calls that the model asks for, in order; () for none.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    model: str = ""
    attempts: int = 1
    replayed: bool = False
    refused: bool = False
    tool_calls: tuple[ToolCall, ...] = ()

    def __post_init__(self) -> None:
        text: object = self.text
        object.__setattr__(self, "text", "" if text is None else text)
        object.__setattr__(self, "tool_calls", tuple(self.tool_calls or ()))

    @property
    def message(self) -> Message:
        """The reply as a message that continues the conversation."""
        if not self.tool_calls:
            return {"role": "assistant", "content": self.text}
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.tool_calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


@runtime_checkable
class ChatModel(Protocol):
    """A chat model: any object with this method."""

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the model's reply; raise `ModelError` if the call fails."""
        ...


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of some texts. All have the same length and only contain finite numbers.

    Attributes:
        vectors: one vector for each text, in the order of the texts; lists and arrays become tuples of float.
        usage: tokens, price and seconds of the successful attempt; None means unknown.
        model: the name of the model that replied, as its provider gives it.
        attempts: number of requests sent; 0 if the reply was replayed from a recording.
        replayed: whether the reply was read from a recording.
    """

    vectors: tuple[tuple[float, ...], ...]
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    attempts: int = 1
    replayed: bool = False

    def __post_init__(self) -> None:
        vectors = tuple(tuple(map(float, vector)) for vector in self.vectors)
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1 or 0 in lengths:
            raise ValueError(f"vectors have one length, of 1 or more, not {', '.join(map(str, sorted(lengths)))}")
        if not all(all(map(math.isfinite, vector)) for vector in vectors):
            raise ValueError("vectors are of finite numbers")
        object.__setattr__(self, "vectors", vectors)


@runtime_checkable
class EmbeddingModel(Protocol):
    """A model that turns texts into vectors: any object with this method."""

    async def embed(self, texts: Sequence[str], **params: object) -> Embeddings:
        """Return one vector for each text; raise `ModelError` if the call fails."""
        ...
