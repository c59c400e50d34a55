"""Run programs with Monty, in a process that the sandbox ``monty`` starts.

The process reads programs as lines of JSON. It has no environment variables and no terminal, and the parent process
reads only lines of limited length from it. If a program breaks Monty, it can only break this process; then the parent
process kills it.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pytest_rageval.sandbox.bounded_json import NotJsonError, to_bounded_json
from pytest_rageval.sandbox.tool_errors import TOOL_ERRORS

if TYPE_CHECKING:
    from typing import BinaryIO

    from pydantic_monty import FunctionSnapshot, Monty, MontySession

__all__ = ["Channel", "OutputBuffer", "Program", "main"]

ADDRESS_SPACE = 2 << 30
"""Memory limit of this process and of Monty's process, in bytes, if Monty's own limit fails."""

GRACE = 1.0
"""Seconds after the time limit of a program until Monty is killed."""

LONGEST_ERROR = 2_000

CLOCK = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)

Message = dict[str, Any]


class _StoppedError(Exception):
    """Raised to end the run; the message is the reason."""


class Channel:
    """Exchanges lines of JSON with the parent process.

    If the parent ends while a program runs, this process and Monty end at once.
    """

    def __init__(self, lines: BinaryIO, replies: BinaryIO) -> None:
        self._lines, self._replies = lines, replies
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.busy = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._lines:
            self._messages.put(json.loads(line))
        if self.busy:
            _end_group()
        self._messages.put(None)

    def send(self, message: Message) -> None:
        self._replies.write(json.dumps(message).encode() + b"\n")
        self._replies.flush()

    def receive(self) -> Message | None:
        """Return the next message; None at the end."""
        return self._messages.get()

    def ask(self, message: Message) -> Message:
        """Send a message and return its reply."""
        self.send(message)
        reply = self.receive()
        if reply is None:
            raise _StoppedError("the run was ended")
        return reply


class OutputBuffer:
    """Collects the output of a program; kills the worker at the limit, because Monty would run until its time limit."""

    def __init__(self, max_bytes: int, kill: Callable[[], None]) -> None:
        self._remaining, self._kill = max_bytes, kill
        self._parts: list[str] = []
        self.is_full = False

    def __call__(self, stream: str, text: str) -> None:
        if self.is_full:
            return
        data = text.encode("utf-8", "replace")
        self._parts.append(data[: self._remaining].decode("utf-8", "ignore"))
        self._remaining -= len(data)
        if self._remaining < 0:
            self.is_full = True
            self._kill()

    @property
    def text(self) -> str:
        return "".join(self._parts)


class Program:
    """One program in one session of Monty."""

    def __init__(self, message: Message, channel: Channel) -> None:
        self.code: str = message["code"]
        self.tools: list[str] = message["tools"]
        self.values: Message = message["values"]
        self.limits: Message = message["limits"]
        self.variable: str = message["variable"]
        self.is_set = False
        self.policy: Message = {"sleep": "zero", "random_start": {"seed": message["seed"]}}
        if not message["real_clock"]:
            self.policy["datetime"] = CLOCK
        self.ask, self.send = channel.ask, channel.send

    def run(self, pool: Monty) -> Message:
        """Run the program; return its result as a message to the parent process."""
        from pydantic_monty import MontyError

        value, error, output = None, "", OutputBuffer(0, lambda: None)
        try:
            with self.session(pool) as session:
                self.send({"accepted": True})
                output = OutputBuffer(self.limits["printed"], _killer(session.worker_pid))
                value = self.drive(session, output)
        except NotJsonError as problem:
            error = f"the value {problem}"
        except _StoppedError as stopped:
            error = str(stopped)
        except (MontyError, ValueError, RuntimeError, TypeError, MemoryError) as failure:
            error = self.explain(failure)
        if output.is_full:
            value, error = None, f"output limit: the program printed more than {self.limits['printed'] >> 10} KiB"
        return {"value": value, "is_set": self.is_set, "error": error, "printed": output.text}

    @contextlib.contextmanager
    def session(self, pool: Monty) -> Iterator[MontySession]:
        """Open a session; if the worker has ended while it was idle, the pool starts a new one."""
        from pydantic_monty import MontyCrashedError

        limits: Any = {
            "max_feed_duration_secs": self.limits["seconds"],
            "max_memory": self.limits["memory"],
            "max_suspensions": 1_000 + 4 * self.limits["tool_calls"],
        }

        def checkout() -> MontySession:
            return pool.checkout(limits=limits, os_policy=self.policy, assert_message_annotations=False)  # type: ignore[arg-type]

        with contextlib.ExitStack() as stack:
            try:
                session = stack.enter_context(checkout())
            except MontyCrashedError:
                session = stack.enter_context(checkout())
            yield session

    def drive(self, session: MontySession, output: OutputBuffer) -> Any:
        """Run the program and its tool calls, and return its value as JSON values."""
        from pydantic_monty import FunctionSnapshot, FutureSnapshot, MontyComplete, MontyRuntimeError

        lookup = dict.fromkeys(self.tools, _placeholder)
        step = session.feed_start(self.code, inputs=self.values, external_lookup=lookup, print_callback=output)
        while not isinstance(step, MontyComplete):
            if isinstance(step, FutureSnapshot):
                raise _StoppedError("the program waits for what never comes")
            if isinstance(step, FunctionSnapshot) and step.function_name in self.tools and not step.is_os_function:
                step = step.resume(self.call(step))
            else:
                step = step.resume_auto()
        if self.variable:
            with contextlib.suppress(MontyRuntimeError):  # the program does not set the variable
                value = session.feed_run(self.variable)
                self.is_set = True
                return self.to_json(value)
        return self.to_json(step.output)

    def call(self, step: FunctionSnapshot) -> Any:
        """Request a tool call from the parent process; return its result or error in Monty's form."""
        max_bytes, depth = self.limits["argument"], self.limits["depth"]
        try:
            args, kwargs = to_bounded_json([list(step.args), step.kwargs], max_bytes, depth + 2)
        except NotJsonError as problem:
            return {"exc_type": "ValueError", "message": f"an argument of {step.function_name} {problem}"}
        reply = self.ask({"call": step.function_name, "args": args, "kwargs": kwargs})
        if "stop" in reply:
            raise _StoppedError(reply["stop"])
        if "raised" in reply:
            return _monty_error(*reply["raised"])
        return {"return_value": reply["result"]}

    def to_json(self, value: object) -> Any:
        return to_bounded_json(value, self.limits["value"], self.limits["depth"])

    def explain(self, failure: Exception) -> str:
        """Return the error of a program in one line."""
        from pydantic_monty import MontyCrashedError, MontyRuntimeError, MontySyntaxError

        text = str(failure)
        if isinstance(failure, MontyCrashedError):
            return self.time_limit() if failure.timed_out else f"the sandbox ended: {text}"[:LONGEST_ERROR]
        if text.startswith("TimeoutError: feed time limit"):
            return self.time_limit()
        if text.startswith("MemoryError: ") and "memory limit" in text:
            return f"memory limit: the program used more than {self.limits['memory'] >> 20} MiB"
        if isinstance(failure, MontySyntaxError):
            text = f"SyntaxError: {text}"
        elif not isinstance(failure, MontyRuntimeError):
            text = f"{type(failure).__name__}: {text}"
        frames = failure.traceback() if isinstance(failure, (MontyRuntimeError, MontySyntaxError)) else []
        return text[:LONGEST_ERROR] + (f" (line {frames[-1].line})" if frames else "")

    def time_limit(self) -> str:
        return f"time limit: the program ran for more than {self.limits['seconds']:g} s"


