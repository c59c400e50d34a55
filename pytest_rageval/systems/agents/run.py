"""Run an agent on one case: call the model and tools, record the steps, apply the limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from pytest_rageval.environments.environment import OpenEnvironment
from pytest_rageval.environments.tool import Observation
from pytest_rageval.environments.tool_step import tool_step
from pytest_rageval.errors import ModelError
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel, Completion, Message
from pytest_rageval.systems.agents.completion_step import completion_detail, new_messages
from pytest_rageval.systems.embedded.turn import TURN, ToolUse, Turn
from pytest_rageval.trace.collector import Event, current_collector
from pytest_rageval.trace.recording import SOURCE, RecordedStep
from pytest_rageval.trace.steps import COMPLETION, END, FINISHED, THOUGHT

__all__ = ["AgentRun", "RunEnded", "outcome_of", "run_agent"]

T = TypeVar("T")

_LIMITS = {"context_length": "context_limit"}
"""Kind of a `ModelError` -> the reason why the run ends."""
_LATER_LIMITS = {"content_filter": "filtered", "filtered": "filtered"}
"""The same for later calls. On the first call, these are errors of the case."""


class RunEnded(Exception):  # noqa: N818 - a regular end of a run, not an error
    """Raised to end a run before the agent finishes.

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
    """Calls the model and tools for one case. Each call is a step of the case's trace.

    Attributes:
        query: the case's query.
        model: the model.
        tools: the tools of the case; None if the system uses none.
        uses: the tool calls so far.
        answer: the answer so far; the run returns it if the time limit ends it.
    """

    def __init__(self, query: Query, model: ChatModel, tools: OpenEnvironment | None = None) -> None:
        self.query = query
        self.model = model
        self.tools = tools
        self.uses: list[ToolUse] = []
        self.answer = ""
        self._replies: list[Completion] = []
        self._previous_messages: Sequence[Message] = ()
        self._has_failed_call = False

    @property
    def usage(self) -> Usage:
        """The sum over the model's replies; a value is unknown if one reply does not report it.

        All values are unknown if a call failed, because the provider may still charge it. The caller's meter counts
        failed calls, too.
        """
        if self._has_failed_call:
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
            messages: the whole conversation; the step records only the messages that are new since the last request.
            turn: the same request in the form for the model ``embedded``.
            params: parameters of the call, such as ``tools`` and ``stop``.

        Raises:
            RunEnded: the prompt no longer fits the model, or its provider filters a later reply.
            ModelError: the call failed.
        """
        step = RecordedStep(COMPLETION, {"prompt": new_messages(messages, self._previous_messages)})
        return await self._ask(self.model, messages, turn, params, step)

    async def ask_for_action(
        self,
        action: Mapping[str, Any],
        messages: Sequence[Message],
        turn: Turn,
        model: ChatModel | None = None,
        params: Mapping[str, object] = MappingProxyType({}),
    ) -> Completion:
        """Return a model's reply to an action of a chain, like `ask`; the step records the whole prompt.

        Args:
            action: values that the step records about the action, such as its name.
            messages: the prompt.
            turn: the same request in the form for the model ``embedded``.
            model: the model to ask; None for the model of the run.
            params: parameters of the call, such as ``stop``.
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
        self._previous_messages = messages
        token = TURN.set(turn)
        try:
            with step:
                reply = await model.complete(messages, **params)
        except ModelError as error:
            self._has_failed_call = True
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
        """Call a tool and return its observation; an outage raises `ToolUnavailableError`.

        The step also records ``trailing``, the text that the model wrote after the call.
        """
        if self.tools is None:
            raise RuntimeError("the system opened no environment")
        observation = await self.tools.run(name, arguments, trailing=trailing)
        self.uses.append(ToolUse(name, arguments, observation))
        return observation

    def reject(self, name: str, arguments: Mapping[str, Any] | str, fault: str) -> Observation:
        """Record a call that cannot be made, and return its fault as the observation."""
        observation = Observation(fault, invalid=True)
        with tool_step(name, arguments) as step:
            step.observe(observation)
        return observation

    def think(self, text: str) -> None:
        """Record a thought."""
        collector = current_collector()
        if collector is not None and text.strip():
            collector.add(Event(THOUGHT, {"text": text.strip()}, source=SOURCE))


async def run_agent(run: AgentRun, solve: Callable[[AgentRun], Awaitable[str]], max_time: float) -> Answer:
    """Run an agent and return its answer; record why the run ended.

    Args:
        run: the run.
        solve: runs the agent and returns the answer's text; a limit raises `RunEnded`.
        max_time: maximum seconds; a longer run ends with ``time_limit``.
    """
    start = time.perf_counter()
    task = asyncio.ensure_future(outcome_of(lambda: solve(run)))
    try:
        done, _ = await asyncio.wait({task}, timeout=max_time)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)  # wait until its tool and its request have ended
    if done:
        text, reason, detail = _end_of(*task.result())
    else:
        text, reason, detail = run.answer, "time_limit", f"the run took longer than {max_time:g} s"
    _record_end(reason or (FINISHED if text.strip() else "empty_answer"), detail)
    seconds, usage = time.perf_counter() - start, run.usage
    return Answer(text, usage=Usage(usage.prompt_tokens, usage.completion_tokens, usage.cost_usd, seconds))


async def outcome_of(make: Callable[[], Awaitable[T]]) -> tuple[T | None, BaseException | None]:
    """Return (result, None) or (None, exception).

    A task that raises `KeyboardInterrupt` would end the event loop.
    """
    try:
        return await make(), None
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return None, error


def _end_of(text: str | None, error: BaseException | None) -> tuple[str, str, str]:
    """Return the text, the reason and the detail of a run's end; raise errors other than `RunEnded`."""
    if isinstance(error, RunEnded):
        return error.answer, error.reason, error.detail
    if error is not None:
        raise error
    return text or "", "", ""


def _record_end(reason: str, detail: str) -> None:
    collector = current_collector()
    if collector is not None:
        values = {"reason": reason, "detail": detail} if detail else {"reason": reason}
        collector.add(Event(END, values, source=SOURCE))


def _total(values: Sequence[Any]) -> Any:
    """Return the sum; None without values, or if one of them is unknown."""
    return sum(values) if values and all(value is not None for value in values) else None
