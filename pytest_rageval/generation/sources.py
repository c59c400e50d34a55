"""Load a dataset or a corpus that a user's Python code names, without a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval import corpora, datasets
from pytest_rageval.corpora.chunking import parse_chunking
from pytest_rageval.corpora.places import places
from pytest_rageval.corpora.reading import passages
from pytest_rageval.errors import DataError, SettingError, ascii_safe, short_repr
from pytest_rageval.generation.relations.relation import as_case
from pytest_rageval.model.case import Case, Instance, Passage
from pytest_rageval.model.facets import facet_text
from pytest_rageval.registry import Registry
from pytest_rageval.testbeds.selection import select

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.datasets import Loader

__all__ = ["Dataset", "cases_of", "passages_of"]

Dataset = str | Sequence[Instance | Case]
"""``format:path``, relative to the file that names it or to the current folder; or a list of records."""

_FORMATS: Registry[Loader] = Registry("dataset format", datasets.BUILTIN)
_READERS: Registry[Reader] = Registry("corpus format", corpora.BUILTIN)

_CORPUS_FIRST = ("beir",)
"""Dataset formats with a separate corpus."""


def cases_of(dataset: Dataset, where: Mapping[str, object] | None, base_folder: Path, user: str) -> tuple[Case, ...]:
    """Return the cases of a dataset, each with all passages of its record.

    Args:
        dataset: ``format:path``, or the records.
        where: facets that a case must have.
        base_folder: the folder of the file that names it.
        user: the function or test that reads it, for messages.

    Raises:
        SettingError: the format is unknown, or no case matches.
        DataError: the file is missing, or a record is invalid.
    """
    if not isinstance(dataset, Sequence):  # a user's test may not be typed
        raise SettingError(f"{user} takes format:path, or a list of Case or Instance, found {short_repr(dataset)}")
    if where is not None and not isinstance(where, Mapping):
        raise SettingError(f"{user}: where: found {short_repr(where)}, wanted a dict of facets")
    records = _records(dataset, base_folder, user) if isinstance(dataset, str) else tuple(dataset)
    for each in records:
        if not isinstance(each, (Instance, Case)):
            raise SettingError(f"{user} takes format:path, or a list of Case or Instance, found {short_repr(each)}")
    cases = tuple(map(as_case, records))
    conditions = {name: facet_text(value) for name, value in (where or {}).items()}
    selected = select(cases, conditions, None, None, 0, user)
    if not selected:
        raise SettingError(
            f"{user}: {'where matches no case' if cases else 'the dataset has no record'}", code="RAG109"
        )
    return tuple(cases[at] for at in selected)


def passages_of(source: str | Sequence[Passage], base_folder: Path, user: str) -> tuple[Passage, ...]:
    """Return the passages of a dataset's records, of a corpus named as in ``rag_corpus``, or of a list.

    If a dataset has passages with the role negative, only those.

    Raises:
        SettingError, DataError: as in `cases_of`; or there is no passage.
    """
    if not isinstance(source, str):
        result = tuple(source)
        for each in result:
            if not isinstance(each, Passage):
                raise SettingError(f"{user} takes format:path, or a list of Passage, found {short_repr(each)}")
    else:
        format_name = source.partition(":")[0]
        is_dataset = ":" in source and format_name in _FORMATS and format_name not in _CORPUS_FIRST
        result = _of_records(source, base_folder, user) if is_dataset else _of_corpus(source, base_folder)
    if not result:
        raise SettingError(f"{user}: {short_repr(source)} has no passage; name a dataset or a corpus with passages")
    return result


def _of_records(dataset: str, base_folder: Path, user: str) -> tuple[Passage, ...]:
    all_passages = [passage for record in _records(dataset, base_folder, user) for passage in record.passages or ()]
    negative = [passage for passage in all_passages if passage.role == "negative"]
    return tuple(negative or all_passages)


def _of_corpus(line: str, base_folder: Path) -> tuple[Passage, ...]:
    return tuple(passages(places((line,), base_folder, _READERS), _READERS, parse_chunking("none")))


def _records(dataset: str, base_folder: Path, user: str) -> tuple[Instance, ...]:
    format_name, colon, text = dataset.partition(":")
    if not colon or not text:
        raise SettingError(f"{user}: dataset {short_repr(dataset)} is not format:path", code="RAG104")
    loader = _FORMATS.get(format_name, user)
    candidates = [base_folder / text, Path.cwd() / text]
    path = next((each for each in candidates if each.exists()), None)
    if path is None:
        paths = " nor ".join(ascii_safe(str(each)) for each in dict.fromkeys(candidates))
        raise DataError(user, f"dataset {short_repr(text)} is missing: no {paths}; correct the path", code="RAG105")
    return tuple(loader(path))
