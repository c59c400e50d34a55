"""Create the run folder that all processes of a session share."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from pytest_rageval.hooks.config.shared_folder import common_folder
from pytest_rageval.report.files.run_folder import make_run_folder

__all__ = ["run_folder"]

NOTE = "run-folder"
"""File in the shared folder with the path of the run folder."""


def run_folder(config: pytest.Config, started: datetime) -> Path:
    """Return the run folder; the first process that needs it creates it.

    Raises:
        OSError: the folder cannot be created.
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
