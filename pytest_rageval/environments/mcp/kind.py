"""The environment ``mcp``: the tools of a server that speaks the Model Context Protocol."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pytest_rageval.environments.environment import TIMEOUT_S, Environment
from pytest_rageval.environments.mcp.connection import Connection
from pytest_rageval.environments.mcp.results import result_of
from pytest_rageval.environments.mcp.servers import Address, Command, Object, Target
from pytest_rageval.environments.outages import ToolUnavailableError
from pytest_rageval.environments.parts import EnvironmentParts
from pytest_rageval.environments.recorded_tools import recorded_list
from pytest_rageval.environments.tool import InvalidArgumentsError, Tool
from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError, did_you_mean, short_repr

__all__ = ["build", "own_server"]

ALL = "*"
"""The value of ``allow`` for every tool of the server."""

OLDEST = 2
"""Major version of the package mcp."""

UNKNOWN_PARAMETERS = ("properties", "additionalProperties")
"""A schema without these takes any arguments."""


def build(parts: EnvironmentParts) -> Environment:
    """Return the environment of an MCP server.

    Options: ``command`` (a program that we start, over stdio) or ``url`` (streamable HTTP); ``allow``, the tools that
    may be called, as ``a,b``, or ``*``; ``timeout`` and ``record``, which is on by default.

    Raises:
        SettingError: an option is invalid or missing.
        MissingDependencyError: the package mcp is not installed.
    """
    options = parts.options
    command, url, allow = options.text("command"), options.text("url"), options.text("allow")
    timeout = options.seconds("timeout", TIMEOUT_S)
    record = options.flag("record", default=True)
    options.finish()
    if bool(command) == bool(url):
        wanted = "write command=PROGRAM, which is started here, or url=ADDRESS of a running server"
        raise SettingError(f"{parts.where} has {'both command and url' if url else 'no server'}; {wanted}")
    allowed = _allowed(allow, parts.where)
    replays = record and parts.replays
    target = _address(url, parts.where) if url else _command(command, parts, replays=replays)
    if not replays:
        _check_installed(parts.where)
    return _environment(parts.name, target, allowed, timeout, record=record)


def own_server(
    name: str, server: object, where: str, timeout: float = TIMEOUT_S, *, record: bool = False
) -> Environment:
    """Return the environment of a server object of this process; all its tools may be called."""
    _check_installed(where)
    return _environment(name, Object(server), None, timeout, record=record)


def _environment(
    name: str, target: Target, allowed: Sequence[str] | None, timeout: float, *, record: bool
) -> Environment:
    connection = Connection(target, timeout)

    def listed() -> list[dict[str, Any]]:
        try:
            return connection.tools()
        except ConnectionError as error:
            raise ToolUnavailableError(f"the server of environment {name!r} cannot be reached: {error}") from error

    def tools() -> list[Tool]:
        described = recorded_list(name, listed) if record else listed()
        return _tools(described, allowed, connection, name)

    return Environment(name, lambda: tools, timeout, record, service=connection)


def _tools(
    described: Sequence[Mapping[str, Any]], allowed: Sequence[str] | None, connection: Connection, name: str
) -> list[Tool]:
    """Return the allowed tools, in the order of the server."""
    try:
        known = {str(each["name"]): each for each in described}
        unknown = next((each for each in allowed or () if each not in known), None)
        if unknown is not None:
            raise _problem(name, f"the server has no tool {unknown!r}; {did_you_mean(unknown, known)}")
        return [_tool(each, connection) for tool, each in known.items() if allowed is None or tool in allowed]
    except SettingError as error:
        raise _problem(name, f"{error}, or leave it out: write allow= with the names of the others") from None
    except (KeyError, TypeError) as error:
        raise _problem(name, f"the list of tools is malformed ({error}); record it again") from None


def _tool(described: Mapping[str, Any], connection: Connection) -> Tool:
    tool, schema = str(described["name"]), dict(described["parameters"])
    if not any(key in schema for key in UNKNOWN_PARAMETERS):
        schema["additionalProperties"] = True

    async def call(**arguments: Any) -> Any:
        return result_of(await connection.call(tool, _sendable(arguments)))

    return Tool(tool, str(described["description"]), schema, call)


def _sendable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as they will arrive; a text that is no Unicode would end the connection."""
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
        text.encode()
        sent: dict[str, Any] = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise InvalidArgumentsError("An argument cannot be sent as JSON.") from None
    return sent


def _problem(name: str, problem: str) -> CaseError:
    return CaseError("environment_error", f"environment {name!r}: {problem}")


def _allowed(text: str, where: str) -> list[str] | None:
    """Return the names in ``allow``; None for all."""
    if not text:
        hint = "write allow=NAME,NAME, or allow=* if no tool does harm"
        raise SettingError(f"{where} names no tools that may be called; {hint}")
    if text == ALL:
        return None
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    try:
        [Tool(name, "", {}, tuple) for name in names]
    except SettingError as error:
        raise SettingError(f"{where} has allow={text}: {error}") from None
    return names


def _address(url: str, where: str) -> Address:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise SettingError(f"{where} has url={short_repr(url)}; write an address such as http://localhost:8000/mcp")
    return Address(url)


def _command(text: str, parts: EnvironmentParts, *, replays: bool) -> Command:
    try:
        words = shlex.split(text, posix=os.name != "nt")
    except ValueError as error:
        raise SettingError(f"{parts.where} has command={short_repr(text)}: {error}") from None
    if not words:
        raise SettingError(f"{parts.where} has command={short_repr(text)}; write a program and its arguments")
    beside = parts.folder / words[0]
    if not replays and shutil.which(words[0]) is None and shutil.which(beside) is None:
        raise SettingError(f"{parts.where} has command={short_repr(text)}: no program {words[0]!r}; install it")
    return Command(tuple(words), parts.folder)


def _check_installed(where: str) -> None:
    try:
        major = int(version("mcp").partition(".")[0])
    except (PackageNotFoundError, ValueError):
        major = 0
    if major < OLDEST:
        raise MissingDependencyError(where, "mcp")
