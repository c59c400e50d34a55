"""Build the environment ``mcp``: the tools of a Model Context Protocol server."""

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
from pytest_rageval.environments.recorded_tools import recorded_tools
from pytest_rageval.environments.tool import InvalidArgumentsError, Tool
from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError, did_you_mean, short_repr

__all__ = ["build", "server_environment"]

ALL = "*"
"""The value of ``allow`` that allows every tool of the server."""

OLDEST = 2
"""Oldest supported major version of the package mcp."""

PARAMETER_KEYS = ("properties", "additionalProperties")
"""Keys that declare parameters; a schema without them accepts any arguments."""


def build(parts: EnvironmentParts) -> Environment:
    """Return the environment of an MCP server.

    Options: ``command`` (a program to start, over stdio) or ``url`` (streamable HTTP); ``allow`` (the tools that may be
    called: ``a,b``, or ``*`` for all); ``timeout``; ``record`` (default: on).

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


def server_environment(
    name: str, server: object, where: str, timeout: float = TIMEOUT_S, *, record: bool = False
) -> Environment:
    """Return the environment of a server object in this process; all its tools may be called."""
    _check_installed(where)
    return _environment(name, Object(server), None, timeout, record=record)


def _environment(
    name: str, target: Target, allowed: Sequence[str] | None, timeout: float, *, record: bool
) -> Environment:
    connection = Connection(target, timeout)

    def list_tools() -> list[dict[str, Any]]:
        try:
            return connection.tools()
        except ConnectionError as error:
            raise ToolUnavailableError(f"the server of environment {name!r} cannot be reached: {error}") from error

    def tools() -> list[Tool]:
        descriptions = recorded_tools(name, list_tools) if record else list_tools()
        return _tools(descriptions, allowed, connection, name)

    return Environment(name, lambda: tools, timeout, record, service=connection)


def _tools(
    descriptions: Sequence[Mapping[str, Any]], allowed: Sequence[str] | None, connection: Connection, name: str
) -> list[Tool]:
    """Return the allowed tools, in the order of the server."""
    try:
        by_name = {str(each["name"]): each for each in descriptions}
        unknown = next((each for each in allowed or () if each not in by_name), None)
        if unknown is not None:
            raise _problem(name, f"the server has no tool {unknown!r}; {did_you_mean(unknown, by_name)}")
        return [_tool(each, connection) for tool, each in by_name.items() if allowed is None or tool in allowed]
    except SettingError as error:
        raise _problem(name, f"{error}, or leave it out: write allow= with the names of the others") from None
    except (KeyError, TypeError) as error:
        raise _problem(name, f"the list of tools is malformed ({error}); record it again") from None


def _tool(description: Mapping[str, Any], connection: Connection) -> Tool:
    tool, schema = str(description["name"]), dict(description["parameters"])
    if not any(key in schema for key in PARAMETER_KEYS):
        schema["additionalProperties"] = True

    async def call(**arguments: Any) -> Any:
        return result_of(await connection.call(tool, _sendable(arguments)))

    return Tool(tool, str(description["description"]), schema, call)


def _sendable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as the server will decode them; text that is not valid Unicode would end the connection."""
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
    """Return the tool names in ``allow``; None for all tools."""
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
    program = parts.folder / words[0] if os.path.dirname(words[0]) else words[0]  # a bare name is one of PATH
    if not replays and shutil.which(program) is None:
        hint = f"write ./{words[0]}" if shutil.which(parts.folder / words[0]) else "install it"
        raise SettingError(f"{parts.where} has command={short_repr(text)}: no program {words[0]!r}; {hint}")
    return Command(tuple(words), parts.folder)


def _check_installed(where: str) -> None:
    try:
        major = int(version("mcp").partition(".")[0])
    except (PackageNotFoundError, ValueError):
        major = 0
    if major < OLDEST:
        raise MissingDependencyError(where, "mcp")
