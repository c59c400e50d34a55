"""Engines apply a function to chunks; the module of an engine is imported on use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from pytest_rageval.scoring.engines.function import ChunkFunction

__all__ = ["BUILTIN", "Engine", "EngineFactory"]


class Engine(Protocol):
    """Applies a function to the bytes of chunks, on this machine or on others."""

    @property
    def addresses(self) -> Sequence[str]:
        """The sorted addresses of the machines that scored chunks; empty for this machine alone."""
        ...

    def map(self, chunks: Sequence[Path], function: ChunkFunction) -> Iterator[tuple[Path, bytes]]:
        """Yield each chunk with the function's result for its bytes, in any order and at least once.

        Raises:
            DataError: the function refuses a line of a chunk.
            SettingError: the engine cannot be used or lost a process, or the function raised another error.
        """
        ...


class EngineFactory(Protocol):
    """Returns an engine."""

    def __call__(self, jobs: int | None, address: str | None) -> Engine:
        """Return an engine with a number of processes (None for its default) in the cluster at an address."""
        ...


BUILTIN: dict[str, str] = {
    "local": "pytest_rageval.scoring.engines.local:LocalEngine",
    "ray": "pytest_rageval.scoring.engines.ray_cluster:RayEngine",
}
"""Name -> ``"module:attribute"`` of an engine's factory."""
