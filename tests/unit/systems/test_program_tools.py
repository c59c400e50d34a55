"""Tools as Python functions: signatures and docstrings for the model."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.environments.tool import Tool
from pytest_rageval.systems.agents.program_tools import signatures


def tool(properties: dict[str, Any], description: str = "Do it.", required: tuple[str, ...] = ()) -> Tool:
    return Tool("use", description, {"type": "object", "properties": properties, "required": list(required)}, int)


@pytest.mark.parametrize(
    ("properties", "required", "head"),
    [
        ({}, (), "use()"),
        ({"title": {"type": "string"}}, ("title",), "use(title: str)"),
        ({"a": {"type": "integer"}, "b": {"type": "array"}}, ("b",), "use(b: list, a: int = ...)"),
        ({"a": {"type": "number", "default": 2.5}}, (), "use(a: float = 2.5)"),
        ({"a": {"enum": ["x"]}}, (), "use(a=...)"),
        ({"a": {"type": ["boolean", "null"]}}, ("a",), "use(a: bool | None)"),
        ({"a": {"anyOf": [{"type": "object"}, {"type": "null"}]}}, ("a",), "use(a: dict | None)"),
        ({"a": {"anyOf": [{"type": "object"}, {"$ref": "#/x"}]}}, ("a",), "use(a)"),
        ({"a": True, "b": {"type": "file"}}, ("a", "b"), "use(a, b)"),
    ],
)
def test_parameters_have_types_and_required_ones_come_first(
    properties: dict[str, Any], required: tuple[str, ...], head: str
) -> None:
    assert signatures([tool(properties, required=required)]).splitlines()[0] == f"def {head}:"


def test_the_docstring_describes_the_tool_and_its_parameters() -> None:
    properties = {"title": {"type": "string", "description": "its title"}, "how": {"enum": ["a", "b"]}, "n": {}}
    text = signatures([tool(properties, "Find a page.\n\nIt may be missing."), tool({}, "")])
    assert text.split("\n", 1)[1] == (
        '    """Find a page.\n\n    It may be missing.\n\n    title: its title\n    how: one of "a", "b"\n    """'
        "\n\ndef use():\n    ..."
    )


@given(st.text(alphabet="\"'\\\n ab{}", max_size=30), st.text(alphabet="\"'\n ab", max_size=30))
def test_any_description_stays_a_docstring(description: str, note: str) -> None:
    text = signatures([tool({"a": {"description": note}}, description.replace("\\", "/"))])
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert len(function.body) == 1
