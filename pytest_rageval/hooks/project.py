"""The project that pytest finds in the current folder, for commands: its ini, its conftests, and what they register."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import RagEvalError, SettingError
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.setup import registered

__all__ = ["in_project", "project_catalog"]

T = TypeVar("T")


def project_catalog() -> Catalog:
    """Return the names that the project knows, its own beside those built in.

    Raises:
        RagEvalError: pytest cannot start here, or a name cannot be registered.
    """
    return in_project(lambda config: config.stash[CATALOG])


def in_project(work: Callable[[pytest.Config], T]) -> T:
    """Return what ``work`` makes of the project that pytest finds here: its ini, its conftests and plugins.

    Raises:
        RagEvalError: what ``work`` raises, or pytest cannot start here.
    """
    asked = _Asked(work)
    status = pytest.main(["-W", "ignore::pytest.PytestAssertRewriteWarning"], [asked])  # we are imported already
    if asked.error is not None:
        raise asked.error
    if not asked.made:
        raise SettingError(f"pytest cannot start here: it ended with status {int(status)}; mend what it says above")
    return asked.made[0]


class _Asked(Generic[T]):
    """A plugin of a pytest that collects and runs nothing, but does one work where its configuration is known."""

    def __init__(self, work: Callable[[pytest.Config], T]) -> None:
        self._work = work
        self.made: list[T] = []
        self.error: Exception | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        """Do the work in place of a session."""
        try:
            config.stash[CATALOG] = registered(config)
            self.made.append(self._work(config))
        except (RagEvalError, pytest.UsageError) as error:
            self.error = error if isinstance(error, RagEvalError) else SettingError(str(error))
        return 0
