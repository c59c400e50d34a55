"""Records on disk -> instances: one module a format, imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_rageval.model.case import Instance

__all__ = ["BUILTIN", "Loader"]

Loader = Callable[[Path], tuple[Instance, ...]]
"""Reads one file; every fault in it is a `DataError` that names the file and the line.

One that reads other files than the path it is given has the method ``files(path)``, which returns them; one for which
some of what it reads is no instance has ``left_out(path)``, which yields ``file:line`` and what is there; one whose
records have been answered already has ``answers(path)``: these are scored instead of a system's.
"""

BUILTIN: dict[str, str] = {
    "beir": "pytest_rageval.datasets.beir:load",
    "jsonl": "pytest_rageval.datasets.jsonl:load",
    "kilt": "pytest_rageval.datasets.kilt:load",
    "labelled": "pytest_rageval.datasets.labelled:load",
    "omnieval": "pytest_rageval.datasets.omnieval:load",
    "ralle": "pytest_rageval.datasets.kilt:load",  # what RaLLe asks is KILT's files, as they are
    "rgb": "pytest_rageval.datasets.rgb:load",
}
"""Format name -> ``"module:attribute"`` of its loader."""
