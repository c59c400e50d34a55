"""The sandboxes whose backends are installed here."""

from __future__ import annotations

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.sandbox import BUILTIN, open_sandbox
from pytest_rageval.sandbox.protocol import Sandbox

__all__ = ["BACKENDS", "opened"]

BACKENDS = tuple(BUILTIN)


def opened(name: str) -> Sandbox:
    """Return the sandbox of this name; skip the test if its backend is not installed."""
    try:
        return open_sandbox(name, "the test")
    except SettingError as error:
        pytest.skip(str(error))
