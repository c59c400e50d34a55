"""A model as the session asks it: messages to a completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.llm.asker import Asker
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import ChatModel, Completion, Message

__all__ = ["Client"]

ASSUMED_TOKENS = 1024
"""The length that a reply may have, under a budget, when ``max_tokens`` does not say."""


class Client(Asker[ChatModel, Completion]):
    """A `ChatModel` that replays, asks within limits, records and charges, as an `Asker` does.

    Its kind is "model" or "judge".
    """

    KIND = "model"
    METHOD = "complete(messages, **params)"
    RETURNS = "a Completion"
    RATES = "input_cost_per_token and output_cost_per_token"

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the model's reply.

        Raises `ModelError` when there is none; what else the backend raises goes through.
        """
        return await self._reply(messages, params)

    def _sent(self, asked: Sequence[Message], params: Mapping[str, object]) -> object:
        return self._backend.complete(asked, **params)

    def _is_reply(self, reply: object, asked: Sequence[Message]) -> bool:
        return isinstance(reply, Completion)

    def _recorded(self, reply: Completion) -> dict[str, Any]:
        return {"text": reply.text, "finish_reason": reply.finish_reason, "model": reply.model}

    def _replayed(self, response: Mapping[str, Any], usage: Usage) -> Completion:
        text, reason, model = response["text"], response["finish_reason"], response["model"]
        return Completion(text, usage, reason, model, attempts=0, replayed=True)

    def _priced(self, asked: Sequence[Message], params: Mapping[str, object]) -> tuple[float | None, str]:
        said = params.get("max_completion_tokens") or params.get("max_tokens")
        most_usd = self._most(asked, {**params, "max_tokens": said or ASSUMED_TOKENS}) if self._most else None
        assumed = f"a reply of {ASSUMED_TOKENS:,} tokens was assumed, as {self._setting} has no max_tokens"
        return most_usd, "" if said else assumed
