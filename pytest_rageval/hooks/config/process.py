"""Identify the process: xdist controller, xdist worker, or a session without workers."""

from __future__ import annotations

import pytest

__all__ = ["WATCHED", "WITHOUT_TESTS", "is_watched_worker", "is_worker", "runs_tests"]

WATCHED = "rag_watched"
"""Key in the input of an xdist worker; present if the controller shows a status line."""

WITHOUT_TESTS = "rag_without_tests"
"""Attribute of pytest's options; commands that only use the cases, such as `rageval shrink`, set it."""

NO_TEST_OPTIONS = (WITHOUT_TESTS, "rag_dry_run", "setuponly", "showfixtures", "show_fixtures_per_test")
"""Options that keep pytest from running tests."""


def is_watched_worker(config: pytest.Config) -> bool:
    """Return whether this process is a worker whose controller shows a status line."""
    return WATCHED in getattr(config, "workerinput", {})


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process is a worker of xdist."""
    return hasattr(config, "workerinput")


def runs_tests(config: pytest.Config) -> bool:
    """Return whether tests run; options such as ``--setup-plan`` only show what would run."""
    return not any(getattr(config.option, name, False) for name in NO_TEST_OPTIONS)
