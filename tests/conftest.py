"""What holds for all tests."""

from __future__ import annotations

import math

import pytest


@pytest.fixture(autouse=True)
def commands_show_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep standard error of commands within this process as it is on a fast machine."""
    monkeypatch.setattr("pytest_rageval.activity.DELAY", math.inf)
