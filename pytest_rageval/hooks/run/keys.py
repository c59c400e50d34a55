"""Where running tests store their state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rageval.hooks.run.result import RagResult

__all__ = ["NO_CALL", "RESULT"]

RESULT: pytest.StashKey[RagResult] = pytest.StashKey()
"""On a test item that was answered: the result."""

NO_CALL = "no call can succeed"
"""Start of the reason for which a session stops if its model refuses every call."""
