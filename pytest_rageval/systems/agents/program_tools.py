"""Tools as functions of a program: what the model reads of them, and how a program calls them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

from pytest_rageval.environments.tool import Observation, Tool
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.systems.agents.run import AgentRun

__all__ = ["ProgramTools", "signatures"]

TYPES = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict",
    "null": "None",
}  # fmt: skip

ERRORS: Mapping[str, type[Exception]] = {
    error.__name__: error
    for error in (
        *(ArithmeticError, AssertionError, FileNotFoundError, IndexError, KeyError, LookupError, NotImplementedError),
        *(OSError, OverflowError, PermissionError, RuntimeError, TypeError, ValueError, ZeroDivisionError),
    )
}
"""Errors of tools that a program catches by their class; others are a `RuntimeError`."""


def signatures(tools: Sequence[Tool]) -> str:
    """Return tools as Python functions with docstrings and without bodies."""
    return "\n\n".join(map(_signature, tools))


class ProgramTools:
    """The tools of one run as functions for a program, which runs in a thread; the tools run on the run's event loop.

    Args:
        run: calls and records them.
        tools: the tools.

    Attributes:
        functions: name -> function. It returns the tool's result; an object or a list that is written as JSON is
            returned as a value. It raises what the tool raised.
    """

    def __init__(self, run: AgentRun, tools: Sequence[Tool]) -> None:
        self.functions: dict[str, Callable[..., Any]] = {tool.name: partial(self._call, tool) for tool in tools}
        self._run = run
        self._loop = asyncio.get_running_loop()
        self._call_in_flight: concurrent.futures.Future[Observation] | None = None
        self._ended = False

    def end(self) -> None:
        """Cancel the call in flight; a program that still runs ends at its next call."""
        self._ended = True
        if self._call_in_flight is not None:
            self._call_in_flight.cancel()

    def _call(self, tool: Tool, *args: Any, **kwargs: Any) -> Any:
        observation = self._observed(tool.name, _by_name(tool, args, kwargs))
        if observation.invalid:
            raise TypeError(observation.text)
        if observation.error is not None:
            _raise(observation.error)
        return _decoded(observation.result)

    def _observed(self, name: str, arguments: dict[str, Any]) -> Observation:
        """Wait for a call; raise `asyncio.CancelledError`, which a program cannot catch, if the run has ended."""
        call = self._run.call(name, arguments)
        try:
            self._call_in_flight = future = asyncio.run_coroutine_threadsafe(call, self._loop)
        except RuntimeError:  # the loop is closed
            call.close()
            raise asyncio.CancelledError from None
        if self._ended:
            future.cancel()
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise asyncio.CancelledError from None


def _by_name(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name; one too many has a name that no tool has, so its call is invalid."""
    names = dict(enumerate(_properties(tool)))
    surplus = {number for number in range(len(args)) if names.get(number, "") in {"", *kwargs}}
    by_place = {f"argument {n + 1}" if n in surplus else names[n]: value for n, value in enumerate(args)}
    return {**by_place, **kwargs}


def _decoded(result: Any) -> Any:
    """Return a result as a Python value: an object or a list that is written as JSON is parsed."""
    if not isinstance(result, str) or not result.lstrip().startswith(("{", "[")):
        return result
    try:
        return parse_json(result, finite=True)
    except (ValueError, RecursionError):
        return result


def _raise(error: str) -> NoReturn:
    name, _, message = error.partition(": ")
    kind = ERRORS.get(name)
    raise RuntimeError(error) if kind is None else kind(message)


def _signature(tool: Tool) -> str:
    properties, required = _properties(tool), tool.parameters.get("required", ())
    parameters = [_parameter(name, schema, name in required) for name, schema in properties.items()]
    notes = _notes(properties)
    docstring = "\n".join([tool.description, *([""] if notes else []), *notes]).strip().replace('"""', "'''")
    first, *others = docstring.splitlines() or [""]
    lines = [f'    """{first}', *(f"    {line}".rstrip() for line in others), '    """']
    return "\n".join([f"def {tool.name}({', '.join(parameters)}):", *(lines if docstring else ["    ..."])])


def _parameter(name: str, schema: Mapping[str, Any], required: bool) -> str:
    """Return ``year: int = 2000``; an unknown default is written as in a stub file."""
    hint = _hint(schema)
    named = f"{name}: {hint}" if hint else name
    if required:
        return named
    default = repr(schema["default"]) if "default" in schema else "..."
    return f"{named} = {default}" if hint else f"{named}={default}"


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
    """Return the parameters of a tool, those that are required first, as Python wants them."""
    found = tool.parameters.get("properties") or {}
    required = tool.parameters.get("required", ())
    names = sorted(found, key=lambda name: name not in required)
    return {str(name): found[name] if isinstance(found[name], Mapping) else {} for name in names}
