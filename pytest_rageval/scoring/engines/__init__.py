"""Engines: apply a function to chunks. Each engine has a module, imported on use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

__all__ = ["BUILTIN", "Engine"]


class Engine(Protocol):
    """Applies a function to the bytes of chunks, here or elsewhere."""

    def map(self, chunks: Sequence[Path], function: Callable[[bytes], bytes]) -> Iterator[tuple[Path, bytes]]:
        """Yield each chunk with the function's result for its bytes, in any order and at least once.

        An exception of the function is raised here.
        """
        ...


BUILTIN: dict[str, str] = {"local": "pytest_rageval.scoring.engines.local:LocalEngine"}
"""Name -> ``"module:attribute"`` of the class of an engine; its argument is the number of processes."""
