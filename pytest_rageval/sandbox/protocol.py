"""What every sandbox does: run a program within limits and return how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

__all__ = ["Limits", "ProgramResult", "Sandbox", "Tool", "ToolCall"]

Tool = Callable[..., Any]
"""A function of ours that a program may call by name. It runs in our process and returns JSON values."""

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use. A program that passes a limit ends with an error.

    Attributes:
        seconds: the program's own time; the time of its tools does not count.
        total_seconds: the time of the program with its tools; None for no limit.
        memory: bytes of the program's values.
        printed: bytes that it prints.
        tool_calls: calls of tools.
        value: bytes of its value as JSON.
        depth: how deep its value, and what goes to and from tools, may be nested.
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
        name, args, kwargs: the tool and what it was called with.
        result: what it returned; None if it failed.
        error: the class and message of its error; empty if it returned.
        seconds: its time.
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended.

    Attributes:
        value: the value of the variable asked for, else of the last expression, as JSON values; None without one.
        printed: what it printed, as it printed it; escape it before it is shown.
        error: why it did not run to its end, as one escaped line, with the program's line if known; empty if it did.
        tool_calls: its calls, in their order.
        seconds: its own time, without its tools.
        is_set: whether the value is that of the variable asked for.
    """

    value: Any = None
    printed: str = ""
    error: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    seconds: float = 0.0
    is_set: bool = False


class Sandbox(Protocol):
    """Runs programs apart from our process. Threads may share one."""

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
        """Run a program once and return how it ended.

        An error of the program is reported in the `ProgramResult`. The call raises only errors of tools that a program
        may not handle: a `CaseError`, such as an outage, and a `BaseException` such as `KeyboardInterrupt`.

        Args:
            code: the program.
            tools: name -> function that it may call.
            limits: what it may use.
            values: name -> JSON value that it may read.
            variable: the variable whose value is returned if the program sets it.
            seed: the seed of ``random``, such as the case's id: the same program gives the same value again.
            real_clock: use the time of day; otherwise it is always 2000-01-01T00:00:00Z.
        """
        ...

    def close(self) -> None:
        """End all processes of the sandbox, also those that run a program."""
        ...
