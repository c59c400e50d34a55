"""What a retriever is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar

from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever

if TYPE_CHECKING:
    from pytest_rageval.retrieval.index_store import IndexStore

__all__ = ["RetrieverFactory", "RetrieverParts", "Watch", "digest_of", "unwatched"]

T = TypeVar("T")

_NOTHING: Mapping[str, object] = MappingProxyType({})


class Watch(Protocol):
    """Shows how far a long work has come: yields the items as they are, and tells ``doing`` with their number."""

    def __call__(self, items: Iterable[T], doing: str, /) -> Iterable[T]: ...


def unwatched(items: Iterable[T], doing: str, /) -> Iterable[T]:
    """Return the items: a `Watch` that shows nothing."""
    return items


@dataclass(frozen=True, slots=True)
class RetrieverParts:
    """What a named retriever is made of.

    Attributes:
        passages: the corpus, with unique ids; empty where there is none.
        params: the settings of ``rag_retriever_params``.
        digest: sha256 of the corpus in hexadecimal; "" where it is not known.
        store: where indexes are kept; None keeps them in memory.
        folder: what paths in the settings are relative to.
        get: name -> factory of another retriever, for one that is made of several.
        watch: what a loop over many passages goes through, so that its progress is shown.
    """

    passages: tuple[Passage, ...]
    params: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    digest: str = ""
    store: IndexStore | None = None
    folder: Path = Path()
    get: Callable[[str], RetrieverFactory] | None = None
    watch: Watch = unwatched

    @property
    def corpus_digest(self) -> str:
        """The digest, made of the passages where it is not known; what an index is kept by."""
        return self.digest or digest_of(self.passages)


RetrieverFactory = Callable[[RetrieverParts], Retriever]
"""What a retriever's name stands for: it makes the retriever of the session's parts.

Where there is no corpus it is not asked, and there is no retriever, unless it has an attribute ``needs_corpus`` that is
False.
"""


def digest_of(passages: Iterable[Passage]) -> str:
    """Return the sha256, in hexadecimal, of all that a retriever reads of passages, in their order."""
    digest = hashlib.sha256()
    for passage in passages:
        told = f"{passage.id}\0{passage.page}\0{passage.title}\0{passage.text}\0"
        digest.update(told.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
