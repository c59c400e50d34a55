"""Systems under test: the names of the builtin systems, and the modules of all systems."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.model.protocols import System
from pytest_rageval.systems.parts import SystemParts

__all__ = ["BUILTIN", "FAMILIES", "WORKFLOWS", "SystemFactory", "SystemParts"]

SystemFactory = Callable[[SystemParts], System]
"""Builds a named system from the session's parts.

If it has an attribute ``uses_environments`` that is True, the environment of each case is chosen and loaded before
anything runs. A `Workflow` is a factory with options.
"""

BUILTIN: dict[str, str] = {
    "closed_book": "pytest_rageval.systems.closed_book:CLOSED_BOOK",
    "dfsdt": "pytest_rageval.systems.agents.dfsdt:workflow",
    "extractive": "pytest_rageval.systems.extractive:EXTRACTIVE",
    "function_calling": "pytest_rageval.systems.agents.function_calling:workflow",
    "llm": "pytest_rageval.systems.llm:LLM",
    "pal": "pytest_rageval.systems.agents.pal:build",
    "react": "pytest_rageval.systems.agents.react:workflow",
}
"""System name -> ``"module:attribute"`` of its `SystemFactory`, for a `Registry`."""

FAMILIES: dict[str, str] = {"chain": "pytest_rageval.systems.chains.system:family"}
"""Head of a system's name, such as ``chain`` in ``chain:FILE.toml`` -> ``"module:attribute"`` of its function, for a
`Registry`. The function gets the name, the head and the registry's ``get``, and returns the `SystemFactory`."""

WORKFLOWS: dict[str, str] = {"extractive": "rag", "llm": "rag"}
"""System name -> the facet ``workflow`` of its outcomes, if it differs from the name."""
