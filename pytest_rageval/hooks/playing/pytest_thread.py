"""Run pytest in a thread that collects the project, runs no test, and does jobs until it is closed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import pytest

from pytest_rageval.errors import RagEvalError, SettingError
from pytest_rageval.hooks.collect.asking_tests import find_asking
from pytest_rageval.hooks.collect.keys import ASKS, ENTRY, RUN_FOLDER
from pytest_rageval.hooks.collect.start import collected_of
from pytest_rageval.hooks.collect.usage_errors import REFUSED
from pytest_rageval.hooks.config.process import WITHOUT_TESTS
from pytest_rageval.hooks.config.shared_folder import OWN_RECORDINGS
from pytest_rageval.hooks.playing.stand_ins import stand_in_items
from pytest_rageval.hooks.run.dry_run import stay_in_one_process

__all__ = ["PytestThread"]

T = TypeVar("T")

QUIET = ("-qq", "--no-header", "--capture=no", "-p", "no:randomly", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Options of pytest: its output would stand between the lines of the server."""

RECORDINGS = Path(".rageval", "play", "recordings")
"""The folder of the page's own recordings, below the rootdir."""

LAST_S = 2.0
"""How long the end of the session may take."""


class PytestThread:
    """pytest in a thread of its own, because the main thread serves the page.

    Args:
        options: options of pytest.
        dataset: the dataset whose records are the cases; None for the cases of the project's tests.
        begin: called with the session once the cases are collected, before any job.
    """

    def __init__(self, options: Sequence[str], dataset: str | None, begin: Callable[[pytest.Session], object]) -> None:
        self._plugin = _Waiting(dataset, begin)
        self._options = [*QUIET, *options]
        self._thread = threading.Thread(target=self._run, name="rageval-pytest", daemon=True)

    @property
    def ready(self) -> bool:
        """Whether the cases are collected."""
        return self._plugin.ready.is_set()

    @property
    def problem(self) -> str:
        """Why pytest ended; "" while it runs."""
        return self._plugin.problem

    def start(self) -> None:
        """Start pytest."""
        self._thread.start()

    def do(self, job: Callable[[pytest.Session], T]) -> Future[T]:
        """Call ``job`` on pytest's thread, after all earlier jobs, and return its future result."""
        future: Future[T] = Future()
        if self.problem:
            future.set_exception(SettingError(self.problem))
        else:
            self._plugin.jobs.put(partial(_do, job, future))
        return future

    def close(self) -> None:
        """End the session: fixtures are torn down, unless that takes long."""
        self._plugin.jobs.put(None)
        if self._thread.is_alive():
            self._thread.join(LAST_S)

    def _run(self) -> None:
        status: object = None
        try:
            status = pytest.main(list(self._options), [self._plugin])
        except BaseException as error:  # a thread has nobody to raise it to
            sys.stderr.write(f"pytest ended with {type(error).__name__}: {error}\n")
        self._plugin.end(status)


class _Waiting:
    """Plugin that waits for jobs instead of running tests."""

    def __init__(self, dataset: str | None, begin: Callable[[pytest.Session], object]) -> None:
        self._dataset = dataset
        self._begin = begin
        self._config: pytest.Config | None = None
        self.jobs: SimpleQueue[Callable[[pytest.Session], object] | None] = SimpleQueue()
        self.ready = threading.Event()
        self.problem = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: pytest.Config) -> None:
        """Run in one process, report no run, and record beside the project's recordings."""
        self._config = config
        setattr(config.option, WITHOUT_TESTS, True)
        config.stash[OWN_RECORDINGS] = config.rootpath / RECORDINGS
        stay_in_one_process(config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool | None:
        """Write no folder of a run; collect a dataset instead of the project's tests if there is one."""
        session.config.stash[RUN_FOLDER] = lambda: None
        if self._dataset is None:
            return None
        session.items = stand_in_items(session, self._dataset)
        session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Keep the cases only; without any, add a test that asks, so that the project's fixtures can be used."""
        items[:] = [item for item in items if ENTRY in item.stash] or stand_in_items(session, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do jobs until the page ends."""
        try:
            if ASKS not in session.items[0].stash:
                find_asking(collected_of(session.config), session.items[:1])
            self._begin(session)
        except RagEvalError as error:
            self.problem = str(error)
            return True
        self.ready.set()
        while (job := self.jobs.get()) is not None:
            job(session)
        return True

    def end(self, status: object) -> None:
        """Note why pytest ended, and refuse the jobs that wait."""
        refused = [] if self._config is None else self._config.stash.get(REFUSED, [])
        ended = f"pytest ended with status {status!s:.60}; run pytest here to see why"
        self.problem = self.problem or (refused[0] if refused else ended)
        while not self.jobs.empty():
            job = self.jobs.get()
            if job is not None and self._config is not None:
                job(None)  # type: ignore[arg-type]


def _do(job: Callable[[pytest.Session], T], future: Future[T], session: pytest.Session | None) -> None:
    """Do a job for whoever waits; without a session, refuse it."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        if session is None:
            raise SettingError("pytest has ended; start rageval play again")
        future.set_result(job(session))
    except BaseException as error:  # the waiting thread raises it
        future.set_exception(error)