def _monty_error(name: str, message: str) -> Any:
    """Return a tool's error in Monty's form, with its class if Monty knows the class."""
    if name in TOOL_ERRORS:
        return {"exc_type": name, "message": message}
    return {"exc_type": "RuntimeError", "message": f"{name}: {message}"}


def _placeholder(*args: object, **kwargs: object) -> None:
    """Placeholder of a tool in Monty's table; `Program.call` runs its calls."""


def _killer(pid: int | None) -> Callable[[], None]:
    def kill() -> None:
        if pid is not None:
            with contextlib.suppress(OSError):
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    return kill


def _end_group() -> None:
    """Kill this process and Monty's process, which is in the same group."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _limit_process() -> None:
    """Limit the memory of this process and of Monty's process, and forbid files and core dumps."""
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        limits: Mapping[int, int] = {
            resource.RLIMIT_AS: ADDRESS_SPACE,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_CORE: 0,
        }
        for limit, maximum in limits.items():
            with contextlib.suppress(ValueError, OSError):  # the system's limit is lower
                resource.setrlimit(limit, (maximum, maximum))


def main() -> None:
    """Serve programs until the parent process closes the pipe."""
    channel = Channel(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # keep other output out of the pipe
    _limit_process()
    try:
        from pydantic_monty import Monty

        pool = Monty(min_processes=1, max_processes=1, feed_duration_limit_grace=GRACE).__enter__()
    except Exception as error:
        channel.send({"failed": f"{type(error).__name__}: {error}"})
        return
    with pool:
        channel.send({"ready": True})
        while (message := channel.receive()) is not None:
            channel.busy = True
            end = Program(message, channel).run(pool)
            channel.busy = False
            channel.send(end)
