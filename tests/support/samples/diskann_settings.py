"""DiskANN for tests: of this environment, or of the one that ``RAGEVAL_DISKANN`` names."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pytest_rageval.retrieval.retriever_params import Params

if TYPE_CHECKING:
    from pytest_rageval.retrieval.diskann import DiskAnn

__all__ = ["diskann"]


def diskann(**settings: object) -> DiskAnn:
    """Return the index with these settings; skip the test if diskannpy is not available."""
    from pytest_rageval.retrieval.diskann import DiskAnn

    python = os.environ.get("RAGEVAL_DISKANN", "")
    if not python and find_spec("diskannpy") is None:
        pytest.skip("diskannpy is not installed, and RAGEVAL_DISKANN names no Python that has it")
    return DiskAnn.of(Params({"python": python, **settings}))
