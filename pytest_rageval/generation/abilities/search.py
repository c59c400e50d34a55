"""Build the search for negative passages: BM25, or the retriever that a plan names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from pytest_rageval import retrieval
from pytest_rageval.model.case import Passage
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval import RetrieverFactory, RetrieverParts

__all__ = ["RETRIEVERS", "Search", "search_over"]

Search = Callable[[str, int], Ranking]
"""(question, count) -> ranking."""

RETRIEVERS = ("bm25", "dense", "hybrid")
"""Retrievers that index the passages of a plan."""

_NONE: Mapping[str, object] = MappingProxyType({})


def search_over(
    passages: tuple[Passage, ...], retriever: str = "bm25", params: Mapping[str, object] = _NONE, folder: Path = Path()
) -> Search | None:
    """Return the search function of a retriever over passages; None if there are no passages.

    Args:
        passages: the corpus.
        retriever: one of `RETRIEVERS`.
        params: its parameters, as in ``rag_retriever_params``.
        folder: the base of relative paths in the parameters.

    Raises:
        SettingError: a parameter is invalid.
        MissingDependencyError: a library is not installed.
    """
    if not passages:
        return None
    retrievers: Registry[RetrieverFactory] = Registry("retriever", retrieval.BUILTIN)
    return retrievers.get(retriever)(RetrieverParts(passages, params, folder=folder, get=retrievers.get)).search
