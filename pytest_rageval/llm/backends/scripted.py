"""A model for tests that replies from a script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import RagEvalError, short_repr
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.chat import Completion, Message, ToolCall

__all__ = ["Asked", "Reply", "ScriptedLLM"]

Reply = str | Completion | ToolCall | Sequence[ToolCall] | BaseException
"""A text, a tool to call or several, a whole completion, or an exception to raise."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a `ScriptedLLM`: its messages and parameters."""

    messages: tuple[Message, ...]
    params: Mapping[str, object]


class ScriptedLLM:
    """A model for tests: it replies from a script and stores its requests.

    Use it instead of any model, on any event loop and thread:

        >>> import asyncio
        >>> llm = ScriptedLLM({"capital of France": "Paris", "": "I do not know."})
        >>> asyncio.run(llm.complete([{"role": "user", "content": "What is the capital of France?"}], seed=1)).text
        'Paris'
        >>> asyncio.run(llm.complete([{"role": "user", "content": "Who won?"}])).text
        'I do not know.'
        >>> llm.requests[0].params
        {'seed': 1}

    Args:
        replies: one text for all requests; a sequence, used in order; rules; or a function of the messages. The first
            rule wins whose key is in the last user or tool message, then the first whose key is in any message, then
            the rule under "". If no reply is left or fits, the call raises `RagEvalError`. A reply is a text, a
            `ToolCall`, a list of them, a `Completion`, or an exception to raise.
        usage: tokens and price of each reply that is no whole completion; None leaves them unknown.
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
        """The requests, in order."""
        with self._lock:
            return tuple(self._requests)

    async def complete(self, messages: Sequence[Message], **params: object) -> Completion:
        """Return the script's reply to ``messages``, or raise it."""
        with self._lock:
            self._requests.append(Asked(tuple(dict(message) for message in messages), dict(params)))
            number = len(self._requests)
        reply = self._reply(number, messages)
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        if isinstance(reply, BaseException):
            raise reply.with_traceback(None)  # the same exception may be raised many times
        if isinstance(reply, Completion):
            return reply
        if isinstance(reply, str):
            return Completion(reply, self._usage, finish_reason="stop", model="scripted")
        calls = (reply,) if isinstance(reply, ToolCall) else reply
        if isinstance(calls, list | tuple) and calls and all(isinstance(call, ToolCall) for call in calls):
            return Completion("", self._usage, "tool_calls", "scripted", tool_calls=tuple(calls))
        kinds = "a str, a ToolCall or a list of them, a Completion or an exception"
        raise RagEvalError(f"a scripted reply is {kinds}, not {short_repr(reply)}")


_Script = Callable[[int, Sequence[Message]], object]
"""(request number from 1, messages) -> reply."""


def _script(replies: str | Sequence[Reply] | Mapping[str, Reply] | Callable[[Sequence[Message]], Reply]) -> _Script:
    if isinstance(replies, str):
        return lambda number, messages: replies
    if isinstance(replies, Mapping):
        rules = dict(replies)
        return lambda number, messages: _by_rule(rules, messages)
    if isinstance(replies, Sequence):
        queue = tuple(replies)
        return lambda number, messages: _in_order(queue, number)
    if callable(replies):
        return lambda number, messages: replies(messages)
    raise TypeError(f"replies are a str, a sequence, a mapping or a function, not {short_repr(replies)}")


def _in_order(queue: Sequence[Reply], number: int) -> Reply:
    if number > len(queue):
        raise RagEvalError(f"the scripted model was asked {number} times and has only {len(queue)} replies; add more")
    return queue[number - 1]


def _by_rule(rules: Mapping[str, Reply], messages: Sequence[Message]) -> Reply:
    question = next((_text(message) for message in reversed(messages) if message["role"] in ("user", "tool")), "")
    for text in (question, "\n".join(map(_text, messages))):
        for key, reply in rules.items():
            if key and key in text:
                return reply
    if "" in rules:
        return rules[""]
    raise RagEvalError(
        f"no scripted rule fits the question {short_repr(question)}; "
        f"known: {', '.join(map(repr, rules))} (a rule under '' fits all other questions)"
    )


def _text(message: Message) -> str:
    """Return a message's content, "" for one that only calls tools."""
    return str(message.get("content") or "")
