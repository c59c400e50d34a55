"""Query -> Answer: the systems that can be named, and how a user's own is loaded and called."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.model.protocols import System
from pytest_rageval.systems.parts import SystemParts

__all__ = ["BUILTIN", "SystemFactory", "SystemParts"]

SystemFactory = Callable[[SystemParts], System]
"""What a system's name stands for: it makes the system of the session's parts."""

BUILTIN: dict[str, str] = {
    "closed_book": "pytest_rageval.systems.closed_book:build",
    "extractive": "pytest_rageval.systems.extractive:build",
    "llm": "pytest_rageval.systems.llm:build",
}
"""System name -> ``"module:attribute"`` of its `SystemFactory`, for a `Registry`."""
