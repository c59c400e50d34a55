"""Build, list and remove the indexes of a project, for the command `rageval index`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_rageval.errors import RagEvalError, SettingError, ascii_safe, short_repr
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.collect.session_corpus import corpus_of
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.progress_bar import on_stderr
from pytest_rageval.hooks.prepare.retriever import build_retriever, store_in
from pytest_rageval.hooks.project import in_project
from pytest_rageval.report.files.pruning import size_of
from pytest_rageval.retrieval.index_store import Build, IndexStore, StoredIndex, name_of, read_index

__all__ = ["BuildResult", "StoredIndexes", "build_index", "prune_indexes", "stored_indexes"]

_NAME = re.compile(r".+-[0-9a-f]{16}")
"""The form of index names; a folder with any other name belongs to the user."""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of building the indexes of the ini's retriever.

    Attributes:
        retriever: the retriever's name.
        passages: number of passages in the corpus.
        seconds: time to build the retriever.
        indexes: the retriever's indexes on disk; () if it stores none.
    """

    retriever: str
    passages: int
    seconds: float
    indexes: tuple[StoredIndex, ...]


@dataclass(frozen=True, slots=True)
class StoredIndexes:
    """The stored indexes of a project.

    Attributes:
        folder: the folder of the indexes.
        indexes: folder name -> the index, or its error.
        used: names of the indexes that the ini's retriever uses, up to the first missing one.
        problem: why the ini's retriever could not be created, or "".
    """

    folder: Path
    indexes: Mapping[str, StoredIndex | str]
    used: tuple[str, ...]
    problem: str


def build_index() -> BuildResult:
    """Build the missing indexes of the ini's retriever.

    Raises:
        RagEvalError: the ini names no corpus, or its corpus or its retriever cannot be used.
    """
    return in_project(_build)


def stored_indexes() -> StoredIndexes:
    """Return the stored indexes, and which of them the ini's retriever uses; write nothing.

    To find the used indexes, the retriever is created like in tests, up to the first missing index. This may load a
    model and call a user's factory.
    """
    return in_project(_list)


def prune_indexes(*, dry_run: bool) -> Mapping[str, int]:
    """Remove the indexes that the ini's retriever does not use; return index name -> its size in bytes.

    With ``dry_run``, nothing is removed.

    Raises:
        RagEvalError: the ini is invalid, an index cannot be removed, or a used index is missing. In the last case, it
            is unknown which other indexes are used.
    """
    return in_project(lambda config: _prune(config, dry_run=dry_run))


def _build(config: pytest.Config) -> BuildResult:
    store = store_in(config.rootpath)
    start = time.perf_counter()
    options, passages = _retriever_over(config, store)
    return BuildResult(options.retriever, passages, time.perf_counter() - start, tuple(store.requested_indexes))


def _list(config: pytest.Config) -> StoredIndexes:
    store, problem = _RecordingStore(store_in(config.rootpath).folder), ""
    try:
        _retriever_over(config, store)
    except RagEvalError as error:
        problem = str(error)
    except _MissingIndexError:
        pass
    return StoredIndexes(
        store.folder, {path.name: _read_index(path) for path in store.folders()}, tuple(store.requested), problem
    )


def _prune(config: pytest.Config, *, dry_run: bool) -> Mapping[str, int]:
    listing = _list(config)
    if listing.problem:
        raise SettingError(f"nothing is removed, because the ini cannot be used: {listing.problem}")
    missing = [name for name in listing.used if name not in listing.indexes]
    if missing:
        problem = f"the index {missing[0]} of the ini is missing"
        raise SettingError(f"nothing is removed, because {problem}; run rageval index build first")
    store = store_in(config.rootpath)
    unused = [name for name in listing.indexes if name not in listing.used and _NAME.fullmatch(name)]
    return {name: size_of(store.folder / name) if dry_run else store.remove(name) for name in unused}


def _read_index(folder: Path) -> StoredIndex | str:
    try:
        return read_index(folder)
    except RagEvalError as error:
        return str(error)


def _retriever_over(config: pytest.Config, store: IndexStore) -> tuple[Options, int]:
    """Create the ini's retriever; return the options and the number of passages."""
    options, corpus = Options(config), corpus_of(config, on_stderr())
    passages = corpus.passages
    if passages is None:
        raise SettingError("the ini names no rag_corpus; tests index the corpus of a fixture with that name")
    retrievers = config.stash[CATALOG].retrievers
    try:
        build_retriever(options, retrievers, passages, corpus.digest.hex(), store, corpus.watch)
    except (RagEvalError, _MissingIndexError):
        raise
    except Exception as error:  # from a user's retriever
        problem = f"{type(error).__name__}: {ascii_safe(str(error))}"
        raise SettingError(f"the retriever {short_repr(options.retriever)} cannot be created: {problem}") from error
    return options, len(passages)


class _MissingIndexError(Exception):
    """Raised to stop the creation of a retriever at its first missing index."""


class _RecordingStore(IndexStore):
    """An index store that builds nothing and records the requested names."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.requested: list[str] = []

    def get(self, key: Mapping[str, object], build: Build) -> StoredIndex:
        self.requested.append(name_of(key))
        if not (self.folder / self.requested[-1]).exists():
            raise _MissingIndexError
        return super().get(key, build)

    def measurement(self, *_: object) -> None:
        """Ignore measurements."""
