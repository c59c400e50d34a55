"""Talking to a model: messages in, a completion out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pytest_rageval.model.answer import Usage

__all__ = ["ChatModel", "Completion", "Message"]

Message = Mapping[str, str]
"""One message of a conversation: ``{"role": "system" | "user" | "assistant", "content": ...}``."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model replied.

    Attributes:
        text: the reply; "" is a reply.
        usage: tokens, price and seconds of the attempt that gave it; None stands for unknown.
        finish_reason: why the model stopped ("stop", "length", ...); None when it does not say.
        model: the name of the model that replied, as its provider gives it.
        attempts: how many requests it took, 0 when it was replayed from a recording.
        replayed: whether it was read from a recording instead of asked for.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    finish_reason: str | None = None
    model: str = ""
    attempts: int = 1
    replayed: bool = False


@runtime_checkable
class ChatModel(Protocol):
    """A model that can be asked. Anything with this method will do."""

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the model's reply; a call that gives none raises `ModelError`."""
        ...
