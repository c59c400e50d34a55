"""One case's run of an agent: ask the model, call tools, record both, and end within the limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pytest_rageval.environments.environment import OpenEnvironment
from pytest_rageval.environments.tool import Observation
from pytest_rageval.environments.tool_step import recorded
from pytest_rageval.errors import ModelError
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel, Completion, Message
from pytest_rageval.systems.agents.completion_step import completion_detail, new_messages
from pytest_rageval.systems.embedded.turn import TURN, ToolUse, Turn
from pytest_rageval.trace.collector import Event, current_collector
from pytest_rageval.trace.recording import SOURCE, RecordedStep
from pytest_rageval.trace.steps import COMPLETION, END, FINISHED, THOUGHT

__all__ = ["AgentRun", "RunEnded", "run_agent"]

_LIMITS = {"context_length": "context_limit"}
"""Kind of a `ModelError` -> the reason that it ends a run with."""
_LATER_LIMITS = {"content_filter": "filtered", "filtered": "filtered"}
"""The same, if the model has replied before; on the first call it is the error of the case."""


class RunEnded(Exception):  # noqa: N818 - it is how a run ends, and no error
    """Ends a run before its agent does.

    Attributes:
        reason: one of `END_REASONS`.
        detail: one sentence for people; "" for none.
        answer: the answer so far.
    """

    def __init__(self, reason: str, detail: str = "", answer: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.answer = answer


class AgentRun:
    """Asks the model and calls tools for one case. Each call is a step of the case's trace.

    Attributes:
        query: the case's query.
        model: the model.
        tools: the tools of the case; None if the system uses none.
        uses: the calls of tools so far.
        answer: the answer if the time ends now.
    """

    def __init__(self, query: Query, model: ChatModel, tools: OpenEnvironment | None = None) -> None:
        self.query = query
        self.model = model
        self.tools = tools
        self.uses: list[ToolUse] = []
        self.answer = ""
        self._replies: list[Completion] = []
        self._sent: Sequence[Message] = ()
        self._lost = False

    @property
    def usage(self) -> Usage:
        """The sum over the model's replies; a part that one reply does not report is unknown.

        All is unknown if a call failed: its reply may have been paid for. The caller's meter knows.
        """
        if self._lost:
            return Usage()
        usages = [reply.usage for reply in self._replies]
        return Usage(
            _total([usage.prompt_tokens for usage in usages]),
            _total([usage.completion_tokens for usage in usages]),
            _total([usage.cost_usd for usage in usages]),
        )

    async def ask(self, messages: Sequence[Message], turn: Turn, **params: object) -> Completion:
        """Return the model's reply.

        Args:
            messages: the whole conversation; the step has what is new in it since the last request.
            turn: the same request for the model ``embedded``.
            params: such as ``tools`` and ``stop``.

        Raises:
            RunEnded: the prompt no longer fits the model, or its provider filters a later reply.
            ModelError: the call failed.
        """
        step = RecordedStep(COMPLETION, {"prompt": new_messages(messages, self._sent)})
        return await self._ask(self.model, messages, turn, params, step)

    async def ask_for(
        self,
        action: Mapping[str, Any],
        messages: Sequence[Message],
        turn: Turn,
        model: ChatModel | None = None,
        params: Mapping[str, object] = MappingProxyType({}),
    ) -> Completion:
        """Return a model's reply to an action of a chain, like `ask`; the step has the whole prompt.

        Args:
            action: what the step says of the action: its name, and notes.
            messages: the prompt.
            turn: the same request for the model ``embedded``.
            model: another model than the run's.
            params: such as ``stop``.
        """
        step = RecordedStep(COMPLETION, {"prompt": new_messages(messages, ()), **action})
        return await self._ask(model or self.model, messages, turn, params, step)

    async def _ask(
        self,
        model: ChatModel,
        messages: Sequence[Message],
        turn: Turn,
        params: Mapping[str, object],
        step: RecordedStep,
    ) -> Completion:
        self._sent = messages
        token = TURN.set(turn)
        try:
            with step:
                reply = await model.complete(messages, **params)
        except ModelError as error:
            self._lost = True
            reason = _LIMITS.get(error.kind) or (_LATER_LIMITS.get(error.kind) if self._replies else None)
            if reason is None:
                raise
            raise RunEnded(reason, str(error)) from error
        finally:
            TURN.reset(token)
        step.detail.update(completion_detail(reply))
        self._replies.append(reply)
        return reply

    async def call(self, name: str, arguments: Mapping[str, Any] | str, *, trailing: str = "") -> Observation:
        """Call a tool and return what the agent observes; an outage propagates as `ToolUnavailableError`.

        ``trailing`` is what the model wrote behind the call; the step has it.
        """
        if self.tools is None:
            raise RuntimeError("the system opened no environment")
        observation = await self.tools.run(name, arguments, trailing=trailing)
        self.uses.append(ToolUse(name, arguments, observation))
        return observation

    def reject(self, name: str, arguments: Mapping[str, Any] | str, fault: str) -> Observation:
        """Record a call that cannot be made, and return its fault as what the agent observes."""
        observation = Observation(fault, invalid=True)
        with recorded(name, arguments) as step:
            step.observe(observation)
        return observation

    def think(self, text: str) -> None:
        """Record a thought."""
        collector = current_collector()
        if collector is not None and text.strip():
            collector.add(Event(THOUGHT, {"text": text.strip()}, source=SOURCE))


async def run_agent(run: AgentRun, play: Callable[[AgentRun], Awaitable[str]], max_time: float) -> Answer:
    """Return the answer of an agent, with the reason of its end.

    Args:
        run: the run.
        play: plays the run and returns the answer's text; a limit raises `RunEnded`.
        max_time: seconds; after them the run ends with ``time_limit``.
    """
    start = time.perf_counter()
    played = asyncio.ensure_future(play(run))
    try:
        done, _ = await asyncio.wait({played}, timeout=max_time)
    finally:
        if not played.done():
            played.cancel()
            await asyncio.gather(played, return_exceptions=True)  # its tool and its request end first
    if done:
        text, reason, detail = _ended(played)
    else:
        text, reason, detail = run.answer, "time_limit", f"the run took longer than {max_time:g} s"
    _record_end(reason or (FINISHED if text.strip() else "empty_answer"), detail)
    seconds, usage = time.perf_counter() - start, run.usage
    return Answer(text, usage=Usage(usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, seconds))


def _ended(played: asyncio.Future[str]) -> tuple[str, str, str]:
    """Return the text, the reason and the detail of a run that is over; other errors propagate."""
    try:
        return played.result(), "", ""
    except RunEnded as end:
        return end.answer, end.reason, end.detail


def _record_end(reason: str, detail: str) -> None:
    collector = current_collector()
    if collector is not None:
        values = {"reason": reason, "detail": detail} if detail else {"reason": reason}
        collector.add(Event(END, values, source=SOURCE))


def _total(values: Sequence[Any]) -> Any:
    """Return the sum; None if a value is unknown, or if there is none."""
    return sum(values) if values and all(value is not None for value in values) else None
