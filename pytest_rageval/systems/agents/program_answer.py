"""The program in a model's reply, and the answer that a program gives."""

from __future__ import annotations

import json
from typing import Any

from pytest_rageval.model.plain import plain_text
from pytest_rageval.sandbox.protocol import Ran

__all__ = ["answer_of", "code_in"]

FENCES = ("```", "~~~")


def code_in(reply: str) -> str:
    """Return the first fenced block of a reply, else the whole reply; a fence without an end goes up to the end."""
    lines = reply.splitlines()
    for start, line in enumerate(lines):
        fence = line.strip()[:3]
        if fence in FENCES:
            indent = line[: len(line) - len(line.lstrip())]
            block = [each.removeprefix(indent) for each in lines[start + 1 :]]
            end = next((at for at, each in enumerate(block) if each.strip() == fence), len(block))
            return "\n".join(block[:end])
    return reply


def answer_of(ran: Ran) -> str | None:
    """Return the answer of a program that ran to its end, as text.

    It is the value of the variable asked for, else that of the last expression, else the last printed line. A whole
    float is an integer, a list its items joined by commas, a bool yes or no, and None no answer.
    """
    if ran.is_set or ran.value is not None:
        return None if ran.value is None else plain_text(_shown(ran.value))
    lines = [line.strip() for line in ran.printed.splitlines() if line.strip()]
    return plain_text(lines[-1]) if lines else None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return ", ".join(_shown(item) for item in value if item is not None)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value).strip()
