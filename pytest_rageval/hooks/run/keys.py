"""Stash keys of running tests, and the text that marks a refused model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rageval.hooks.run.result import RagResult

__all__ = ["NO_CALL", "RESULTS"]

RESULTS: pytest.StashKey[dict[pytest.Item, RagResult]] = pytest.StashKey()
"""On the config: test -> its result, until its teardown. The stash of the test would keep the result in memory."""

NO_CALL = "no call can succeed"
"""Start of the message that stops a session if its model refuses every call."""
