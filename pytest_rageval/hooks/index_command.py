"""The indexes of a project's ini, for the command `rageval index`: built ahead of the tests, told of, and removed."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_rageval.errors import RagEvalError, SettingError, ascii_safe, found
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.collect.session_corpus import corpus_of
from pytest_rageval.hooks.config.progress_bar import on_stderr
from pytest_rageval.hooks.config.settings import Options, read_options
from pytest_rageval.hooks.prepare.retriever import built_retriever, store_in
from pytest_rageval.hooks.project import in_project
from pytest_rageval.retrieval.index_store import Build, IndexStore, StoredIndex, name_of, stored

__all__ = ["Built", "Kept", "build_index", "kept_indexes", "prune_indexes"]

_NAME = re.compile(r".+-[0-9a-f]{16}")
"""Names of indexes; a folder of another is somebody's own."""


@dataclass(frozen=True, slots=True)
class Built:
    """What building the ini's index came to.

    Attributes:
        retriever: its name.
        passages: of the corpus.
        seconds: that making the retriever took.
        indexes: what it keeps on disk; () where it keeps nothing.
    """

    retriever: str
    passages: int
    seconds: float
    indexes: tuple[StoredIndex, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept in a project.

    Attributes:
        folder: of the indexes.
        indexes: folder name -> the index, or what is wrong with it.
        used: the names of those that the retriever of the ini asks for; of one that is not there, no more is known.
        problem: why the retriever of the ini could not be asked, or "".
    """

    folder: Path
    indexes: Mapping[str, StoredIndex | str]
    used: tuple[str, ...]
    problem: str


def build_index() -> Built:
    """Build what the retriever of the ini keeps on disk, where it is not there yet.

    Raises:
        RagEvalError: the ini names no corpus, or its corpus or its retriever cannot be used.
    """
    return in_project(_build)


def kept_indexes() -> Kept:
    """Return what is kept on disk, and what of it the retriever of the ini uses.

    Nothing is written. To know what it asks for, its retriever is made, as for the tests, up to the first index that is
    not there: a model is loaded, and a factory of one's own is called.
    """
    return in_project(_kept)


def prune_indexes() -> Mapping[str, int]:
    """Remove the indexes that the retriever of the ini does not use; return the bytes that each took, by its name.

    Raises:
        RagEvalError: the ini cannot be used, or asks for an index that is not there, so that not all are known that it
            uses; or one cannot be removed.
    """
    return in_project(_pruned)


def _build(config: pytest.Config) -> Built:
    store = store_in(config.rootpath)
    start = time.perf_counter()
    options, passages = _retriever_over(config, store)
    return Built(options.retriever, passages, time.perf_counter() - start, tuple(store.given))


def _kept(config: pytest.Config) -> Kept:
    store, problem = _Looking(store_in(config.rootpath).folder), ""
    try:
        _retriever_over(config, store)
    except RagEvalError as error:
        problem = str(error)
    except _NotThereError:
        pass
    return Kept(store.folder, {path.name: _told(path) for path in store.folders()}, tuple(store.asked), problem)


def _pruned(config: pytest.Config) -> Mapping[str, int]:
    kept = _kept(config)
    if kept.problem:
        raise SettingError(f"nothing is removed, as the ini cannot be used: {kept.problem}")
    missing = [name for name in kept.used if name not in kept.indexes]
    if missing:
        again = "run rageval index build first"
        raise SettingError(f"nothing is removed, as the ini asks for {missing[0]}, which is not there yet; {again}")
    store = store_in(config.rootpath)
    unused = [name for name in kept.indexes if name not in kept.used and _NAME.fullmatch(name)]
    return {name: store.remove(name) for name in unused}


def _told(folder: Path) -> StoredIndex | str:
    try:
        return stored(folder)
    except RagEvalError as error:
        return str(error)


def _retriever_over(config: pytest.Config, store: IndexStore) -> tuple[Options, int]:
    """Make the retriever of the ini; return the options and the number of passages."""
    options, corpus = read_options(config), corpus_of(config, on_stderr())
    passages = corpus.passages
    if passages is None:
        raise SettingError("the ini names no rag_corpus; what a fixture of that name gives is indexed by the tests")
    retrievers = config.stash[CATALOG].retrievers
    try:
        built_retriever(options, retrievers, passages, corpus.digest.hex(), store, corpus.watch)
    except (RagEvalError, _NotThereError):
        raise
    except Exception as error:  # of a user's own retriever
        problem = f"{type(error).__name__}: {ascii_safe(str(error))}"
        raise SettingError(f"the retriever {found(options.retriever)} cannot be made: {problem}") from error
    return options, len(passages)


class _NotThereError(Exception):
    """An index was asked for that is not there."""


class _Looking(IndexStore):
    """A store that builds nothing, and notes what it is asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked: list[str] = []

    def get(self, made_of: Mapping[str, object], build: Build) -> StoredIndex:
        self.asked.append(name_of(made_of))
        if not (self.folder / self.asked[-1]).exists():
            raise _NotThereError
        return super().get(made_of, build)

    def measured(self, *_: object) -> None:
        """Measure nothing."""
