"""Run programs in processes of their own, which speak lines of JSON with ours."""

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

STARTING = 60.0
"""Seconds that a process may take to start."""

RUNNING = 16
"""Programs at a time; others wait. The default number of answers at a time is the same."""

_OUR_PATHS = (
    "import sys; at = [*(path.endswith('-packages') for path in sys.path), True].index(True); "
    "sys.path[at:at] = sys.argv[1:]"
)
"""Lets a process import what ours imports; a project's module cannot replace one of the standard library."""

PASSED_ON = ("PATH", "MONTY_BIN", "SYSTEMROOT")
"""All that a process sees of our environment."""

EMPTY: Mapping[str, Any] = MappingProxyType({})
DEFAULT_LIMITS = Limits()


def python_command(serve: str) -> list[str]:
    """Return the command of a process of this Python that runs ``module:function``, which serves programs."""
    module, _, function = serve.partition(":")
    start = f"{_OUR_PATHS}; from {module} import {function}; {function}()"
    return [sys.executable, "-I", "-c", start, *(path for path in sys.path if path)]


class ProcessSandbox:
    """A `Sandbox` whose programs run in processes of their own.

    Args:
        name: the value of ``rag_sandbox``.
        command: of the processes, which serve programs on their pipes.
        lasts: whether a process serves one program after another.
        variables: all that a process sees of our environment.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, lasts: bool = True, variables: Sequence[str] = PASSED_ON
    ) -> None:
        self.name = name
        self._command, self._lasts, self._variables = command, lasts, variables
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(RUNNING)
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
                with self._lent() as (process, is_new):
                    conversation = Conversation(process, tools, limits)
                    ran = conversation.hold(program)
                    if ran is not None:
                        return ran
                    self._forget(process)
                if conversation.accepted or is_new:
                    return conversation.broken()
                # Someone ended the process while it was idle. It has not begun the program.

    @contextlib.contextmanager
    def _lent(self) -> Iterator[tuple[Process, bool]]:
        """Lend an idle process, or a new one, and whether it is new; kill it if the block raises."""
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
            if self._lasts and process in self._all:  # it has not ended, and the sandbox is not closed
                self._idle.append(process)
                return
        self._drop(process)

    def _start(self) -> Process:
        process = Process(self._command, self._variables)
        with self._lock:
            self._all.add(process)
        try:
            message = process.read(STARTING) or {"failed": "its process ended"}
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
            process.stop()  # the thread that runs its program closes it
        for process in idle:
            process.end()
