"""Check a query and a corpus, for all retrievers."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.errors import CaseError, SettingError, short_repr
from pytest_rageval.model.case import Passage

__all__ = ["check_corpus", "check_query"]


def check_query(query: str, k: int) -> None:
    """Raise an error for an invalid query; every built-in retriever calls this first.

    A query without any word of the corpus is valid and finds nothing. A ``k`` above the size of the corpus is valid.

    Raises:
        SettingError: ``k`` is not positive.
        CaseError: the query is blank ("empty_query").
    """
    if k <= 0:
        raise SettingError(
            f"a retriever must return at least 1 passage, not {short_repr(k)}; set rag_top_k to 1 or more"
        )
    if not query.strip():
        raise CaseError("empty_query", "an empty query cannot be searched for; give the case a question")


def check_corpus(passages: Iterable[Passage], retriever: str) -> None:
    """Raise a `SettingError` for an empty corpus or a duplicate id."""
    ids: set[str] = set()
    for passage in passages:
        if passage.id in ids:
            problem = f"has two passages with the id {short_repr(passage.id)}"
            raise SettingError(f"the corpus of the {retriever} retriever {problem}")
        ids.add(passage.id)
    if not ids:
        raise SettingError(f"the corpus of the {retriever} retriever is empty; give it at least one passage")
