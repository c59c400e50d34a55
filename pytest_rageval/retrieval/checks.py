"""What a retriever may be asked, and over what."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rageval.errors import CaseError, SettingError, found
from pytest_rageval.model.case import Passage

__all__ = ["check_corpus", "checked"]


def checked(query: str, k: int) -> None:
    """Raise what keeps a question from being searched for; every retriever of the package calls it first.

    A query may have nothing that a retriever knows, and then finds nothing; more passages may be asked for than there
    are, and then all of them come.

    Raises:
        SettingError: ``k`` is not positive.
        CaseError: the query is blank ("empty_query").
    """
    if k <= 0:
        raise SettingError(f"a retriever is asked for at least 1 passage, not {found(k)}; set rag_top_k to 1 or more")
    if not query.strip():
        raise CaseError("empty_query", "an empty query cannot be searched for; give the case a question")


def check_corpus(passages: Iterable[Passage], retriever: str) -> None:
    """Raise a `SettingError` for a corpus that has no passage, or two of one id."""
    seen: set[str] = set()
    for passage in passages:
        if passage.id in seen:
            twice = found(passage.id)
            raise SettingError(f"the corpus of the {retriever} retriever has two passages with the id {twice}")
        seen.add(passage.id)
    if not seen:
        raise SettingError(f"the corpus of the {retriever} retriever is empty; give it at least one passage")
