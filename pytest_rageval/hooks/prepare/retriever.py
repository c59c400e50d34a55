"""Build the retrievers of a session over its corpus, and share their indexes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.config.options import Options
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval import RetrieverFactory
from pytest_rageval.retrieval.adapt_retriever import adapted
from pytest_rageval.retrieval.index_store import IndexStore
from pytest_rageval.retrieval.retriever_parts import UNSHARED, Network, RetrieverParts, Watch

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.session import Collected
    from pytest_rageval.model.chat import EmbeddingModel


__all__ = ["build_retriever", "retriever_of_kind", "retriever_over", "store_in", "with_embedder"]


def retriever_over(corpus: Iterable[object] | None, collected: Collected) -> Retriever | None:
    """Return the session's retriever over a corpus.

    Return None without a corpus, unless the retriever of the ini needs no corpus.

    Raises:
        SettingError: an item of the corpus is not a passage.
    """
    if corpus is None and collected.needs_corpus:
        return None
    if collected.corpus.holds(corpus):
        return collected.corpus.retriever(partial(_build_session_retriever, collected))
    return _build_session_retriever(collected, _passages(corpus), "")


def retriever_of_kind(
    kind: str, params: Mapping[str, object], corpus: Iterable[object] | None, collected: Collected
) -> Retriever | None:
    """Return a retriever of any kind and parameters over a corpus; the session's retriever if they are equal.

    Return None without a corpus, unless the kind needs none.

    Args:
        kind: the name of a retriever, such as ``bm25``.
        params: its parameters.
        corpus: the passages, or None.
        collected: the session.
    """
    options = collected.options
    if kind == options.retriever and params in ({}, options.retriever_params):
        return retriever_over(corpus, collected)
    if corpus is None and getattr(collected.catalog.retrievers.get(kind), "needs_corpus", True):
        return None
    build = partial(_build_kind, collected, kind, params)
    if collected.corpus.holds(corpus):
        return collected.corpus.retriever(build, f"{kind} {sorted(params.items())}")
    return build(_passages(corpus), "")


def _build_kind(
    collected: Collected, kind: str, params: Mapping[str, object], passages: tuple[Passage, ...], digest: str
) -> Retriever:
    retrievers, folder = collected.catalog.retrievers, collected.options.ini_folder
    store, watch = store_in(collected.rootdir), collected.corpus.watch
    network = collected.models.network
    parts = RetrieverParts(passages, params, digest, store, folder, retrievers.get, watch, network)
    return adapted(retrievers.get(kind)(parts))


def _passages(corpus: Iterable[object] | None) -> tuple[Passage, ...]:
    """Return the passages of a fixture's corpus; raise `SettingError` for anything else."""
    passages: list[Passage] = []
    for passage in corpus or ():
        if not isinstance(passage, Passage):
            raise SettingError(f"rag_corpus holds {short_repr(passage)}; give a list of Passage(id=..., text=...)")
        passages.append(passage)
    return tuple(passages)


def _build_session_retriever(collected: Collected, passages: tuple[Passage, ...], digest: str) -> Retriever:
    retrievers, store = collected.catalog.retrievers, store_in(collected.rootdir)
    watch, network = collected.corpus.watch, collected.models.network
    return build_retriever(collected.options, retrievers, passages, digest, store, watch, network)


def with_embedder(retriever: Retriever | None, embedder: Callable[[], EmbeddingModel | None]) -> Retriever | None:
    """Return a retriever with the embedding model of its test, if it lacks one; any other unchanged."""
    if not getattr(retriever, "lacks_embedder", False):
        return retriever
    complete: Retriever = cast("Any", retriever).with_embedder(embedder())
    return complete


def store_in(rootdir: Path) -> IndexStore:
    """Return the store of a project's indexes, in ``.rageval/indexes``."""
    return IndexStore(rootdir / ".rageval" / "indexes")


def build_retriever(
    options: Options,
    retrievers: Registry[RetrieverFactory],
    passages: tuple[Passage, ...],
    digest: str,
    store: IndexStore,
    watch: Watch,
    network: Network = UNSHARED,
) -> Retriever:
    """Build the retriever of the ini over passages.

    Args:
        options: name and parameters of the retriever.
        retrievers: the registered retrievers.
        passages: the corpus.
        digest: sha256 of the corpus in hexadecimal; "" if unknown.
        store: the stored indexes.
        watch: shows the progress of indexing.
        network: what retrievers over the network share with the session's models.
    """
    params, folder = options.retriever_params, options.ini_folder
    parts = RetrieverParts(passages, params, digest, store, folder, retrievers.get, watch, network)
    return adapted(retrievers.get(options.retriever)(parts))
