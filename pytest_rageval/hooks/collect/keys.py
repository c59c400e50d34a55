"""Where collection stores its state: on the config, and on each test item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_rageval.engine.catalog import Catalog
    from pytest_rageval.hooks.collect.corpus import Corpus
    from pytest_rageval.hooks.collect.resumed_run import ResumedRun
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.hooks.collect.testbed import Entry

__all__ = ["CATALOG", "COLLECTED", "CORPUS", "ENTRY", "REQUEST_ENTRIES", "RESUMED", "RUN_FOLDER", "SKIPPED_FILES"]

REQUEST_ENTRIES: pytest.StashKey[tuple[Entry, ...]] = pytest.StashKey()
"""On a test item with the fixture ``rag_ask``: an entry for each system that it may ask."""

CATALOG: pytest.StashKey[Catalog] = pytest.StashKey()
"""On the config: everything that is registered under a name."""

COLLECTED: pytest.StashKey[Collected] = pytest.StashKey()
"""On the config of a process that collects: its testbeds and cases, available from the first rag case on."""

CORPUS: pytest.StashKey[Corpus] = pytest.StashKey()
"""On the config of a process that collects: the corpus of the ini, available from its first use on."""

ENTRY: pytest.StashKey[Entry] = pytest.StashKey()
"""On a test item: its case."""

RESUMED: pytest.StashKey[ResumedRun] = pytest.StashKey()
"""On the config of the reporting process with ``--rag-resume``: the run that the session resumes."""

RUN_FOLDER: pytest.StashKey[Callable[[], Path | None]] = pytest.StashKey()
"""On the config of the reporting process: a function that returns the run folder, or None if it is not writable."""

SKIPPED_FILES: pytest.StashKey[int] = pytest.StashKey()
"""On the config of a process that collects: the number of test files that another plugin (``--lf``) skipped."""
