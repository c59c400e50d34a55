"""The protocol of a sandbox: run a program within limits, and return its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

__all__ = ["Limits", "ProgramResult", "Sandbox", "Tool", "ToolCall"]

Tool = Callable[..., Any]
"""A function that a program may call by name. It runs in our process and returns JSON values."""

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one program. A program that exceeds a limit ends with an error.

    Attributes:
        seconds: the time of the program, without its tools.
        total_seconds: the time of the program, including its tools; None for no limit.
        memory: bytes of the program's values.
        printed: bytes of its output.
        tool_calls: number of tool calls.
        value: bytes of its value as JSON.
        depth: nesting of its value, and of the arguments and results of tools.
        argument: bytes of the arguments of one call as JSON.
        result: bytes of a tool's result as JSON; a larger one is an error of the tool.
    """

    seconds: float = 10.0
    total_seconds: float | None = None
    memory: int = 256 * MIB
    printed: int = 64 << 10
    tool_calls: int = 100
    value: int = 64 << 10
    depth: int = 50
    argument: int = MIB
    result: int = 16 * MIB


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool by a program.

    Attributes:
        name, args, kwargs: the tool and its arguments.
        result: its return value; None if it failed.
        error: the class and message of its error; empty if it succeeded.
        seconds: its duration.
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The result of a program.

    Attributes:
        value: the value of ``variable`` or, if the program does not set it, of the last expression, as JSON values;
            None without a value.
        printed: its output, unescaped; escape it before it is shown.
        error: why it failed, as one escaped line, with the line number in the program if known; empty if it succeeded.
        tool_calls: its tool calls, in order.
        seconds: its duration, without its tools.
        is_set: whether the program set ``variable``.
    """

    value: Any = None
    printed: str = ""
    error: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    seconds: float = 0.0
    is_set: bool = False


class Sandbox(Protocol):
    """Runs programs isolated from our process. Threads may share a sandbox."""

    name: str

    def run(
        self,
        code: str,
        tools: Mapping[str, Tool] = MappingProxyType({}),
        limits: Limits = Limits(),
        *,
        values: Mapping[str, Any] = MappingProxyType({}),
        variable: str = "",
        seed: str = "",
        real_clock: bool = False,
    ) -> ProgramResult:
        """Run a program once and return its result.

        An error of the program is reported in the `ProgramResult`. The call raises only errors of tools that a program
        may not handle: a `CaseError`, such as an outage, and a `BaseException` such as `KeyboardInterrupt`.

        Args:
            code: the program.
            tools: name -> function that it may call.
            limits: its limits.
            values: name -> JSON value that it may read.
            variable: the variable whose value is returned if the program sets it.
            seed: the seed of ``random``, such as the case's id; it makes the value of a program reproducible.
            real_clock: use the time of day; otherwise it is always 2000-01-01T00:00:00Z.
        """
        ...

    def close(self) -> None:
        """End all processes of the sandbox, even if they run a program."""
        ...
