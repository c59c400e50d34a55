"""One connection to an MCP server, on its own thread and event loop.

A client of the package mcp is bound to the event loop and the task that opened it, but agents run on any event loop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_rageval.environments.mcp.servers import STATUSES, Target
from pytest_rageval.importing import cause_text
from pytest_rageval.llm.client.session_calls import session_call
from pytest_rageval.threads import STARTUP

if TYPE_CHECKING:
    import anyio
    from mcp import Client, MCPError
    from mcp.types import CallToolResult

__all__ = ["Link"]

MAX_PAGES = 100
"""Largest number of pages of a tool list that are read; an endless list cannot hang a session."""

GRACE = 0.5
"""Seconds in which a server must end after its input is closed; then its processes are killed."""

PATIENCE = 5.0
"""Seconds to wait for the thread; each of its steps has a time limit."""

UNKNOWN_SESSION = 404
"""HTTP status of a server that does not know the session any more."""

NOT_ACCEPTED = frozenset({401, 403, UNKNOWN_SESSION, 407, 408, 429})
"""HTTP statuses below 500 that mean the server did not accept the call."""


class Link:
    """A connection that starts when it is created.

    Args:
        target: the server.
        timeout: seconds in which the server must be ready.

    Attributes:
        tools: the tools that the server lists, as plain JSON values; None until the server is ready.
        fault: why the connection failed or ended; "" while it works.
    """

    def __init__(self, target: Target, timeout: float) -> None:
        self.tools: list[dict[str, Any]] | None = None
        self.fault = ""
        self._target = target
        self._timeout = timeout
        self._settled = threading.Event()
        self._client: Client | None = None
        self._loop = asyncio.new_event_loop()
        self._leave = asyncio.Event()
        self._lost = asyncio.Event()
        self._scope: anyio.CancelScope | None = None
        self._calls: set[asyncio.Task[Any]] = set()
        self._processes: list[asyncio.SubprocessTransport] = []
        self._thread = threading.Thread(target=self._run, name="rageval-mcp", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> bool:
        """Whether the connection worked once and has ended."""
        return self.tools is not None and self.fault != ""

    def ready(self) -> list[dict[str, Any]]:
        """Wait until the server is ready and return its tools.

        Raises:
            ConnectionError: the server cannot be reached.
        """
        start = time.perf_counter()
        self._settled.wait(self._timeout + PATIENCE)
        STARTUP.seconds += time.perf_counter() - start
        if self.tools is None or self.fault:
            raise ConnectionError(self.fault or f"the server was not ready within {self._timeout:g} s")
        return self.tools

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool, from any event loop.

        Raises:
            ConnectionError: the server cannot be reached.
            MCPError: the server rejects the call.
        """
        self.ready()
        reply = self._answer(tool, dict(arguments))
        try:
            future = asyncio.run_coroutine_threadsafe(reply, self._loop)
        except RuntimeError:  # the loop has just been closed
            reply.close()
            raise ConnectionError(self.fault) from None
        return await asyncio.wrap_future(future)

    def stop(self) -> None:
        """Start the shutdown of the connection and the server without waiting; calls and pending waits fail."""
        self.fault = self.fault or "the session ends"
        self._settled.set()
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._end)

    def close(self) -> None:
        """Shut down the connection and the server, and wait until they have ended."""
        self.stop()
        self._thread.join(PATIENCE)

    def _end(self) -> None:
        self._leave.set()
        if self.tools is None and self._scope is not None:
            self._scope.cancel()  # it is still connecting
        self._loop.call_later(GRACE, self._kill)

    def _kill(self) -> None:
        """Kill the processes that this connection started, with their child processes."""
        for process in self._processes:
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(process.get_pid(), signal.SIGKILL)
                else:
                    process.kill()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._note_processes()
        try:
            self._loop.run_until_complete(self._talk())
        finally:
            self.fault = self.fault or "the connection was closed"
            self._settled.set()
            self._kill()
            self._target.close()
            self._loop.run_until_complete(_cancel_tasks(self._loop))
            self._loop.close()

    def _note_processes(self) -> None:
        start = self._loop.subprocess_exec

        async def start_and_note(*args: Any, **kwargs: Any) -> Any:
            process = await start(*args, **kwargs)
            self._processes.append(process[0])
            return process

        self._loop.subprocess_exec = start_and_note  # type: ignore[method-assign]

    async def _talk(self) -> None:
        """Connect, stay connected until `stop` or a loss, and disconnect."""
        import anyio
        from mcp import Client

        self._loop.call_later(self._timeout, self._give_up)
        try:
            with session_call(), anyio.CancelScope() as self._scope:
                if self._leave.is_set():
                    return
                async with Client(self._target.transport(self._timeout), cache=None) as client:
                    self.tools = await _list_tools(client)
                    self._client = client
                    self._settled.set()
                    await self._leave.wait()
                    self._scope.deadline = anyio.current_time() + GRACE
        except Exception as error:
            self._fail(_text_of(error))
        finally:
            self._client = None
            self._fail("the connection was closed")
            self._lost.set()
            if self._calls:
                await asyncio.wait(self._calls, timeout=GRACE)

    def _give_up(self) -> None:
        if self.tools is None:
            self._fail(f"the server was not ready within {self._timeout:g} s")
            self._end()

    def _fail(self, problem: str) -> None:
        """Store why the connection failed, with the server's last line of output; the first reason is final."""
        if not self.fault:
            hint = self._target.hint()
            self.fault = f"{problem}; its last line is: {hint}" if hint else problem

    async def _answer(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool, on the event loop of the connection."""
        from mcp import MCPError

        client, task = self._client, asyncio.current_task()
        if client is None or task is None:
            raise ConnectionError(self.fault)
        self._calls.add(task)
        statuses: list[int] = []
        STATUSES.set(statuses)
        try:
            with session_call():
                return await self._unless_lost(client, tool, arguments)
        except MCPError as error:
            self._check(error, statuses)
            raise
        finally:
            self._calls.discard(task)

    async def _unless_lost(self, client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Return the reply to a call; raise if the connection is lost, because the client itself would wait forever."""
        call = asyncio.ensure_future(client.call_tool(tool, arguments))
        call.add_done_callback(_discard_exception)
        lost = asyncio.ensure_future(self._lost.wait())
        try:
            await asyncio.wait({call, lost}, return_when=asyncio.FIRST_COMPLETED)
            if call.done() and not call.cancelled():
                return call.result()
            raise ConnectionError(self.fault)
        finally:
            lost.cancel()
            call.cancel()

    def _check(self, error: MCPError, statuses: Iterable[int]) -> None:
        """Raise `ConnectionError` if an error means that the server did not receive the call."""
        from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        failed = next((status for status in statuses if status >= 500 or status in NOT_ACCEPTED), None)
        closed = error.code == CONNECTION_CLOSED
        if failed is None and not closed and error.code != REQUEST_TIMEOUT:
            return
        problem = f"HTTP status {failed}" if failed else "the connection was closed" if closed else str(error)
        if failed == UNKNOWN_SESSION or (closed and not self._target.comes_back):
            self._fail(problem)
            self._end()
        raise ConnectionError(self.fault or problem) from error


async def _cancel_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the tasks that still run on an event loop, and wait until they have ended."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=GRACE)
    await loop.shutdown_asyncgens()


def _discard_exception(call: asyncio.Future[Any]) -> None:
    """Retrieve the exception of an abandoned call; otherwise asyncio would print it."""
    if not call.cancelled():
        call.exception()


async def _list_tools(client: Client) -> list[dict[str, Any]]:
    """Return the tools that a server lists: name, description, parameters."""
    tools: list[dict[str, Any]] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [
            {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema}
            for tool in page.tools
        ]
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools


def _text_of(error: BaseException) -> str:
    """Return the class and the message of an error; for a group, those of its first error."""
    while inside := getattr(error, "exceptions", ()):
        error = inside[0]
    if getattr(error, "code", None) == -32000:  # code of the package mcp for a server that ended
        return "the connection was closed"
    return cause_text(error)
