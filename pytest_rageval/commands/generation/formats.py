"""Load datasets and corpora for a command, in builtin formats or those of the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval import corpora, datasets
from pytest_rageval.errors import DataError, SettingError, ascii_safe, short_repr
from pytest_rageval.registry import Registry

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.datasets import Loader
    from pytest_rageval.model.case import Instance, Passage

__all__ = ["dataset_path", "formats_of", "load_corpus", "load_dataset"]


def formats_of(names: Sequence[str], corpus: Sequence[str]) -> tuple[Registry[Loader], Registry[Reader]]:
    """Return the builtin formats; if a name is not builtin, the formats that the project registers.

    Args:
        names: datasets, as ``format:path``.
        corpus: lines, as in ``rag_corpus``.
    """
    formats: Registry[Loader] = Registry("dataset format", datasets.BUILTIN)
    readers: Registry[Reader] = Registry("corpus format", corpora.BUILTIN)
    lines = [line for line in corpus if ":" in line]
    if all(_head(name) in formats for name in names) and all(_head(line) in readers for line in lines):
        return formats, readers
    from pytest_rageval.hooks.project import project_catalog

    catalog = project_catalog()
    return catalog.datasets, catalog.corpora


def dataset_path(name: str) -> Path:
    """Return the path of a dataset ``format:path``, relative to the current folder.

    Raises:
        SettingError: the name has no format or no path.
        DataError: the file is missing.
    """
    head, colon, text = name.partition(":")
    if not head or not colon or not text.strip():
        problem = f"dataset {short_repr(name)} is not format:path; write for example jsonl:cases.jsonl"
        raise SettingError(problem, code="RAG104")
    try:
        is_present = Path(text).exists()
    except OSError as error:
        raise SettingError(f"the path {short_repr(text)} cannot be used: {error.strerror}") from None
    if not is_present:
        problem = "no such file or folder; a path is relative to the current folder"
        raise DataError(ascii_safe(text), problem, code="RAG105")
    return Path(text)


def load_dataset(name: str, formats: Registry[Loader]) -> tuple[Instance, ...]:
    """Return the records of a dataset ``format:path``.

    Raises:
        RagEvalError: the dataset is missing, empty or malformed.
    """
    path = dataset_path(name)
    instances = tuple(formats.get(_head(name))(path))
    if not instances:
        raise DataError(name, "the dataset has no record; it needs at least one")
    return instances


def load_corpus(lines: Sequence[str], chunking: str, readers: Registry[Reader]) -> tuple[Passage, ...]:
    """Return the passages of a corpus.

    Args:
        lines: lines, as in ``rag_corpus``; paths are relative to the current folder.
        chunking: the value, as in ``rag_chunking``.
        readers: the corpus formats.

    Raises:
        RagEvalError: a file is missing or malformed, or a setting is invalid.
    """
    from pytest_rageval.corpora.chunking import parse_chunking
    from pytest_rageval.corpora.places import places
    from pytest_rageval.corpora.reading import passages

    return tuple(passages(places(tuple(lines), Path.cwd(), readers), readers, parse_chunking(chunking)))


def _head(name: str) -> str:
    return name.partition(":")[0]
