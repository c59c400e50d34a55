"""Shorten long texts in the steps of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_rageval.model.answer import Step

__all__ = ["TRACE_CHARS", "shortened"]

TRACE_CHARS = 20_000
"""Default of `rag_trace_chars`."""


def shortened(trace: Sequence[Step], most: int, mask: Callable[[str], str]) -> tuple[Step, ...]:
    """Return the steps with each longer text cut in its middle to ``most`` characters.

    The cut says how many characters are missing: `` […N characters…] ``.

    Args:
        trace: steps whose values are JSON builtins.
        most: characters to keep, 1 or more.
        mask: masks secrets; it must run before a cut splits one.
    """

    def short(value: Any) -> Any:
        if isinstance(value, str):
            return value if len(value) <= most else _cut(mask(value), most)
        if isinstance(value, Mapping):
            return {short(key): short(item) for key, item in value.items()}
        return [short(item) for item in value] if isinstance(value, list) else value

    return tuple(Step(step.kind, short(step.detail)) for step in trace)


def _cut(text: str, most: int) -> str:
    """Return the first and the last characters of a text, ``most`` in all."""
    missing = len(text) - most
    if missing <= 0:
        return text
    head = most - most // 2
    return f"{text[:head]} […{missing} characters…] {text[head + missing :]}"
