"""What the processes of one session share: the file of the budget, and which recordings were there at its start."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.errors import RagEvalError

__all__ = ["budget_file", "existing_recordings", "tell_worker"]

_FOLDER = pytest.StashKey[Path]()
"""On the config of the main process: the folder of the budget's file, once it is wanted."""

_FOUND = pytest.StashKey[tuple[str, ...]]()
"""On the config of the main process: the recordings that were there when the first worker was told."""


def budget_file(config: pytest.Config) -> Path | None:
    """Return the file that the session's processes keep their budget in, until the last has ended; None without one."""
    if config.option.rag_budget_usd is None:
        return None
    told: str | None = getattr(config, "workerinput", {}).get("rag_budget")
    if told is not None:
        return Path(told)
    if _FOLDER not in config.stash:
        import shutil
        import tempfile

        config.stash[_FOLDER] = Path(tempfile.mkdtemp(prefix="rageval-"))
        config.add_cleanup(partial(shutil.rmtree, config.stash[_FOLDER], ignore_errors=True))
    return config.stash[_FOLDER] / "budget.json"


def existing_recordings(config: pytest.Config) -> tuple[str, ...] | None:
    """Return the names of the recordings that were there when the session began; None in its main process."""
    told: list[str] | None = getattr(config, "workerinput", {}).get("rag_recordings")
    return None if told is None else tuple(told)


def tell_worker(config: pytest.Config, workerinput: dict[str, Any]) -> None:
    """Put what is shared into a worker's input."""
    from pytest_rageval.hooks.given import read_options

    try:
        options = read_options(config)
    except RagEvalError:
        return  # the worker meets the same error where it is told
    if options.record_mode is not None:
        from pytest_rageval.llm.cassettes import existing

        if _FOUND not in config.stash:  # a worker that takes a crashed one's place starts later than the session
            config.stash[_FOUND] = existing(options.cassettes)
        found = config.stash[_FOUND]
        workerinput["rag_recordings"] = list(found)
    budget = budget_file(config)
    if budget is not None:
        workerinput["rag_budget"] = str(budget)
