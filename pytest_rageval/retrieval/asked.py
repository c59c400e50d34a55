"""What a retriever may be asked."""

from __future__ import annotations

from pytest_rageval.errors import CaseError, SettingError, found

__all__ = ["checked"]


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
