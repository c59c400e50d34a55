"""Run programs in child processes, which exchange lines of JSON with this process."""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from pytest_rageval.errors import SettingError
from pytest_rageval.sandbox.conversation import Conversation
from pytest_rageval.sandbox.process import Message, Process
from pytest_rageval.sandbox.protocol import Limits, ProgramResult, Tool

__all__ = ["ProcessSandbox", "python_command"]

START_TIMEOUT = 60.0
"""Maximum seconds for the start of a process."""

MAX_PROGRAMS = 16
"""Maximum number of concurrent programs; others wait. It equals the default number of concurrent answers."""

_ADD_PATHS = (
    "import sys; at = [*(path.endswith('-packages') for path in sys.path), True].index(True); "
    "sys.path[at:at] = sys.argv[1:]"
)
"""Adds our import paths in a process; a project's module cannot replace a module of the standard library."""

ENVIRONMENT = ("PATH", "MONTY_BIN", "SYSTEMROOT")
"""The environment variables that a process gets from ours."""

EMPTY: Mapping[str, Any] = MappingProxyType({})
DEFAULT_LIMITS = Limits()


def python_command(target: str) -> list[str]:
    """Return the command that runs ``module:function`` with this Python; the function serves programs."""
    module, _, function = target.partition(":")
    start = f"{_ADD_PATHS}; from {module} import {function}; {function}()"
    return [sys.executable, "-I", "-c", start, *(path for path in sys.path if path)]


class ProcessSandbox:
    """A `Sandbox` that runs programs in child processes.

    Args:
        name: the value of ``rag_sandbox``.
        command: the command of a process, which serves programs on its pipes.
        reusable: whether a process can run several programs, one after another.
        variables: the environment variables that a process gets from ours.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, reusable: bool = True, variables: Sequence[str] = ENVIRONMENT
    ) -> None:
        self.name = name
        self._command, self._reusable, self._variables = command, reusable, variables
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(MAX_PROGRAMS)
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self._closed = False
        atexit.register(self.close)

    def run(
        self,
        code: str,
        tools: Mapping[str, Tool] = EMPTY,
        limits: Limits = DEFAULT_LIMITS,
        *,
        values: Mapping[str, Any] = EMPTY,
        variable: str = "",
        seed: str = "",
        real_clock: bool = False,
    ) -> ProgramResult:
        """See `Sandbox.run`."""
        program: Message = {"code": code, "tools": sorted(tools), "values": dict(values), "limits": asdict(limits)}
        program |= {"variable": variable, "seed": seed, "real_clock": real_clock}
        with self._slots:
            while True:
                with self._borrow() as (process, is_new):
                    conversation = Conversation(process, tools, limits)
                    result = conversation.run(program)
                    if result is not None:
                        return result
                    self._forget(process)
                if conversation.accepted or is_new:
                    return conversation.failed_result()
                # The process was killed while it was idle, and has not started the program: use another process.

    @contextlib.contextmanager
    def _borrow(self) -> Iterator[tuple[Process, bool]]:
        """Yield an idle or a new process, and whether it is new; kill the process if the block raises."""
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the sandbox {self.name} is closed")
            idle = self._idle.pop() if self._idle else None
        process = idle or self._start()
        try:
            yield process, idle is None
        except BaseException:
            self._drop(process)
            raise
        with self._lock:
            if self._reusable and process in self._all:  # the process runs, and the sandbox is open
                self._idle.append(process)
                return
        self._drop(process)

    def _start(self) -> Process:
        process = Process(self._command, self._variables)
        with self._lock:
            self._all.add(process)
        try:
            message = process.read(START_TIMEOUT) or {"failed": "its process ended"}
        except BaseException:
            self._drop(process)
            raise
        if "failed" in message or self._closed:
            self._drop(process)
            problem = message.get("failed", "it was closed")
            raise SettingError(f"rag_sandbox {self.name} does not start: {problem}", code="RAG106")
        return process

    def _drop(self, process: Process) -> None:
        self._forget(process)
        process.kill()

    def _forget(self, process: Process) -> None:
        with self._lock:
            self._all.discard(process)

    def close(self) -> None:
        """See `Sandbox.close`."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
            idle, busy = self._idle, self._all.difference(self._idle)
            self._idle, self._all = [], set()
        for process in busy:
            process.stop()  # the thread that runs its program closes the pipes
        for process in idle:
            process.end()
