"""Keep ``PYTEST_CURRENT_TEST`` in the environment while systems run in threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED

__all__ = ["pytest_runtest_teardown", "remove_variable"]

VARIABLE = "PYTEST_CURRENT_TEST"


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Restore the variable that pytest removes after each test.

    A thread that copies the environment at that moment would get a `KeyError`: requests, for example, copies it to find
    proxies.
    """
    value = os.environ.get(VARIABLE)
    try:
        return (yield)
    finally:
        if value is not None and threading.active_count() > 1 and COLLECTED in item.config.stash:
            os.environ[VARIABLE] = value


def remove_variable() -> None:
    """Remove the variable at the session's end."""
    os.environ.pop(VARIABLE, None)
