"""What a retriever is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever

if TYPE_CHECKING:
    from pytest_rageval.retrieval.store import IndexStore

__all__ = ["RetrieverFactory", "RetrieverParts"]

_NOTHING: Mapping[str, object] = MappingProxyType({})


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
    """

    passages: tuple[Passage, ...]
    params: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    digest: str = ""
    store: IndexStore | None = None
    folder: Path = Path()
    get: Callable[[str], RetrieverFactory] | None = None


RetrieverFactory = Callable[[RetrieverParts], Retriever]
"""What a retriever's name stands for: it makes the retriever of the session's parts.

Where there is no corpus it is not asked, and there is no retriever, unless it has an attribute ``needs_corpus`` that is
False.
"""
