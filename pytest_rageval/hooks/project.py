"""Load the project of the current folder for commands: ini, conftests, registered names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Generic, TypeVar

import pytest

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import RagEvalError, SettingError
from pytest_rageval.hooks.collect.keys import CATALOG, ENTRY, RUN_FOLDER
from pytest_rageval.hooks.collect.usage_errors import REFUSED
from pytest_rageval.hooks.config.option_groups import BaselineSetting
from pytest_rageval.hooks.config.process import WITHOUT_TESTS
from pytest_rageval.hooks.run.dry_run import stay_in_one_process
from pytest_rageval.hooks.setup import build_catalog

__all__ = ["collected_cases", "in_project", "project_baseline", "project_catalog"]

IMPORTED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Options of pytest for a process that has already imported the package: pytest would warn of that."""

T = TypeVar("T")


def project_catalog() -> Catalog:
    """Return the catalog of the project: built-in names and its own.

    Raises:
        RagEvalError: pytest cannot start here, or a name cannot be registered.
    """
    return in_project(lambda config: config.stash[CATALOG])


def project_baseline() -> Path | None:
    """Return the path of the project's baseline; None if the ini names none.

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
    status = pytest.main([*IMPORTED, *options], [call])
    if call.error is not None:
        raise call.error
    if not call.results:
        raise SettingError(f"pytest cannot start here: it ended with status {int(status)}; correct the error above")
    return call.results[0]


def collected_cases() -> int:
    """Return the number of cases in the project: collect its tests as pytest does, and run none.

    Raises:
        SettingError: pytest refuses the project, or cannot collect its tests; the message is pytest's.
    """
    plugin, output = _CollectOnly(), StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        status = pytest.main([*IMPORTED, "--collect-only", "-qq", "--no-header", "--capture=no"], [plugin])
    refused = [] if plugin.config is None else plugin.config.stash.get(REFUSED, [])
    errors = [line.removeprefix("ERROR: ") for line in output.getvalue().splitlines() if line.startswith("ERROR: ")]
    if refused or errors:
        raise SettingError((refused or errors)[0])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SettingError("pytest cannot collect the tests; run pytest --collect-only to see why")
    return plugin.cases


class _CollectOnly:
    """Plugin that counts the collected cases; no run is stored."""

    def __init__(self) -> None:
        self.config: pytest.Config | None = None
        self.cases = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Collect in one process."""
        self.config = config
        setattr(config.option, WITHOUT_TESTS, True)
        stay_in_one_process(config)

    def pytest_collection(self, session: pytest.Session) -> None:
        """Write no folder of a run."""
        session.config.stash[RUN_FOLDER] = lambda: None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the cases."""
        self.cases = sum(ENTRY in item.stash for item in session.items)


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
            config.stash[CATALOG] = build_catalog(config)
            self.results.append(self._work(config))
        except (RagEvalError, pytest.UsageError) as error:
            self.error = error if isinstance(error, RagEvalError) else SettingError(str(error))
        return 0
