"""A model that says what a test tells it to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import RagEvalError, found
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Message

__all__ = ["Asked", "Reply", "ScriptedLLM"]

Reply = str | Completion | BaseException
"""A text, a whole completion, or an exception to raise."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a `ScriptedLLM`: the messages and the parameters that it came with."""

    messages: tuple[Message, ...]
    params: Mapping[str, object]


class ScriptedLLM:
    """A model for tests: it replies from a script and keeps what it was asked.

    It stands in wherever a model is wanted, on any event loop and thread:

        >>> import asyncio
        >>> llm = ScriptedLLM({"capital of France": "Paris", "": "I do not know."})
        >>> asyncio.run(llm.complete([{"role": "user", "content": "What is the capital of France?"}], seed=1)).text
        'Paris'
        >>> asyncio.run(llm.complete([{"role": "user", "content": "Who won?"}])).text
        'I do not know.'
        >>> llm.requests[0].params
        {'seed': 1}

    Args:
        replies: a text that answers everything; or a sequence, given out in order; or rules, of which the first wins
            whose key is contained in the last user message, else the first whose key is in any message, else "";
            or a function of the messages. When there is no reply left or none that fits, asking is a `RagEvalError`.
        usage: the tokens and the price of each reply that is a text; None leaves them unknown.
        delay_s: seconds before each reply.
    """

    def __init__(
        self,
        replies: str | Sequence[Reply] | Mapping[str, Reply] | Callable[[Sequence[Message]], Reply],
        *,
        usage: Usage | None = None,
        delay_s: float = 0.0,
    ) -> None:
        self._reply = _script(replies)
        self._usage = usage or Usage()
        self._delay_s = delay_s
        self._lock = threading.Lock()
        self._requests: list[Asked] = []

    @property
    def requests(self) -> tuple[Asked, ...]:
        """What was asked, in order."""
        with self._lock:
            return tuple(self._requests)

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the reply that the script has for ``messages``, or raise it."""
        with self._lock:
            self._requests.append(Asked(tuple(dict(message) for message in messages), dict(params)))
            number = len(self._requests)
        reply = self._reply(number, messages)
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        if isinstance(reply, BaseException):
            raise reply.with_traceback(None)  # it may be raised many times
        if isinstance(reply, Completion):
            return reply
        if not isinstance(reply, str):
            raise RagEvalError(f"a scripted reply is a str, a Completion or an exception, not {found(reply)}")
        return Completion(reply, self._usage, finish_reason="stop", model="scripted")


_Script = Callable[[int, Sequence[Message]], object]
"""The reply to the request of that number, counted from 1."""


def _script(replies: str | Sequence[Reply] | Mapping[str, Reply] | Callable[[Sequence[Message]], Reply]) -> _Script:
    if isinstance(replies, str):
        return lambda number, messages: replies
    if isinstance(replies, Mapping):
        rules = dict(replies)
        return lambda number, messages: _by_rule(rules, messages)
    if isinstance(replies, Sequence):
        listed = tuple(replies)
        return lambda number, messages: _in_order(listed, number)
    if callable(replies):
        return lambda number, messages: replies(messages)
    raise TypeError(f"replies are a str, a sequence, a mapping or a function, not {found(replies)}")


def _in_order(listed: Sequence[Reply], number: int) -> Reply:
    if number > len(listed):
        raise RagEvalError(f"the scripted model was asked {number} times and has only {len(listed)} replies; add more")
    return listed[number - 1]


def _by_rule(rules: Mapping[str, Reply], messages: Sequence[Message]) -> Reply:
    asked = next((message["content"] for message in reversed(messages) if message["role"] == "user"), "")
    for text in (asked, "\n".join(message["content"] for message in messages)):
        for key, reply in rules.items():
            if key and key in text:
                return reply
    if "" in rules:
        return rules[""]
    raise RagEvalError(
        f"no scripted rule fits the question {found(asked)}; "
        f"known: {', '.join(map(repr, rules))} (a rule under '' fits whatever no other does)"
    )
