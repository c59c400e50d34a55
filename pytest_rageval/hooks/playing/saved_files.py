"""The files of a project that change when the page saves a case: datasets, suites, recordings."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from pytest_rageval.hooks.collect.session import Collected
from pytest_rageval.llm.recordings.copying import copy_recordings
from pytest_rageval.model.case import Instance

__all__ = ["NEW", "PREFIX", "SavedFiles"]

NEW = "cases/play.jsonl"
"""The file of saved cases in a project without a JSON Lines dataset."""

PREFIX = "jsonl:"
"""The start of a source's name for the format that cases can be appended to."""


class SavedFiles:
    """The files of a project that change when a case is saved.

    Args:
        collected: the project's settings and cases.
        base: a test of the project.
    """

    def __init__(self, collected: Collected, base: pytest.Item) -> None:
        self._collected = collected
        self.rootdir: Path = collected.rootdir
        """The root folder of the project."""
        self.tests = base.path.parent
        """The folder of the tests, which pytest collects."""

    @property
    def datasets(self) -> list[str]:
        """The JSON Lines files of the session, relative to the rootdir, in order."""
        return [each.name[len(PREFIX) :] for each in self._collected.sources if each.name.startswith(PREFIX)]

    def suites_of(self, dataset: str) -> list[str]:
        """Return the test files whose testbeds read a JSON Lines file, relative to the rootdir."""
        entries = (entry for entry in self._collected.entries if entry.source.name == f"{PREFIX}{dataset}")
        return list(dict.fromkeys(entry.testbed.nodeid.partition("::")[0] for entry in entries))

    def missing_evidence(self, instance: Instance) -> list[str]:
        """Return a sentence for each piece of a record's evidence that the ini's corpus does not contain."""
        if not self._collected.options.corpus:
            return ["the ini has no rag_corpus that could hold the quote; save the whole passage instead"]
        return self._collected.corpus.missing_evidence(instance)

    def keep_recordings(self, keys: Collection[str]) -> list[str]:
        """Copy the page's recordings with these keys to the project's cassettes; return the names of changed files."""
        cassettes = self._collected.models.cassettes
        if cassettes is None or cassettes.writes == cassettes.folder:
            return []
        return copy_recordings(keys, cassettes.writes, cassettes.folder)
