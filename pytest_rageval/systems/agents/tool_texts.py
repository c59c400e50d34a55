"""Describe tools to a model, and convert a text argument to named arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.environments.tool import Tool

__all__ = ["arguments_by_name", "describe_tools", "first_parameter", "takes_text"]


def describe_tools(tools: Sequence[Tool]) -> str:
    """Return one entry for each tool: how to call it, what it does, and its parameters."""
    return "\n".join(line for tool in tools for line in _lines(tool))


def first_parameter(tool: Tool) -> str:
    """Return the name of a tool's first parameter; "" if it has none."""
    return next(iter(_properties(tool)), "")


def takes_text(tool: Tool) -> bool:
    """Return whether a tool can be called with one text, the value of its first parameter."""
    first = first_parameter(tool)
    kind = _properties(tool).get(first, {}).get("type", "string")
    is_text = kind == "string" or (isinstance(kind, list) and "string" in kind)
    return bool(first) and is_text and set(tool.parameters.get("required", ())) <= {first}


def arguments_by_name(arguments: Mapping[str, Any] | str, tool: Tool) -> dict[str, Any]:
    """Return the arguments of an action by name; a text is the value of the first parameter."""
    if not isinstance(arguments, str):
        return dict(arguments)
    first = first_parameter(tool)
    return {first or "argument": arguments} if first or arguments else {}


def _lines(tool: Tool) -> list[str]:
    properties, required = _properties(tool), tool.parameters.get("required", ())
    if takes_text(tool) and len(properties) == 1:
        call = f"{tool.name}[{first_parameter(tool)}]"
    else:
        call = f"{tool.name}({', '.join(f'{name}=...' for name in properties)})"
    lines = [f"- {call}: {' '.join(tool.description.split())}"]
    for name, schema in properties.items():
        kind, description = _kind(schema), " ".join(str(schema.get("description", "")).split())
        optional = "" if name in required else ", may be left out"
        lines.append(f"  {name} ({kind}{optional}){': ' if description else ''}{description}")
    return lines


def _properties(tool: Tool) -> Mapping[str, Mapping[str, Any]]:
    schemas = tool.parameters.get("properties") or {}
    return {str(name): schema if isinstance(schema, Mapping) else {} for name, schema in schemas.items()}


def _kind(schema: Mapping[str, Any]) -> str:
    """Return the type of a parameter for a model: "string", or its values if they are listed."""
    if isinstance(schema.get("enum"), Sequence):
        return "one of " + ", ".join(map(str, schema["enum"]))
    kind = schema.get("type", "any value")
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
