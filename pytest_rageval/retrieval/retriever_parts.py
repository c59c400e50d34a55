"""The inputs of a retriever factory: corpus, settings, index store and network."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever

if TYPE_CHECKING:
    from pytest_rageval.errors import ModelError
    from pytest_rageval.llm.client.base_client import LoopRunner
    from pytest_rageval.llm.recordings.cassettes import Cassettes
    from pytest_rageval.retrieval.index_store import IndexStore

__all__ = [
    "UNSHARED",
    "Network",
    "RetrieverFactory",
    "RetrieverParts",
    "SearchClient",
    "Watch",
    "digest_of",
    "unwatched",
]

T = TypeVar("T")

_NO_PARAMS: Mapping[str, object] = MappingProxyType({})


class Watch(Protocol):
    """Yield the items unchanged and show the progress of a task, such as "indexing"."""

    def __call__(self, items: Iterable[T], task: str, /) -> Iterable[T]: ...


def unwatched(items: Iterable[T], task: str, /) -> Iterable[T]:
    """Return the items; the `Watch` that shows no progress."""
    return items


class SearchClient(Protocol):
    """The client of a search server.

    Attributes:
        refused: the error of a refused first request (``auth``, ``not_found``); every later search fails with it.
        warning: a sentence about a setting that is probably wrong, judged by the searches so far; None if there is
        none.
    """

    refused: ModelError | None

    @property
    def warning(self) -> str | None: ...

    async def close(self) -> None:
        """Close the connections."""
        ...


async def _run_here(function: Callable[[], Awaitable[Any]]) -> Any:
    """Run a coroutine function on the current event loop."""
    return await function()


@dataclass(frozen=True, slots=True)
class Network:
    """The resources that a network retriever shares with the models of a session.

    Attributes:
        max_requests: maximum number of requests in flight, 1 or more.
        cassettes: the recordings; None records nothing.
        home: runs a coroutine function on the event loop of the connections.
        register: receives each client; the session closes it at its end.
    """

    max_requests: int = 16
    cassettes: Cassettes | None = None
    home: LoopRunner = _run_here
    register: Callable[[SearchClient], object] = lambda client: None


UNSHARED = Network()
"""The network for a retriever outside of a session."""


@dataclass(frozen=True, slots=True)
class RetrieverParts:
    """The inputs of a retriever factory.

    Attributes:
        passages: the corpus, with unique ids; empty without a corpus.
        params: the settings of ``rag_retriever_params``.
        digest: sha256 of the corpus in hexadecimal; "" if unknown.
        store: the store of indexes on disk; None if indexes stay in memory.
        folder: the base of relative paths in the settings.
        get: returns the factory of another retriever by its name, for a retriever that combines several.
        watch: wraps the passages of a long loop to show its progress.
        network: the resources of a network retriever.
    """

    passages: tuple[Passage, ...]
    params: Mapping[str, object] = field(default_factory=lambda: _NO_PARAMS)
    digest: str = ""
    store: IndexStore | None = None
    folder: Path = Path()
    get: Callable[[str], RetrieverFactory] | None = None
    watch: Watch = unwatched
    network: Network = UNSHARED

    @property
    def corpus_digest(self) -> str:
        """The digest of the corpus, computed from the passages if it is unknown; part of the key of every index."""
        return self.digest or digest_of(self.passages)


RetrieverFactory = Callable[[RetrieverParts], Retriever]
"""Builds a named retriever from its parts.

Without a corpus the session does not call the factory and has no retriever, unless the factory has the attribute
``needs_corpus = False``.
"""


def digest_of(passages: Iterable[Passage]) -> str:
    """Return the sha256 of the ids, pages, titles and texts of all passages in order, in hexadecimal."""
    digest = hashlib.sha256()
    for passage in passages:
        content = f"{passage.id}\0{passage.page}\0{passage.title}\0{passage.text}\0"
        digest.update(content.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
