"""The inputs of a system factory: retriever, generator, models, prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_rageval.errors import CaseError
from pytest_rageval.model.protocols import Retriever, System
from pytest_rageval.systems.setup import SystemSetup

if TYPE_CHECKING:
    from pytest_rageval.environments.choice import Environments
    from pytest_rageval.model.chat import ChatModel, EmbeddingModel
    from pytest_rageval.sandbox.protocol import Sandbox
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["SystemParts", "no_passages"]


@dataclass(frozen=True, slots=True)
class SystemParts:
    """The parts that a system is built from; they come from the session's fixtures.

    Attributes:
        retriever: finds passages for a question; None without a corpus.
        generator: answers a query from its passages; None leaves the choice to the system.
        top_k: passages per retrieval, >= 1.
        llm: the session's model; None without one.
        prompts: the prompts of the systems; None for the built-in ones.
        embedder: the session's embedding model; None without one.
        environments: the tools of agents; None outside a session.
        sandbox: (name of the system that needs it) -> the session's sandbox, opened on first use. None outside a
            session.
        models: litellm name -> the model; its calls are recorded and charged like those of the session's model. None
            outside a session.
        retrievers: (kind of ``rag_retriever``, its parameters) -> the retriever over the session's corpus; the result
            is None without a corpus. None outside a session.
        setup: the options of the system.
    """

    retriever: Retriever | None = None
    generator: System | None = None
    top_k: int = 5
    llm: ChatModel | None = None
    prompts: Prompts | None = None
    embedder: EmbeddingModel | None = None
    environments: Environments | None = None
    sandbox: Callable[[str], Sandbox] | None = None
    models: Callable[[str], ChatModel] | None = None
    retrievers: Callable[[str, Mapping[str, object]], Retriever | None] | None = None
    setup: SystemSetup = field(default_factory=SystemSetup)


def no_passages() -> CaseError:
    """Return the error of a case without passages and without a retriever."""
    return CaseError(
        "no_passages",
        "the case supplies no passages and the session has no retriever; "
        "set rag_corpus in the ini, or override the fixture `rag_system`, `rag_corpus` or `rag_retriever`",
    )
