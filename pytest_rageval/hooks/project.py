"""Load the project of the current folder for commands: ini, conftests, registered names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import RagEvalError, SettingError
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.config.option_groups import BaselineSetting
from pytest_rageval.hooks.setup import registered

__all__ = ["in_project", "project_baseline", "project_catalog"]

T = TypeVar("T")


def project_catalog() -> Catalog:
    """Return the catalog of the project: built-in names and its own.

    Raises:
        RagEvalError: pytest cannot start here, or a name cannot be registered.
    """
    return in_project(lambda config: config.stash[CATALOG])


def project_baseline() -> Path | None:
    """Return the path of the project's baseline, as the ini names it; None if it names none.

    Raises:
        RagEvalError: pytest cannot start here, or the path is invalid.
    """
    return in_project(BaselineSetting.path.read)


def in_project(work: Callable[[pytest.Config], T], options: Sequence[str] = ()) -> T:
    """Call ``work`` with the configuration of the project that pytest finds here; return its result.

    Args:
        work: called once.
        options: command line options of pytest.

    Raises:
        RagEvalError: ``work`` raises it, or pytest cannot start here.
    """
    call = _Call(work)
    status = pytest.main(
        ["-W", "ignore::pytest.PytestAssertRewriteWarning", *options], [call]
    )  # the package is imported already
    if call.error is not None:
        raise call.error
    if not call.results:
        raise SettingError(f"pytest cannot start here: it ended with status {int(status)}; correct what it says above")
    return call.results[0]


class _Call(Generic[T]):
    """Plugin that calls one function with pytest's configuration instead of running tests."""

    def __init__(self, work: Callable[[pytest.Config], T]) -> None:
        self._work = work
        self.results: list[T] = []
        self.error: Exception | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> int:
        """Call the function instead of running a session."""
        try:
            config.stash[CATALOG] = registered(config)
            self.results.append(self._work(config))
        except (RagEvalError, pytest.UsageError) as error:
            self.error = error if isinstance(error, RagEvalError) else SettingError(str(error))
        return 0
