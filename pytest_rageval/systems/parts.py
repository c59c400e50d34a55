"""What a named system is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rageval.errors import CaseError
from pytest_rageval.model.protocols import Retriever, System

if TYPE_CHECKING:
    from pytest_rageval.model.chat import ChatModel, EmbeddingModel
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["SystemParts", "no_passages"]


@dataclass(frozen=True, slots=True)
class SystemParts:
    """The session's parts, as its fixtures give them.

    Attributes:
        retriever: finds passages for a question; None when there is no corpus.
        generator: answers a query that has passages; None leaves the choice to the system.
        top_k: how many passages the retriever is asked for, >= 1.
        llm: the session's model; None when it has none.
        prompts: what the systems say to a model; None stands for the built-in prompts.
        embedder: the session's embedding model; None when it has none.
    """

    retriever: Retriever | None = None
    generator: System | None = None
    top_k: int = 5
    llm: ChatModel | None = None
    prompts: Prompts | None = None
    embedder: EmbeddingModel | None = None


def no_passages() -> CaseError:
    """Return the error of a case that neither supplies passages nor can have them found."""
    return CaseError(
        "no_passages",
        "the case supplies no passages and there is no retriever to find any; "
        "set rag_corpus in the ini, or override the `rag_corpus` or `rag_retriever` fixture",
    )
