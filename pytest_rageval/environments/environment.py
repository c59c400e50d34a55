"""Environments: named sets of tools, opened for one case at a time.

An agent opens the environment of its case and calls tools::

    environment = parts.environments.of_case()
    with environment.open() as tools:
        observation = await tools.run("Search", {"title": "Algiers"})
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Protocol

from pytest_rageval.environments.arguments import fit_arguments, parse_arguments
from pytest_rageval.environments.outages import ToolUnavailableError, is_outage
from pytest_rageval.environments.recorded_tools import RecordedCalls
from pytest_rageval.environments.results import plain_result, text_of
from pytest_rageval.environments.shortening import cut_text
from pytest_rageval.environments.tool import InvalidArgumentsError, Observation, Tool
from pytest_rageval.environments.tool_step import tool_step
from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.importing import cause_text
from pytest_rageval.model.plain import plain_text
from pytest_rageval.threads import Threads

__all__ = ["MAX_OBSERVATION", "TIMEOUT_S", "Environment", "OpenEnvironment", "Service"]

TIMEOUT_S = 30.0
MAX_OBSERVATION = 4_000

Outcome = tuple[Any, BaseException | None]
"""The result of a tool and the error that it raised."""


class Service(Protocol):
    """A process, connection or thread that an environment has started."""

    def stop(self) -> None:
        """Start the shutdown without waiting; pending calls fail."""
        ...

    def close(self) -> None:
        """Shut it down and wait until it has ended."""
        ...


@dataclass(eq=False, slots=True)
class Environment:
    """A set of named tools over data. It lasts for the session and never contains gold answers.

    Attributes:
        name: its name in ``rag_environments``.
        loader: reads the data and returns a function that makes the tools of one case, with their own state. Set to
            None after the data is read, because the loader may refer to the session, which knows the gold answers.
        timeout: time limit of one call, in seconds.
        record: whether tool calls are recorded and replayed, like model calls.
        has_state: whether a call may change the results of later calls of the same case.
        service: the process, connection or thread that it has started; None if there is none.
    """

    name: str
    loader: Callable[[], Callable[[], Sequence[Tool]]] | None
    timeout: float = TIMEOUT_S
    record: bool = False
    has_state: bool = True
    service: Service | None = None
    _make: Callable[[], Sequence[Tool]] = field(default=tuple, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def load(self) -> Callable[[], Sequence[Tool]]:
        """Read the data on the first call, and return the function that makes the tools; errors propagate."""
        with self._lock:
            if self.loader is not None:
                self._make, self.loader = self.loader(), None
            return self._make

    def open(self, max_observation: int = MAX_OBSERVATION) -> OpenEnvironment:
        """Return the tools for one case, with state of this case only; read the data on first use.

        Args:
            max_observation: largest number of characters of an observation's text; the trace has the whole result.
        """
        calls = RecordedCalls(self.name, has_state=self.has_state) if self.record else None
        return OpenEnvironment(self.name, self.load()(), self.timeout, max_observation, calls)

    def stop(self) -> None:
        """Start the shutdown of its service without waiting."""
        if self.service is not None:
            self.service.stop()

    def close(self) -> None:
        """Shut down its service, at the end of the session."""
        if self.service is not None:
            self.service.close()


class OpenEnvironment:
    """The tools of an environment for one case. It belongs to one agent, which calls one tool at a time.

    Attributes:
        name: the environment's name.
        tools: the tools, in the order in which a model sees them.
    """

    def __init__(
        self,
        name: str,
        tools: Sequence[Tool],
        timeout: float,
        max_observation: int,
        calls: RecordedCalls | None = None,
    ) -> None:
        self.name = name
        self.tools = tuple(tools)
        self._timeout = timeout
        self._max_observation = max_observation
        self._calls = calls
        self._by_name = {tool.name: tool for tool in self.tools}
        self._threads = Threads()  # one thread, so objects that are bound to a thread work

    def __enter__(self) -> OpenEnvironment:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the thread of the tools."""
        self._threads.close()

    async def run(self, tool: str, arguments: Mapping[str, Any] | str, *, trailing: str = "") -> Observation:
        """Call a tool, record the call as a step "tool" of the case, and return what the agent observes.

        The agent also observes unknown tools, invalid arguments and errors of the tool.

        Args:
            tool: its name.
            arguments: arguments by name; text is parsed as a JSON object.
            trailing: text that the model wrote after the call, for the trace only.

        Raises:
            ToolUnavailableError: the tool's service cannot be reached, or the call takes longer than the timeout.
            CaseError: the tool raised it.
            ModelError: of kind "not_recorded": there is no recording, and the record mode forbids the call.
        """
        with tool_step(tool, arguments) as step:
            if trailing:
                step.detail["trailing"] = plain_text(trailing)
            start = time.perf_counter()
            try:
                observation = await self._observe(tool, arguments)
            except InvalidArgumentsError as fault:
                observation = Observation(plain_text(fault), invalid=True)
            observation = replace(
                observation,
                text=cut_text(observation.text, self._max_observation),
                seconds=time.perf_counter() - start,
            )
            step.observe(observation)
        return observation

    async def _observe(self, name: str, arguments: Mapping[str, Any] | str) -> Observation:
        tool = self._by_name.get(name)
        if tool is None:
            raise InvalidArgumentsError(f"There is no tool {_shown(name)}; there {_listed(list(self._by_name))}.")
        values = fit_arguments(parse_arguments(arguments), tool.parameters)
        call = partial(self._called, tool, values)
        return await (call() if self._calls is None else self._calls.observe(name, values, call))

    async def _called(self, tool: Tool, values: Mapping[str, Any]) -> Observation:
        returned, error = await self._outcome(tool, values)
        if error is not None:
            return self._failed(tool, error)
        result = plain_result(returned, tool.name)
        return Observation(text_of(result.result), result.result, result.passages, found=result.found)

    def _failed(self, tool: Tool, error: BaseException) -> Observation:
        """Return an error as observation; raise outages and errors of the case instead."""
        if isinstance(error, InvalidArgumentsError | CaseError) or not isinstance(error, Exception):
            raise error
        cause = plain_text(cause_text(error))
        if is_outage(error):
            raise ToolUnavailableError(
                f"the tool {tool.name} of environment {self.name!r} cannot be reached: {cause}"
            ) from error
        return Observation(f"Error: {cause}", error=cause)

    async def _outcome(self, tool: Tool, values: Mapping[str, Any]) -> Outcome:
        """Run a call and return its result and its error; a call that exceeds the timeout is an outage."""
        call = asyncio.ensure_future(self._call(tool, values))
        try:
            done, _ = await asyncio.wait({call}, timeout=self._timeout)
        finally:
            call.cancel()  # the agent was stopped or the time is over; no effect on a finished call
        if done:
            return call.result()
        raise ToolUnavailableError(
            f"the tool {tool.name} of environment {self.name!r} did not answer within {self._timeout:g} s"
        )

    async def _call(self, tool: Tool, values: Mapping[str, Any]) -> Outcome:
        """Call a tool, in a thread unless it is async; catch its errors, which must not end the event loop."""
        if inspect.iscoroutinefunction(tool.call):
            return await _awaited(tool.call(**values))
        returned, error = await self._threads.run(lambda: _called(tool, values))
        return await _awaited(returned) if inspect.isawaitable(returned) else (returned, error)


def _called(tool: Tool, values: Mapping[str, Any]) -> Outcome:
    try:
        return tool.call(**values), None
    except BaseException as error:
        return None, error


async def _awaited(coroutine: Awaitable[Any]) -> Outcome:
    try:
        return await coroutine, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error


def _shown(name: object) -> str:
    """Return the name of an unknown tool as the model wrote it, shortened unless it is a valid name."""
    return name if isinstance(name, str) and name.isidentifier() and len(name) <= 64 else short_repr(name)


def _listed(names: Sequence[str]) -> str:
    """Return the names with their verb: ``are Search and Lookup``."""
    *first, last = names or ["none"]
    return f"are {', '.join(first)} and {last}" if first else f"is only {last}" if names else "is none"
