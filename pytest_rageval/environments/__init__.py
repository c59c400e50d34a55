"""Environments: the tools that an agent may call. They never contain gold answers."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.environments.environment import Environment
from pytest_rageval.environments.parts import EnvironmentParts

__all__ = ["BUILTIN", "DATA_FILES", "OVER_CORPUS", "Environment", "EnvironmentFactory", "EnvironmentParts"]

EnvironmentFactory = Callable[[EnvironmentParts], Environment]
"""Builds an environment of one kind from its options. The environment reads its data later, when it is loaded."""

BUILTIN: dict[str, str] = {
    "mcp": "pytest_rageval.environments.mcp.kind:build",
    "scholar": "pytest_rageval.environments.scholar.kind:build",
    "wiki": "pytest_rageval.environments.wiki:build",
}
"""Kind -> ``"module:attribute"`` of its `EnvironmentFactory`, for a `Registry`."""

OVER_CORPUS = ("wiki",)
"""Kinds whose data is a corpus: the one in their option ``corpus``, else the session's."""

DATA_FILES: dict[str, tuple[str, ...]] = {"scholar": ("persons", "publications")}
"""Kind -> its options that name a data file, relative to the ini file; the run's settings include their content."""
