"""What our process and a sandbox's say to each other while one program runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pytest_rageval.errors import CaseError, ascii_safe
from pytest_rageval.sandbox.bounded_json import NotJsonError, bounded
from pytest_rageval.sandbox.process import Message, Process
from pytest_rageval.sandbox.protocol import Limits, ProgramResult, Tool, ToolCall

__all__ = ["Conversation"]

GRACE = 3.0
"""Seconds that a process may take beyond its program's time; then it is killed."""

LONGEST_ERROR = 2_000

ACCEPTED = {"accepted"}
CALL = {"call", "args", "kwargs"}
END = {"value", "printed", "error"}
"""The keys of a process's messages; one without them is broken, and its process is replaced."""


class Conversation:
    """One program in one process: what it asks for and how it ends.

    Attributes:
        accepted: whether the process has begun the program; until then it may be given to another process.
    """

    def __init__(self, process: Process, tools: Mapping[str, Tool], limits: Limits) -> None:
        self.process, self.tools, self.limits = process, tools, limits
        self.accepted = False
        self.calls: list[ToolCall] = []
        self.seconds = 0.0
        self.started = time.monotonic()

    def hold(self, program: Message) -> ProgramResult | None:
        """Send the program, answer its calls, and return its end; None if the process ended or failed before it."""
        message = self.turn(program)
        if message is not None and message.keys() == ACCEPTED:
            self.accepted = True
            message = self.receive(self.remaining)
            while message is not None and self.is_call(message):
                message = self.turn(self.answer(message))
        return None if message is None or not message.keys() >= END else self.ended(message)

    def is_call(self, message: Message) -> bool:
        """Return whether a message is a call within the limits; a program may have taken over the process."""
        if not message.keys() >= CALL:
            return False
        name, args, kwargs = (message[key] for key in ("call", "args", "kwargs"))
        try:
            bounded([args, kwargs], self.limits.argument, self.limits.depth + 2)
        except NotJsonError:
            return False
        return isinstance(name, str) and isinstance(args, list) and isinstance(kwargs, dict)

    def ended(self, message: Message) -> ProgramResult | None:
        """Return the end of the program; None if it passes the limits."""
        try:
            value = bounded(message["value"], self.limits.value, self.limits.depth)
        except NotJsonError:
            return None
        printed, error = str(message["printed"])[: self.limits.printed], str(message["error"])[: 2 * LONGEST_ERROR]
        is_set = message.get("is_set") is True
        return ProgramResult(value, printed, ascii_safe(error), tuple(self.calls), self.seconds, is_set)

    def turn(self, message: Message) -> Message | None:
        """Send a message and return the next one."""
        self.process.write(message)
        return self.receive(GRACE if "stop" in message else self.remaining)

    def receive(self, seconds: float) -> Message | None:
        """Return the process's next message; the time until it comes is the program's own."""
        started = time.monotonic()
        try:
            return self.process.read(min(self.limits.seconds - self.seconds + GRACE, seconds))
        finally:
            self.seconds += time.monotonic() - started

    @property
    def remaining(self) -> float:
        """Seconds until the program has to end, with its tools."""
        total = self.limits.total_seconds
        return float("inf") if total is None else self.started + total - time.monotonic()

    def answer(self, message: Message) -> Message:
        """Call a tool and return its result, its error or the limit that ends the run."""
        if len(self.calls) == self.limits.tool_calls:
            return {"stop": f"tool call limit: the program called tools more than {self.limits.tool_calls} times"}
        call, raised = self.call(message["call"], message["args"], message["kwargs"])
        self.calls.append(call)
        if self.remaining <= 0:
            return {"stop": self.out_of_time()}
        return {"raised": raised} if raised else {"result": call.result}

    def call(self, name: str, args: list[Any], kwargs: Message) -> tuple[ToolCall, list[str]]:
        """Call a tool; return its record, and the class and message of its error."""
        started = time.monotonic()
        result, raised = None, []
        try:
            result = bounded(self.tools[name](*args, **kwargs), self.limits.result, self.limits.depth)
        except CaseError:
            raise  # an outage or a budget is the case's error, and not the program's
        except NotJsonError as problem:
            raised = ["TypeError", f"the result of {name} {problem}"]
        except Exception as error:
            key = isinstance(error, KeyError) and error.args
            raised = [type(error).__name__, str(error.args[0] if key else error)[:LONGEST_ERROR]]
        seconds = time.monotonic() - started
        return ToolCall(name, tuple(args), kwargs, result, ": ".join(raised), seconds), raised

    def broken(self) -> ProgramResult:
        """Return the end of a program whose process ended."""
        if self.remaining <= 0:
            error = self.out_of_time()
        elif self.seconds > self.limits.seconds:
            error = f"time limit: the program ran for more than {self.limits.seconds:g} s"
        else:
            error = "the sandbox ended while the program ran, as it used too much memory or was killed"
        return ProgramResult(None, "", error, tuple(self.calls), self.seconds)

    def out_of_time(self) -> str:
        return f"time limit: the program and its tools took more than {self.limits.total_seconds:g} s"
