"""Create the corpus of the ini, once per process."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from pytest_rageval.hooks.collect.corpus import Corpus
from pytest_rageval.hooks.collect.keys import CATALOG, CORPUS
from pytest_rageval.hooks.config.invocation import ini_folder
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.hooks.config.progress_bar import in_terminal
from pytest_rageval.retrieval.retriever_parts import Watch
from pytest_rageval.text.dictionary import use_dictionaries

__all__ = ["corpus_of"]


def corpus_of(config: pytest.Config, watch: Watch | None = None) -> Corpus:
    """Return the corpus of the ini and check the form of its settings; ``watch`` defaults to pytest's terminal.

    The first call also applies ``rag_user_dict``, the word lists for segmenting Chinese, until the session ends.
    """
    if CORPUS not in config.stash:
        lines = Options.user_dict.read(config)
        if lines:
            config.add_cleanup(partial(use_dictionaries, ()))
            use_dictionaries([ini_folder(config) / Path(line).expanduser() for line in lines])
        entries, chunking = Options.corpus.read(config), Options.chunking.read(config)
        formats, watch = config.stash[CATALOG].corpora, watch or in_terminal(config)
        config.stash[CORPUS] = Corpus(entries, chunking, ini_folder(config), formats, watch)
    return config.stash[CORPUS]
