"""Run pytest in a thread that collects the project and runs jobs instead of tests."""

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
from pytest_rageval.hooks.collect.asking_tests import add_request_entries
from pytest_rageval.hooks.collect.keys import ENTRY, REQUEST_ENTRIES, RUN_FOLDER
from pytest_rageval.hooks.collect.start import collected_of
from pytest_rageval.hooks.collect.usage_errors import REFUSED
from pytest_rageval.hooks.config.process import WITHOUT_TESTS
from pytest_rageval.hooks.config.shared_folder import OWN_RECORDINGS
from pytest_rageval.hooks.playing.stand_ins import stand_in_items
from pytest_rageval.hooks.run.dry_run import stay_in_one_process

__all__ = ["PytestThread"]

T = TypeVar("T")

QUIET = ("-qq", "--no-header", "--capture=no", "-p", "no:randomly", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Options of pytest that silence it, because its output would mix with the server's."""

RECORDINGS = Path(".rageval", "play", "recordings")
"""The folder of the page's own recordings, below the rootdir."""

CLOSE_TIMEOUT_S = 2.0
"""Maximum seconds to wait for the end of the session."""


class PytestThread:
    """pytest in a thread of its own, because the main thread serves the page.

    Args:
        options: options of pytest.
        dataset: the dataset whose records are the cases; None for the cases of the project's tests.
        begin: called with the session once the cases are collected, before any job.
    """

    def __init__(self, options: Sequence[str], dataset: str | None, begin: Callable[[pytest.Session], object]) -> None:
        self._plugin = _JobLoop(dataset, begin)
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
        """Call ``job`` in pytest's thread, after all earlier jobs; return the future of its result."""
        future: Future[T] = Future()
        if self.problem:
            future.set_exception(SettingError(self.problem))
        else:
            self._plugin.jobs.put(partial(_do, job, future))
        return future

    def close(self) -> None:
        """End the session, and wait up to `CLOSE_TIMEOUT_S` until its fixtures are torn down."""
        self._plugin.jobs.put(None)
        if self._thread.is_alive():
            self._thread.join(CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        status: object = None
        try:
            status = pytest.main(list(self._options), [self._plugin])
        except BaseException as error:  # an exception of a thread has no caller to reach
            sys.stderr.write(f"pytest ended with {type(error).__name__}: {error}\n")
        self._plugin.end(status)


class _JobLoop:
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
        """Run in one process, write no run, and use recordings apart from those of the project."""
        self._config = config
        setattr(config.option, WITHOUT_TESTS, True)
        config.stash[OWN_RECORDINGS] = config.rootpath / RECORDINGS
        stay_in_one_process(config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool | None:
        """Create no folder for a run. If there is a dataset, collect it instead of the project's tests."""
        session.config.stash[RUN_FOLDER] = lambda: None
        if self._dataset is None:
            return None
        session.items = stand_in_items(session, self._dataset)
        session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Remove tests without a case; if none is left, add a stand-in test that can use the project's fixtures."""
        items[:] = [item for item in items if ENTRY in item.stash] or stand_in_items(session, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run jobs until the page is closed."""
        try:
            if REQUEST_ENTRIES not in session.items[0].stash:
                add_request_entries(collected_of(session.config), session.items[:1])
            self._begin(session)
        except RagEvalError as error:
            self.problem = str(error)
            return True
        self.ready.set()
        while (job := self.jobs.get()) is not None:
            job(session)
        return True

    def end(self, status: object) -> None:
        """Store why pytest ended, and fail the waiting jobs."""
        usage_errors = [] if self._config is None else self._config.stash.get(REFUSED, [])
        problem = f"pytest ended with status {status!s:.60}; run pytest here to see why"
        self.problem = self.problem or (usage_errors[0] if usage_errors else problem)
        while not self.jobs.empty():
            job = self.jobs.get()
            if job is not None and self._config is not None:
                job(None)  # type: ignore[arg-type]


def _do(job: Callable[[pytest.Session], T], future: Future[T], session: pytest.Session | None) -> None:
    """Run a job and set the result of its future; without a session, set an error."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        if session is None:
            raise SettingError("pytest has ended; start rageval play again")
        future.set_result(job(session))
    except BaseException as error:  # the thread that waits for the future raises it
        future.set_exception(error)
