"""The process of the sandbox ``monty``: reads programs as lines of JSON and drives Monty, which runs them.

It has no environment and no terminal, and our process reads only bounded lines from it. What a program does to Monty
ends here at worst: our process then kills this one.
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

from pytest_rageval.sandbox.bounded_json import NotJsonError, bounded

if TYPE_CHECKING:
    from typing import BinaryIO

    from pydantic_monty import FunctionSnapshot, Monty, MontySession

__all__ = ["Channel", "Printed", "Program", "main"]

ADDRESS_SPACE = 2 << 30
"""Bytes of this process and of Monty's, if Monty's own limit fails."""

GRACE = 1.0
"""Seconds until Monty is killed after its program's time is over."""

LONGEST_ERROR = 2_000
KNOWN_ERRORS = {
    *("ArithmeticError", "AssertionError", "FileNotFoundError", "IndexError", "KeyError", "LookupError"),
    *("NotImplementedError", "OSError", "OverflowError", "PermissionError", "RuntimeError", "TimeoutError"),
    *("TypeError", "ValueError", "ZeroDivisionError"),
}
"""Errors of tools that a program catches by their class; others come as a RuntimeError."""

CLOCK = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)

Message = dict[str, Any]


class _StoppedError(Exception):
    """The run ends here; the message says why."""


class Channel:
    """Lines of JSON from and to our process. If that ends while a program runs, this process and Monty end at once."""

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


class Printed:
    """What a program prints, up to a limit; then its worker is killed, as Monty would go on until its time is over."""

    def __init__(self, most: int, kill: Callable[[], None]) -> None:
        self._left, self._kill = most, kill
        self._parts: list[str] = []
        self.full = False

    def __call__(self, stream: str, text: str) -> None:
        if self.full:
            return
        data = text.encode("utf-8", "replace")
        self._parts.append(data[: self._left].decode("utf-8", "ignore"))
        self._left -= len(data)
        if self._left < 0:
            self.full = True
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
        """Return the end of the program for our process."""
        from pydantic_monty import MontyError

        value, error, printed = None, "", Printed(0, lambda: None)
        try:
            with self.session(pool) as session:
                self.send({"accepted": True})
                printed = Printed(self.limits["printed"], _killer(session.worker_pid))
                value = self.drive(session, printed)
        except NotJsonError as problem:
            error = f"the value {problem}"
        except _StoppedError as stopped:
            error = str(stopped)
        except (MontyError, ValueError, RuntimeError, TypeError, MemoryError) as failure:
            error = self.explain(failure)
        if printed.full:
            value, error = None, f"output limit: the program printed more than {self.limits['printed'] >> 10} KiB"
        return {"value": value, "is_set": self.is_set, "error": error, "printed": printed.text}

    @contextlib.contextmanager
    def session(self, pool: Monty) -> Iterator[MontySession]:
        """Open a session; the pool replaces a worker that ended while it was idle."""
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

    def drive(self, session: MontySession, printed: Printed) -> Any:
        """Run the program, answer its calls of tools, and return its value as JSON values."""
        from pydantic_monty import FunctionSnapshot, FutureSnapshot, MontyComplete, MontyRuntimeError

        lookup = dict.fromkeys(self.tools, _never)
        step = session.feed_start(self.code, inputs=self.values, external_lookup=lookup, print_callback=printed)
        while not isinstance(step, MontyComplete):
            if isinstance(step, FutureSnapshot):
                raise _StoppedError("the program waits for what never comes")
            if isinstance(step, FunctionSnapshot) and step.function_name in self.tools and not step.is_os_function:
                step = step.resume(self.call(step))
            else:
                step = step.resume_auto()
        if self.variable:
            with contextlib.suppress(MontyRuntimeError):  # it is not set
                value = session.feed_run(self.variable)
                self.is_set = True
                return self.checked(value)
        return self.checked(step.output)

    def call(self, step: FunctionSnapshot) -> Any:
        """Ask our process for a tool's result; return it, or its error, for Monty."""
        most, depth = self.limits["argument"], self.limits["depth"]
        try:
            args, kwargs = bounded([list(step.args), step.kwargs], most, depth + 2)
        except NotJsonError as problem:
            return {"exc_type": "ValueError", "message": f"an argument of {step.function_name} {problem}"}
        reply = self.ask({"call": step.function_name, "args": args, "kwargs": kwargs})
        if "stop" in reply:
            raise _StoppedError(reply["stop"])
        if "raised" in reply:
            return _raised(*reply["raised"])
        return {"return_value": reply["result"]}

    def checked(self, value: object) -> Any:
        return bounded(value, self.limits["value"], self.limits["depth"])

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


def _raised(name: str, message: str) -> Any:
    """Return a tool's error for Monty, by its class if Monty knows it."""
    if name in KNOWN_ERRORS:
        return {"exc_type": name, "message": message}
    return {"exc_type": "RuntimeError", "message": f"{name}: {message}"}


def _never(*args: object, **kwargs: object) -> None:
    """Stand for a tool in Monty's table; `Program.call` answers its calls."""


def _killer(pid: int | None) -> Callable[[], None]:
    def kill() -> None:
        if pid is not None:
            with contextlib.suppress(OSError):
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    return kill


def _end_group() -> None:
    """End this process and Monty's, which is in its group."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def _limit_process() -> None:
    """Bound the memory of this process and Monty's, and let them write no file and no core."""
    with contextlib.suppress(ImportError):  # not on Windows
        import resource

        limits: Mapping[int, int] = {
            resource.RLIMIT_AS: ADDRESS_SPACE,
            resource.RLIMIT_FSIZE: 0,
            resource.RLIMIT_CORE: 0,
        }
        for limit, most in limits.items():
            with contextlib.suppress(ValueError, OSError):  # the system's limit is lower
                resource.setrlimit(limit, (most, most))


def main() -> None:
    """Serve programs until our process closes the pipe."""
    channel = Channel(sys.stdin.buffer, os.fdopen(os.dup(1), "wb"))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing else may write between the lines
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
