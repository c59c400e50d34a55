"""Where the plugin keeps its state: on the config, and on each test item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_rageval.engine.catalog import Catalog
    from pytest_rageval.hooks.collected import Collected
    from pytest_rageval.hooks.corpus import Corpus
    from pytest_rageval.hooks.recorder import Recorder
    from pytest_rageval.hooks.result import RagResult
    from pytest_rageval.hooks.resuming import Resumed
    from pytest_rageval.hooks.testbed import Entry

__all__ = [
    "CATALOG", "COLLECTED", "CORPUS", "ENTRY", "NO_CALL", "RECORDER", "RESULT", "RESUMED", "SKIPPED_FILES",
    "WATCHED",
    "is_watched_worker", "is_worker",
]  # fmt: skip

CATALOG: pytest.StashKey[Catalog] = pytest.StashKey()
"""On the config: what is registered."""

COLLECTED: pytest.StashKey[Collected] = pytest.StashKey()
"""On the config of a process that collects, from its first rag case on."""

CORPUS: pytest.StashKey[Corpus] = pytest.StashKey()
"""On the config of a process that collects, once it was asked for: the corpus of the ini."""

RECORDER: pytest.StashKey[Recorder] = pytest.StashKey()
"""On the config of the reporting process, once there is something to report."""

ENTRY: pytest.StashKey[Entry] = pytest.StashKey()
"""On a test item: its case."""

RESULT: pytest.StashKey[RagResult] = pytest.StashKey()
"""On a test item that has been answered: the result."""

SKIPPED_FILES: pytest.StashKey[int] = pytest.StashKey()
"""On the config of a process that collects: how many test files another plugin, as that of ``--lf``, skipped."""

RESUMED: pytest.StashKey[Resumed] = pytest.StashKey()
"""On the config of the reporting process, with ``--rag-resume``: what it goes on with."""

NO_CALL = "no call can succeed"
"""How the reason begins for which a session stops whose model refuses to work."""


WATCHED = "rag_watched"
"""In the input of a worker whose controller tells in a terminal how the session stands."""


def is_watched_worker(config: pytest.Config) -> bool:
    """Return whether this process is an xdist worker that has to tell what it has under way."""
    return WATCHED in getattr(config, "workerinput", {})


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process is an xdist worker."""
    return hasattr(config, "workerinput")
