"""The inputs of a retriever factory: corpus, settings, index store, network."""

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

_NOTHING: Mapping[str, object] = MappingProxyType({})


class Watch(Protocol):
    """Yield the items unchanged and show the progress of the task ``doing``."""

    def __call__(self, items: Iterable[T], doing: str, /) -> Iterable[T]: ...


def unwatched(items: Iterable[T], doing: str, /) -> Iterable[T]:
    """Return the items; a `Watch` without output."""
    return items


class SearchClient(Protocol):
    """The client of a search server.

    Attributes:
        refused: the refusal of its first request (``auth``, ``not_found``); every later search fails with it.
        warning: what its searches show about its settings; None if nothing.
    """

    refused: ModelError | None

    @property
    def warning(self) -> str | None: ...

    async def close(self) -> None:
        """Close the connections."""
        ...


async def _here(make: Callable[[], Awaitable[Any]]) -> Any:
    return await make()


@dataclass(frozen=True, slots=True)
class Network:
    """What a retriever over the network shares with the models of a session.

    Attributes:
        most: maximum requests in flight, 1 or more.
        cassettes: the recordings; None records nothing.
        home: runs a coroutine function on the event loop that connections belong to.
        keep: takes each client, to close it at the end of the session.
    """

    most: int = 16
    cassettes: Cassettes | None = None
    home: LoopRunner = _here
    keep: Callable[[SearchClient], object] = lambda client: None


UNSHARED = Network()
"""The network of a retriever outside of a session."""


@dataclass(frozen=True, slots=True)
class RetrieverParts:
    """The inputs of a retriever factory.

    Attributes:
        passages: the corpus, with unique ids; empty without a corpus.
        params: the settings of ``rag_retriever_params``.
        digest: sha256 of the corpus in hexadecimal; "" if unknown.
        store: where indexes are stored; None keeps them in memory.
        folder: the base of relative paths in the settings.
        get: name -> factory of another retriever, for a retriever that combines several.
        watch: wraps a loop over many passages to show its progress.
        network: what a retriever over the network uses.
    """

    passages: tuple[Passage, ...]
    params: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    digest: str = ""
    store: IndexStore | None = None
    folder: Path = Path()
    get: Callable[[str], RetrieverFactory] | None = None
    watch: Watch = unwatched
    network: Network = UNSHARED

    @property
    def corpus_digest(self) -> str:
        """The digest, computed from the passages if unknown; part of the key of every index."""
        return self.digest or digest_of(self.passages)


RetrieverFactory = Callable[[RetrieverParts], Retriever]
"""Builds a named retriever from its parts.

Without a corpus the factory is not called and the session has no retriever, unless the factory has an attribute
``needs_corpus`` that is False.
"""


def digest_of(passages: Iterable[Passage]) -> str:
    """Return the sha256, in hexadecimal, of every passage's id, page, title and text, in order."""
    digest = hashlib.sha256()
    for passage in passages:
        content = f"{passage.id}\0{passage.page}\0{passage.title}\0{passage.text}\0"
        digest.update(content.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
