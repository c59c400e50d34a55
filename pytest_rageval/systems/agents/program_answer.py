"""Extract the program from a model's reply, and the answer from the program's result."""

from __future__ import annotations

import json
from typing import Any

from pytest_rageval.model.plain import plain_text
from pytest_rageval.sandbox.protocol import ProgramResult

__all__ = ["answer_of", "code_in"]

FENCES = ("```", "~~~")


def code_in(reply: str) -> str:
    """Return the first fenced block of a reply, else the whole reply; a block without an end ends with the reply."""
    lines = reply.splitlines()
    for start, line in enumerate(lines):
        fence = line.strip()[:3]
        if fence in FENCES:
            indent = line[: len(line) - len(line.lstrip())]
            block = [each.removeprefix(indent) for each in lines[start + 1 :]]
            end = next((index for index, each in enumerate(block) if each.strip() == fence), len(block))
            return "\n".join(block[:end])
    return reply


def answer_of(result: ProgramResult) -> str | None:
    """Return the answer of a program that ran without an error, as text; None if it has no answer.

    The answer is the value of the answer variable, else the value of the last expression, else the last printed line.
    A whole float becomes an integer, a list its items joined by commas, a bool yes or no. The value None is no answer.
    """
    if result.is_set or result.value is not None:
        return None if result.value is None else plain_text(_answer_text(result.value))
    lines = [line.strip() for line in result.printed.splitlines() if line.strip()]
    return plain_text(lines[-1]) if lines else None


def _answer_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ", ".join(_answer_text(item) for item in value if item is not None)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value).strip()
