"""Run one program with CPython, in a process that the sandbox ``bubblewrap`` starts.

Of this package, only this file, `bounded_json` and `tool_errors` can be imported. The program may do anything to this
process; the parent process reads only lines of limited length from it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import signal
import sys
import threading
import time
from typing import Any, BinaryIO, NoReturn

from pytest_rageval.sandbox.bounded_json import NotJsonError, to_bounded_json
from pytest_rageval.sandbox.tool_errors import error_of

__all__ = ["Channel", "Output", "Program", "Tool", "main"]

NOBODY = 65_534

PROCESSES = 16
FILE_SIZE = 16 << 20
FILES = 64
LONGEST_ERROR = 2_000
NAME = "<program>"

Y2K = 946_684_800.0
"""2000-01-01T00:00:00Z."""

Message = dict[str, Any]


class Channel:
    """Exchanges lines of JSON with the parent process; threads of the program may share it."""

    def __init__(self, lines: BinaryIO, replies: BinaryIO) -> None:
        self._lines, self._replies = lines, replies
        self._lock = threading.RLock()
        self._owner = os.getpid()

    def send(self, message: Message) -> None:
        if os.getpid() != self._owner:  # a child process that the program has forked
            os._exit(1)
        with self._lock:
            self._replies.write(json.dumps(message).encode() + b"\n")
            self._replies.flush()

    def ask(self, message: Message) -> Message:
        """Send a message and return its reply."""
        with self._lock:
            self.send(message)
            return self.receive()

    def receive(self) -> Message:
        line = self._lines.readline()
        if not line:
            os._exit(1)
        message: Message = json.loads(line)
        return message


class Output(io.TextIOBase):
    """Collects the output of the program, and ends the program at the limit."""

    def __init__(self, program: Program, max_bytes: int) -> None:
        self._program, self._remaining = program, max_bytes
        self._parts: list[str] = []

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        data = text.encode("utf-8", "replace")
        self._parts.append(data[: self._remaining].decode("utf-8", "ignore"))
        self._remaining -= len(data)
        if self._remaining < 0:
            self._program.end(error=f"output limit: the program printed more than {self._program.kib('printed')} KiB")
        return len(text)

    @property
    def text(self) -> str:
        return "".join(self._parts)


class Tool:
    """A tool, as a function that the program can call."""

    __slots__ = ("_name", "_program")

    def __init__(self, name: str, program: Program) -> None:
        self._name, self._program = name, program

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._program.call(self._name, list(args), kwargs)


class Program:
    """Runs one program and reports its result."""

    def __init__(self, message: Message, channel: Channel) -> None:
        self.message, self.channel = message, channel
        self.limits: dict[str, Any] = message["limits"]
        self.output = Output(self, self.limits["printed"])

    def kib(self, limit: str) -> int:
        return int(self.limits[limit]) >> 10

    def end(self, value: object = None, error: str = "", *, is_set: bool = False) -> NoReturn:
        """Report the result and end this process, even if threads of the program still run."""
        self.channel.send({"value": value, "is_set": is_set, "error": error, "printed": self.output.text})
        os._exit(0)

    def end_at_time_limit(self, *_: object) -> None:
        """End a program at its time limit. If the program prevents this, the parent process kills it later."""
        self.end(error=f"time limit: the program ran for more than {self.limits['seconds']:g} s")

    def call(self, name: str, args: list[object], kwargs: dict[str, object]) -> Any:
        """Return the result of a tool, or raise its error."""
        try:
            args, kwargs = to_bounded_json([args, kwargs], self.limits["argument"], self.limits["depth"] + 2)
        except NotJsonError as problem:
            raise ValueError(f"an argument of {name} {problem}") from None
        remaining, _ = signal.setitimer(signal.ITIMER_REAL, 0)  # the time of a tool does not count
        reply = self.channel.ask({"call": name, "args": args, "kwargs": kwargs})
        signal.setitimer(signal.ITIMER_REAL, remaining)
        if "stop" in reply:
            self.end(error=reply["stop"])
        if "raised" in reply:
            raise error_of(*reply["raised"])
        return reply["result"]

    def run(self) -> NoReturn:
        message = self.message
        tools = {name: Tool(name, self) for name in message["tools"]}
        variables: dict[str, Any] = {"__name__": "__main__", **tools, **message["values"]}
        sys.stdout = sys.stderr = self.output
        value, error = None, ""
        signal.signal(signal.SIGALRM, self.end_at_time_limit)
        signal.setitimer(signal.ITIMER_REAL, self.limits["seconds"])
        try:
            value = _run(message["code"], variables)
        except SystemExit as exit_error:
            error = "" if exit_error.code in (None, 0) else _error_text(exit_error)
        except MemoryError:
            variables.clear()
            error = f"memory limit: the program used more than {self.kib('memory') >> 10} MiB"
        except BaseException as exception:
            error = _error_text(exception)
        is_set = not error and message["variable"] in variables
        try:
            value = _without_numpy(variables[message["variable"]] if is_set else value)
            value = to_bounded_json(value, self.limits["value"], self.limits["depth"])
        except NotJsonError as problem:
            value, error = None, f"the value {problem}"
        except BaseException as exception:  # a class of the program may raise anything
            value, error = None, _error_text(exception)
        self.end(None if error else value, error, is_set=is_set)


def _run(code: str, variables: dict[str, Any]) -> object:
    """Run a program and return the value of its last expression."""
    tree = ast.parse(code, NAME)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    exec(compile(tree, NAME, "exec"), variables)  # noqa: S102 - this process exists for it
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), NAME, "eval"), variables)  # noqa: S307


def _without_numpy(value: Any) -> Any:
    """Convert numpy arrays and numbers to Python values, in a value or in its items."""
    if isinstance(value, list | tuple):
        return [item.tolist() if hasattr(item, "tolist") else item for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _error_text(error: BaseException) -> str:
    """Return the class, message and line number of an error."""
    name = type(error).__name__
    try:
        message = error.args[0] if isinstance(error, KeyError) and error.args else error
        text = str(error.msg if isinstance(error, SyntaxError) else message)[:LONGEST_ERROR]
    except BaseException:
        text = ""
    line = error.lineno if isinstance(error, SyntaxError) else None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == NAME:
            line = step.tb_lineno
        step = step.tb_next
    return (f"{name}: {text}" if text else name) + (f" (line {line})" if line else "")


def _fix_clock() -> None:
    """Fix the clock of the program at `Y2K`."""
    import datetime

    dates: Any = datetime.date
    times: Any = datetime.datetime
    utc = datetime.timezone.utc

    class Kind(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__mro__[1])

    class Date(dates, metaclass=Kind):  # type: ignore[misc]
        @classmethod
        def today(cls) -> Any:
            return cls(2000, 1, 1)

    class Datetime(times, metaclass=Kind):  # type: ignore[misc]
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            now = cls.fromtimestamp(Y2K, tz or utc)
            return now if tz else now.replace(tzinfo=None)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now()

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    for fixed, real in ((Date, dates), (Datetime, times)):
        fixed.__name__ = fixed.__qualname__ = real.__name__
        fixed.__module__ = "datetime"
    parts = time.gmtime(Y2K)
    changes: dict[Any, dict[str, object]] = {
        datetime: {"date": Date, "datetime": Datetime},
        time: {
            "time": lambda: Y2K,
            "time_ns": lambda: int(Y2K) * 10**9,
            "gmtime": lambda seconds=None, real=time.gmtime: real(Y2K if seconds is None else seconds),
            "localtime": lambda seconds=None, real=time.localtime: real(Y2K if seconds is None else seconds),
            "ctime": lambda seconds=None, real=time.ctime: real(Y2K if seconds is None else seconds),
            "strftime": lambda form, when=parts, real=time.strftime: real(form, when),
        },
    }
    for module, names in changes.items():
        for name, value in names.items():
            setattr(module, name, value)


def _limit(limits: Message) -> None:
    """Drop the rights of root, and set the limits of this process; they cannot be raised again."""
    import resource

    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    with open("/proc/self/statm", encoding="ascii") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    for limit, maximum in (
        (resource.RLIMIT_AS, used + limits["memory"]),
        (resource.RLIMIT_FSIZE, FILE_SIZE),
        (resource.RLIMIT_NPROC, PROCESSES),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # the system's limit is lower
            resource.setrlimit(limit, (maximum, maximum))


def main(packages: list[str]) -> None:
    """Run one program; the parent process starts a new process for the next program."""
    channel = Channel(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    null_device = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null_device, stream)
    channel.send({"ready": True})
    message = channel.receive()
    _limit(message["limits"])
    channel.send({"accepted": True})
    sys.path += packages
    import random

    random.seed(message["seed"])
    if not message["real_clock"]:
        _fix_clock()
    Program(message, channel).run()
