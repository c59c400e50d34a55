"""Record what your system does on the way to an answer: tool calls, searches, and how it ended."""

from __future__ import annotations

__all__: list[str] = []
