"""Create this process's journal in the run folder that all processes of a session share."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED, RUN_FOLDER
from pytest_rageval.hooks.config.process import is_worker, runs_tests
from pytest_rageval.hooks.config.shared_folder import common_folder
from pytest_rageval.hooks.prepare.run_folder import run_folder
from pytest_rageval.llm.client.journal import Journal
from pytest_rageval.report.files.journals import journal_path

__all__ = ["journal_of", "note_running"]

_JOURNAL: pytest.StashKey[Journal] = pytest.StashKey()


def journal_of(config: pytest.Config) -> Journal:
    """Return the journal of this process; without a run folder it writes nothing.

    A worker on another machine has no run folder, because it does not share a disk with the main process.
    """
    if _JOURNAL not in config.stash:
        config.stash[_JOURNAL] = _create(config)
    return config.stash[_JOURNAL]


def note_running(item: pytest.Item) -> None:
    """Write the running test to the journal, if the session has cases."""
    config = item.config
    if COLLECTED not in config.stash:
        return
    if _JOURNAL in config.stash or runs_tests(config):
        journal_of(config).mark_running(item.nodeid)


def _create(config: pytest.Config) -> Journal:
    collected = config.stash[COLLECTED]
    folder: Path | None = None
    with suppress(OSError):  # the recorder reports this error
        if not is_worker(config):
            folder = config.stash[RUN_FOLDER]()
        elif common_folder(config) is not None:
            folder = run_folder(config, datetime.now(timezone.utc))
    process: str = getattr(config, "workerinput", {}).get("workerid", "main")
    path = None if folder is None else journal_path(folder, process)
    return Journal(path, collected.earlier, texts=collected.options.texts)
