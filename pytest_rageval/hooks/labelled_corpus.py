"""The corpus of a project for commands about labels: cut as it was labelled, and whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.hooks.collect.corpus import Corpus
from pytest_rageval.hooks.collect.keys import CATALOG
from pytest_rageval.hooks.collect.session_corpus import corpus_of
from pytest_rageval.hooks.config.progress_bar import on_stderr
from pytest_rageval.hooks.config.settings import ini_folder, ini_value
from pytest_rageval.hooks.project import in_project
from pytest_rageval.model.case import Passage

__all__ = ["ProjectCorpus", "project_corpus"]


@dataclass(frozen=True, slots=True)
class ProjectCorpus:
    """A corpus, read.

    Attributes:
        chunking: how its documents are cut, as ``rag_chunking`` has it.
        passages: what they are cut into.
        documents: the documents.
        baseline: the file that the ini names as ``rag_baseline``, or None.
    """

    chunking: str
    passages: tuple[Passage, ...]
    documents: tuple[Passage, ...]
    baseline: Path | None


def project_corpus(lines: Sequence[str] = (), chunking: str | None = None) -> ProjectCorpus:
    """Return a corpus, from the ini what is not given.

    Args:
        lines: as those of ``rag_corpus``, relative to the current folder.
        chunking: as ``rag_chunking``.

    Raises:
        RagEvalError: no corpus is named, or it cannot be read.
    """
    return in_project(partial(_read, lines, chunking))


def _read(lines: Sequence[str], chunking: str | None, config: pytest.Config) -> ProjectCorpus:
    corpus_of(config)  # cuts Chinese by the words of the ini from now on
    folder = Path.cwd() if lines else ini_folder(config)
    entries: Sequence[str] = lines or ini_value(config, "rag_corpus")
    how = str(ini_value(config, "rag_chunking")) if chunking is None else chunking
    if not entries:
        raise SettingError("there is no corpus; give one with --corpus, or name it as rag_corpus in the ini")
    cut, whole = (
        Corpus(entries, each, folder, config.stash[CATALOG].corpora, on_stderr()).passages for each in (how, "none")
    )
    standing = str(ini_value(config, "rag_baseline")).strip()
    return ProjectCorpus(how, cut or (), whole or (), ini_folder(config) / standing if standing else None)
