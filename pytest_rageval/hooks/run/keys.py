"""Stash keys of running tests, and the text that marks a refused model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rageval.hooks.run.result import RagResult

__all__ = ["NO_CALL", "RESULT"]

RESULT: pytest.StashKey[RagResult] = pytest.StashKey()
"""On an answered test item: its result."""

NO_CALL = "no call can succeed"
"""Start of the message that stops a session if its model refuses every call."""
