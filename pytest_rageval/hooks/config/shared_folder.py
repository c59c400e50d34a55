"""State that the processes of a session share: a temporary folder, and which recordings exist at the start."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import RagEvalError

__all__ = [
    "OWN_RECORDINGS",
    "RECORDINGS",
    "budget_file",
    "common_folder",
    "existing_recordings",
    "share_with_worker",
    "shared_folder",
]

_FOLDER = pytest.StashKey[Path]()
"""On the config of the main process: the shared folder, available from its first use on."""

OWN_RECORDINGS = pytest.StashKey[Path]()
"""On the config of `rageval play`: the folder for new recordings; the project's recordings are only read."""

RECORDINGS = pytest.StashKey[tuple[str, ...]]()
"""On the config of the main process: names of the recordings at the start of the first worker or resumed run."""


def shared_folder(config: pytest.Config) -> Path | None:
    """Return the folder that workers share until the last one ends; it may not exist yet.

    Return None in a session of one process, and if workers run on several machines.
    """
    path: str | None = getattr(config, "workerinput", {}).get("rag_shared")
    return None if path is None else Path(path)


def common_folder(config: pytest.Config) -> Path | None:
    """Return the shared folder, also in the main process after the first worker started."""
    return shared_folder(config) or config.stash.get(_FOLDER, None)


def budget_file(config: pytest.Config) -> Path | None:
    """Return the budget file that the session's processes share; None without a budget."""
    if config.option.rag_budget_usd is None:
        return None
    folder = shared_folder(config) or _folder(config)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "budget.json"


def existing_recordings(config: pytest.Config) -> tuple[str, ...] | None:
    """Return the names of the recordings at the session's start; None if this process lists them itself."""
    names: list[str] | None = getattr(config, "workerinput", {}).get("rag_recordings")
    return config.stash.get(RECORDINGS, None) if names is None else tuple(names)


def share_with_worker(config: pytest.Config, workerinput: dict[str, Any], *, alone: bool) -> None:
    """Add the recordings and the shared folder to a worker's input; ``alone`` workers share no folder."""
    from pytest_rageval.hooks.config.options import Options

    try:
        options = Options(config)
    except RagEvalError:
        return  # the worker raises and reports the same error
    if options.record_mode is not None:
        from pytest_rageval.llm.recordings.cassettes import recording_files

        if RECORDINGS not in config.stash:  # set once: a worker that replaces a crashed one gets the same names
            config.stash[RECORDINGS] = recording_files(options.cassettes)
        names = config.stash[RECORDINGS]
        workerinput["rag_recordings"] = list(names)
    if not alone:
        workerinput["rag_shared"] = str(_folder(config))


def _folder(config: pytest.Config) -> Path:
    """Return the shared folder in the main process, which removes the folder at the end."""
    if _FOLDER not in config.stash:
        import shutil
        import tempfile
        from uuid import uuid4

        config.stash[_FOLDER] = Path(tempfile.gettempdir()) / f"rageval-{uuid4().hex}"
        config.add_cleanup(partial(shutil.rmtree, config.stash[_FOLDER], ignore_errors=True))
    return config.stash[_FOLDER]
