"""Load datasets from files as instances; each format has its own module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytest_rageval.model.case import Instance

__all__ = ["BUILTIN", "Loader"]

Loader = Callable[[Path], tuple[Instance, ...]]
"""Reads one file; raises `DataError` with file and line for every fault.

A loader may also have:

- ``metrics``: the default metrics of its testbeds without an ability;
- ``files(path)``: returns the files that it reads, if they differ from the path;
- ``left_out(path)``: yields ``file:line`` or a file, and a description, for each record or file that it skips;
- ``answers(path)``: returns recorded answers, which are scored instead of a system's answers.
"""

BUILTIN: dict[str, str] = {
    "beir": "pytest_rageval.datasets.beir:load",
    "jsonl": "pytest_rageval.datasets.jsonl:load",
    "kilt": "pytest_rageval.datasets.kilt:load",
    "labelled": "pytest_rageval.datasets.labelled:load",
    "omnieval": "pytest_rageval.datasets.omnieval:load",
    "ralle": "pytest_rageval.datasets.kilt:load",  # RaLLe uses KILT's files unchanged
    "reval": "pytest_rageval.datasets.reval:load",
    "rgb": "pytest_rageval.datasets.rgb:load",
}
"""Format name -> ``"module:attribute"`` of its loader."""
