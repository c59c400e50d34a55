"""Run one program in a sandbox process: exchange messages, call its tools, apply limits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from pytest_rageval.errors import CaseError, ascii_safe
from pytest_rageval.sandbox.bounded_json import NotJsonError, to_bounded_json
from pytest_rageval.sandbox.process import Message, Process
from pytest_rageval.sandbox.protocol import Limits, ProgramResult, Tool, ToolCall

__all__ = ["Conversation"]

GRACE = 3.0
"""Seconds after the time limit of a program until its process is killed."""

LONGEST_ERROR = 2_000

ACCEPTED = {"accepted"}
CALL = {"call", "args", "kwargs"}
END = {"value", "printed", "error"}
"""The keys of a process's messages. A process that sends a message without them is broken, and is replaced."""


class Conversation:
    """The messages of one program in one process.

    Attributes:
        accepted: whether the process has started the program; before that, another process can run it instead.
    """

    def __init__(self, process: Process, tools: Mapping[str, Tool], limits: Limits) -> None:
        self.process, self.tools, self.limits = process, tools, limits
        self.accepted = False
        self.calls: list[ToolCall] = []
        self.seconds = 0.0
        self.start = time.monotonic()

    def run(self, program: Message) -> ProgramResult | None:
        """Run the program and its tool calls, and return its result; None if the process ended or failed."""
        message = self.exchange(program)
        if message is not None and message.keys() == ACCEPTED:
            self.accepted = True
            message = self.receive(self.remaining)
            while message is not None and self.is_call(message):
                message = self.exchange(self.answer(message))
        return None if message is None or not message.keys() >= END else self.result_of(message)

    def is_call(self, message: Message) -> bool:
        """Return whether a message is a valid call within the limits; a program may control its process."""
        if not message.keys() >= CALL:
            return False
        name, args, kwargs = (message[key] for key in ("call", "args", "kwargs"))
        try:
            to_bounded_json([args, kwargs], self.limits.argument, self.limits.depth + 2)
        except NotJsonError:
            return False
        return isinstance(name, str) and isinstance(args, list) and isinstance(kwargs, dict)

    def result_of(self, message: Message) -> ProgramResult | None:
        """Return the result of the program; None if its value exceeds the limits."""
        try:
            value = to_bounded_json(message["value"], self.limits.value, self.limits.depth)
        except NotJsonError:
            return None
        printed, error = str(message["printed"])[: self.limits.printed], str(message["error"])[: 2 * LONGEST_ERROR]
        is_set = message.get("is_set") is True
        return ProgramResult(value, printed, ascii_safe(error), tuple(self.calls), self.seconds, is_set)

    def exchange(self, message: Message) -> Message | None:
        """Send a message and return the next message of the process."""
        self.process.write(message)
        return self.receive(GRACE if "stop" in message else self.remaining)

    def receive(self, seconds: float) -> Message | None:
        """Return the process's next message; count the time until then as time of the program."""
        start = time.monotonic()
        try:
            return self.process.read(min(self.limits.seconds - self.seconds + GRACE, seconds))
        finally:
            self.seconds += time.monotonic() - start

    @property
    def remaining(self) -> float:
        """Seconds until the total time limit, which includes the tools."""
        total = self.limits.total_seconds
        return float("inf") if total is None else self.start + total - time.monotonic()

    def answer(self, message: Message) -> Message:
        """Call a tool; return its result, its error, or the limit that ends the run, as a message."""
        if len(self.calls) == self.limits.tool_calls:
            return {"stop": f"tool call limit: the program called tools more than {self.limits.tool_calls} times"}
        call, error_parts = self.call(message["call"], message["args"], message["kwargs"])
        self.calls.append(call)
        if self.remaining <= 0:
            return {"stop": self.out_of_time()}
        return {"raised": error_parts} if error_parts else {"result": call.result}

    def call(self, name: str, args: list[Any], kwargs: Message) -> tuple[ToolCall, list[str]]:
        """Call a tool; return its record, and the class and message of its error."""
        start = time.monotonic()
        result, error_parts = None, []
        try:
            result = to_bounded_json(self.tools[name](*args, **kwargs), self.limits.result, self.limits.depth)
        except CaseError:
            raise  # an outage or the budget is an error of the case, not of the program
        except NotJsonError as problem:
            error_parts = ["TypeError", f"the result of {name} {problem}"]
        except Exception as error:
            is_key_error = isinstance(error, KeyError) and error.args
            error_parts = [type(error).__name__, str(error.args[0] if is_key_error else error)[:LONGEST_ERROR]]
        seconds = time.monotonic() - start
        return ToolCall(name, tuple(args), kwargs, result, ": ".join(error_parts), seconds), error_parts

    def failed_result(self) -> ProgramResult:
        """Return the result of a program whose process ended."""
        if self.remaining <= 0:
            error = self.out_of_time()
        elif self.seconds > self.limits.seconds:
            error = f"time limit: the program ran for more than {self.limits.seconds:g} s"
        else:
            error = "the sandbox ended while the program ran, as it used too much memory or was killed"
        return ProgramResult(None, "", error, tuple(self.calls), self.seconds)

    def out_of_time(self) -> str:
        return f"time limit: the program and its tools took more than {self.limits.total_seconds:g} s"
