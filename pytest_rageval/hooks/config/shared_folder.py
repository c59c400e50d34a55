"""What the processes of one session share: a folder for the while, and which recordings were there at its start."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import RagEvalError

__all__ = ["budget_file", "common_folder", "existing_recordings", "shared_folder", "tell_worker"]

_FOLDER = pytest.StashKey[Path]()
"""On the config of the main process: the folder that the session's processes share, once it is wanted."""

_FOUND = pytest.StashKey[tuple[str, ...]]()
"""On the config of the main process: the recordings that were there when the first worker was told."""


def shared_folder(config: pytest.Config) -> Path | None:
    """Return the folder that workers share until the last has ended, which need not be there yet.

    None in a session of one process, and where workers are on several machines.
    """
    told: str | None = getattr(config, "workerinput", {}).get("rag_shared")
    return None if told is None else Path(told)


def common_folder(config: pytest.Config) -> Path | None:
    """Return the same folder, also in the main process once it has told a worker of it."""
    return shared_folder(config) or config.stash.get(_FOLDER, None)


def budget_file(config: pytest.Config) -> Path | None:
    """Return the file that the session's processes keep their budget in, until the last has ended; None without one."""
    if config.option.rag_budget_usd is None:
        return None
    folder = shared_folder(config) or _folder(config)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "budget.json"


def existing_recordings(config: pytest.Config) -> tuple[str, ...] | None:
    """Return the names of the recordings that were there when the session began; None in its main process."""
    told: list[str] | None = getattr(config, "workerinput", {}).get("rag_recordings")
    return None if told is None else tuple(told)


def tell_worker(config: pytest.Config, workerinput: dict[str, Any], *, alone: bool) -> None:
    """Put what is shared into a worker's input; workers that are ``alone`` share no folder."""
    from pytest_rageval.hooks.config.settings import read_options

    try:
        options = read_options(config)
    except RagEvalError:
        return  # the worker meets the same error where it is told
    if options.record_mode is not None:
        from pytest_rageval.llm.recordings.cassettes import existing

        if _FOUND not in config.stash:  # a worker that takes a crashed one's place starts later than the session
            config.stash[_FOUND] = existing(options.cassettes)
        found = config.stash[_FOUND]
        workerinput["rag_recordings"] = list(found)
    if not alone:
        workerinput["rag_shared"] = str(_folder(config))


def _folder(config: pytest.Config) -> Path:
    """Return the folder, which the main process names, and removes."""
    if _FOLDER not in config.stash:
        import shutil
        import tempfile
        from uuid import uuid4

        config.stash[_FOLDER] = Path(tempfile.gettempdir()) / f"rageval-{uuid4().hex}"
        config.add_cleanup(partial(shutil.rmtree, config.stash[_FOLDER], ignore_errors=True))
    return config.stash[_FOLDER]
