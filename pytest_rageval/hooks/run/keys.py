"""Stash keys of running tests, and the text that marks a refused model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rageval.hooks.run.result import RagResult

__all__ = ["NO_CALL", "RESULTS"]

RESULTS: pytest.StashKey[dict[pytest.Item, RagResult]] = pytest.StashKey()
"""On the config: results of tests before their teardown. An item's own stash would stay larger after it."""

NO_CALL = "no call can succeed"
"""Start of the message that stops a session if its model refuses every call."""
