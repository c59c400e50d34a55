"""Offer tools to a program as functions: write their signatures, and run their calls."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_rageval.environments.tool import Observation, Tool
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.sandbox.tool_errors import error_of
from pytest_rageval.systems.agents.run import AgentRun, outcome_of

__all__ = ["ProgramTools", "signatures"]

TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict",
    "null": "None",
}  # fmt: skip


def signatures(tools: Sequence[Tool]) -> str:
    """Return tools as Python functions with docstrings and without bodies."""
    return "\n\n".join(map(_signature, tools))


class ProgramTools:
    """The tools of one run as functions for a program, which runs in a thread; the tools run on the run's event loop.

    Args:
        run: calls and records the tools.
        tools: the tools.

    Attributes:
        functions: name -> function. It returns the tool's result, and parses a JSON object or list in it. It raises the
            error of the tool.
    """

    def __init__(self, run: AgentRun, tools: Sequence[Tool]) -> None:
        self.functions: dict[str, Callable[..., Any]] = {tool.name: partial(self._call, tool) for tool in tools}
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._call_in_flight: concurrent.futures.Future[Any] | None = None
        self._ended = False

    def end(self) -> None:
        """Cancel the call in flight; a program that still runs ends at its next call."""
        self._ended = True
        if self._call_in_flight is not None:
            self._call_in_flight.cancel()

    def _call(self, tool: Tool, *args: Any, **kwargs: Any) -> Any:
        observation = self._wait_for_call(tool.name, _by_name(tool, args, kwargs))
        if observation.invalid:
            raise TypeError(observation.text)
        if observation.error is not None:
            name, _, message = observation.error.partition(": ")
            raise error_of(name, message)
        return _decode(observation.result)

    def _wait_for_call(self, name: str, arguments: dict[str, Any]) -> Observation:
        """Call a tool and wait for its result.

        Raises:
            asyncio.CancelledError: the run has ended; a program cannot catch it.
        """
        call = outcome_of(partial(self._run.call, name, arguments))
        try:
            self._call_in_flight = future = asyncio.run_coroutine_threadsafe(call, self._loop)
        except RuntimeError:  # the loop is closed
            call.close()
            raise asyncio.CancelledError from None
        if self._ended:
            future.cancel()
        try:
            observation, error = future.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None
        if observation is None:
            raise error or asyncio.CancelledError
        return observation


def _by_name(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name; a surplus argument gets a name that no tool has, so the call is invalid."""
    names = dict(enumerate(_properties(tool)))
    surplus = {number for number in range(len(args)) if names.get(number, "") in {"", *kwargs}}
    positional = {f"argument {n + 1}" if n in surplus else names[n]: value for n, value in enumerate(args)}
    return {**positional, **kwargs}


def _decode(result: Any) -> Any:
    """Parse a result that is a JSON object or list; return any other result unchanged."""
    if not isinstance(result, str) or not result.lstrip().startswith(("{", "[")):
        return result
    try:
        return parse_json(result, finite=True)
    except (ValueError, RecursionError):
        return result


def _signature(tool: Tool) -> str:
    properties, required = _properties(tool), tool.parameters.get("required", ())
    parameters = [_parameter(name, schema, name in required) for name, schema in properties.items()]
    notes = _notes(properties)
    docstring = "\n".join([tool.description, *([""] if notes else []), *notes]).strip().replace('"""', "'''")
    first, *others = docstring.splitlines() or [""]
    lines = [f'    """{first}', *(f"    {line}".rstrip() for line in others), '    """']
    return "\n".join([f"def {tool.name}({', '.join(parameters)}):", *(lines if docstring else ["    ..."])])


def _parameter(name: str, schema: Mapping[str, Any], required: bool) -> str:
    """Return ``year: int = 2000``; write ``...`` for an unknown default, as in a stub file."""
    hint = _hint(schema)
    declaration = f"{name}: {hint}" if hint else name
    if required:
        return declaration
    default = repr(schema["default"]) if "default" in schema else "..."
    return f"{declaration} = {default}" if hint else f"{declaration}={default}"


def _hint(schema: object) -> str:
    """Return the Python types of a schema; "" if one is unknown."""
    if not isinstance(schema, Mapping):
        return ""
    variants = schema.get("anyOf")
    if isinstance(variants, list):
        names = [_hint(variant) for variant in variants]
    else:
        kinds = schema.get("type")
        names = [TYPES.get(str(kind), "") for kind in (kinds if isinstance(kinds, list) else [kinds])]
    return " | ".join(dict.fromkeys(names)) if all(names) else ""


def _notes(properties: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return one line for each parameter with a description or a list of values."""
    notes = []
    for name, schema in properties.items():
        values = schema.get("enum")
        one_of = f"one of {', '.join(json.dumps(each, ensure_ascii=False) for each in values)}" if values else ""
        note = "; ".join(each for each in (str(schema.get("description", "")).strip(), one_of) if each)
        if note:
            notes.append(f"{name}: {note}")
    return notes


def _properties(tool: Tool) -> dict[str, Mapping[str, Any]]:
    """Return the parameters of a tool, required ones first, as a Python signature needs them."""
    schemas = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required", ())
    names = sorted(schemas, key=lambda name: name not in required)
    return {str(name): schemas[name] if isinstance(schemas[name], Mapping) else {} for name in names}
