"""Fixtures shared by every test of the project."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np  # noqa: F401 - pytester forgets what a run inside imports first, and numpy loads once a process
import pytest

ROOT = Path(__file__).parent


@pytest.fixture(scope="session")
def rageval_data() -> Path:
    """Return the folder of real, public data that is not part of the project; skip where it is absent."""
    path = Path(os.environ.get("RAGEVAL_DATA") or ROOT.parent / "shared" / "data")
    if not path.is_dir():
        pytest.skip(f"the public data is not at {path} (set RAGEVAL_DATA)")
    return path


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """Return the folder of small checked-in data."""
    return ROOT / "fixtures"
