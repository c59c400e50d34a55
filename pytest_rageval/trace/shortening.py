"""Shorten long texts in the steps of a trace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_rageval.model.answer import Step

__all__ = ["TRACE_CHARS", "shortened"]

TRACE_CHARS = 20_000
"""Default of `rag_trace_chars`."""


def shortened(trace: Sequence[Step], max_chars: int, mask: Callable[[str], str]) -> tuple[Step, ...]:
    """Return the steps; cut the middle out of each text that is longer than ``max_chars``.

    A mark in its place reports how many characters are missing: `` […N characters…] ``.

    Args:
        trace: steps whose values are JSON builtins.
        max_chars: characters of a text that are kept, 1 or more.
        mask: masks the secrets in a text; it runs before the cut, which could split a secret.
    """

    def short(value: Any) -> Any:
        if isinstance(value, str):
            return value if len(value) <= max_chars else _cut(mask(value), max_chars)
        if isinstance(value, Mapping):
            return {short(key): short(item) for key, item in value.items()}
        return [short(item) for item in value] if isinstance(value, list) else value

    return tuple(Step(step.kind, short(step.detail)) for step in trace)


def _cut(text: str, max_chars: int) -> str:
    """Return the first and the last characters of a text, ``max_chars`` in total."""
    missing = len(text) - max_chars
    if missing <= 0:
        return text
    head = max_chars - max_chars // 2
    return f"{text[:head]} […{missing} characters…] {text[head + missing :]}"
