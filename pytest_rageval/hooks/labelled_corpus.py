"""Read a project's corpus for `rageval anchor`: as passages, and as whole documents."""

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
from pytest_rageval.hooks.config.invocation import ini_folder
from pytest_rageval.hooks.config.option_groups import BaselineSetting
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.progress_bar import on_stderr
from pytest_rageval.hooks.project import in_project
from pytest_rageval.model.case import Passage

__all__ = ["ProjectCorpus", "project_corpus"]


@dataclass(frozen=True, slots=True)
class ProjectCorpus:
    """A project's corpus.

    Attributes:
        chunking: how documents are split, in the form of ``rag_chunking``.
        passages: the chunks.
        documents: the whole documents.
        baseline: the path in ``rag_baseline``, or None.
    """

    chunking: str
    passages: tuple[Passage, ...]
    documents: tuple[Passage, ...]
    baseline: Path | None


def project_corpus(lines: Sequence[str] = (), chunking: str | None = None) -> ProjectCorpus:
    """Return a corpus; arguments that are not given come from the ini.

    Args:
        lines: paths in the form of ``rag_corpus``, relative to the current folder.
        chunking: a chunking in the form of ``rag_chunking``.

    Raises:
        RagEvalError: no corpus is named, or it cannot be read.
    """
    return in_project(partial(_read, lines, chunking))


def _read(lines: Sequence[str], chunking: str | None, config: pytest.Config) -> ProjectCorpus:
    corpus_of(config)  # applies rag_user_dict, the word lists for segmenting Chinese
    folder = Path.cwd() if lines else ini_folder(config)
    entries: Sequence[str] = lines or Options.corpus.read(config)
    chunks_by = Options.chunking.read(config) if chunking is None else chunking
    if not entries:
        raise SettingError("there is no corpus; give one with --corpus, or name it as rag_corpus in the ini")
    passages, documents = (
        Corpus(entries, each, folder, config.stash[CATALOG].corpora, on_stderr()).passages
        for each in (chunks_by, "none")
    )
    return ProjectCorpus(chunks_by, passages or (), documents or (), BaselineSetting.path.read(config))
