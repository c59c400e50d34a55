"""The run folder that the processes of a session share, and the journal that each of them writes there."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pytest_rageval.hooks.keys import COLLECTED, is_worker
from pytest_rageval.hooks.shared import common_folder
from pytest_rageval.llm.client.journal import Journal
from pytest_rageval.report.files.journals import journal_path
from pytest_rageval.report.files.run_folder import make_run_folder

__all__ = ["journal_of", "note_running", "run_folder"]

_JOURNAL: pytest.StashKey[Journal] = pytest.StashKey()

NOTE = "run-folder"
"""The file in the folder that processes share, with the path of the run's folder."""


def run_folder(config: pytest.Config, started: datetime) -> Path:
    """Return the run's folder, made by whichever process of the session needs it first.

    Raises:
        OSError: the folder cannot be made.
    """
    shared = common_folder(config)
    if shared is None:
        return make_run_folder(config.rootpath, started)
    from filelock import FileLock

    shared.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(shared / f"{NOTE}.lock"):
        note = shared / NOTE
        if note.exists():
            return Path(note.read_text(encoding="utf-8"))
        path = make_run_folder(config.rootpath, started)
        note.write_text(str(path), encoding="utf-8")
        return path


def journal_of(config: pytest.Config) -> Journal:
    """Return this process's journal; one that writes nothing where there is no run folder.

    A worker on another machine shares no folder with the main process, so it writes nothing.
    """
    if _JOURNAL not in config.stash:
        config.stash[_JOURNAL] = _made(config)
    return config.stash[_JOURNAL]


def note_running(item: pytest.Item) -> None:
    """Write to the journal which test this process runs now, in a session with cases."""
    if COLLECTED in item.config.stash:
        journal_of(item.config).runs(item.nodeid)


def _made(config: pytest.Config) -> Journal:
    collected = config.stash[COLLECTED]
    folder: Path | None = None
    with suppress(OSError):  # the recorder reports it
        if not is_worker(config):
            from pytest_rageval.hooks.recorder import recorder_of

            folder = recorder_of(config).folder
        elif common_folder(config) is not None:
            folder = run_folder(config, datetime.now(timezone.utc))
    process: str = getattr(config, "workerinput", {}).get("workerid", "main")
    path = None if folder is None else journal_path(folder, process)
    return Journal(path, collected.earlier, texts=collected.options.texts)
