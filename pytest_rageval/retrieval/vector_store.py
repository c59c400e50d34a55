"""Load the vectors of a corpus and their index from disk; build them if missing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError
from pytest_rageval.retrieval.build_context import RetrieverParts
from pytest_rageval.retrieval.embedding import DenseSettings, write_vectors
from pytest_rageval.retrieval.encoder import Encoder
from pytest_rageval.retrieval.index_store import IndexStore, StoredIndex, name_of, temporary
from pytest_rageval.retrieval.vectors import Searcher, VectorIndex, Vectors, recall_at_10

__all__ = ["LoadedVectors", "load_vectors"]


@dataclass(frozen=True, slots=True)
class LoadedVectors:
    """Loaded vectors and their index.

    Attributes:
        vectors: one per passage.
        searcher: the index of the vectors, or the vectors themselves.
        facts: settings and ``build_s load_s disk_bytes recall@10``.
    """

    vectors: Vectors
    searcher: Searcher
    facts: Mapping[str, object]


def load_vectors(
    parts: RetrieverParts, settings: DenseSettings, encoder: Encoder, index: VectorIndex | None
) -> LoadedVectors:
    """Return the vectors of the passages and their index; an ``index`` of None selects exact search.

    Raises:
        SettingError: the model returns an invalid vector for a passage.
        DataError: the files on disk are damaged, or belong to another model or corpus.
    """
    store, count = parts.store or IndexStore(temporary()), len(parts.passages)
    made_of: dict[str, object] = {
        "kind": "vectors",
        "corpus": parts.corpus_digest,
        "model": encoder.digest,
        "passage_prefix": settings.passage_prefix,
        "pooling": settings.pooling,
        "normalize": settings.normalize,
    }

    def write_embeddings(folder: Path) -> dict[str, object]:
        dimension = write_vectors(parts.watch(parts.passages, "embedding"), count, encoder, settings, folder)
        return {"model": settings.model, "dimension": dimension, "passages": count}

    entry = _checked_key(store.get(made_of, write_embeddings), made_of)
    start = time.perf_counter()
    vectors = Vectors.load(entry.folder, count)
    costs = {"build_s": entry.build_s, "load_s": time.perf_counter() - start, "disk_bytes": entry.disk_bytes}
    facts = {**asdict(settings), "index": "flat", "dimension": vectors.dimension, "passages": count}
    if index is None:
        return LoadedVectors(vectors, vectors, {**facts, **costs, "recall@10": 1.0})
    searcher, more = _open(store, made_of, vectors, index)
    costs = {name: seconds + more[name] for name, seconds in costs.items()}
    facts |= {"index": index.name, **index.built_with, **index.searched_with, **costs, "recall@10": more["recall@10"]}
    return LoadedVectors(vectors, searcher, facts)


def _open(
    store: IndexStore, made_of: Mapping[str, object], vectors: Vectors, index: VectorIndex
) -> tuple[Searcher, dict[str, Any]]:
    """Return the opened index of the vectors, with its times, size and recall; build it if missing."""

    def build(folder: Path) -> dict[str, object]:
        index.build(vectors, folder)
        return {"dimension": vectors.dimension, "passages": len(vectors)}

    key = {"kind": index.name, "vectors": name_of(made_of), **index.built_with, **index.versions}
    entry = _checked_key(store.get(key, build), key)
    start = time.perf_counter()
    searcher = index.open(entry.folder, len(vectors))
    costs = {"build_s": entry.build_s, "load_s": time.perf_counter() - start, "disk_bytes": entry.disk_bytes}
    recall = store.measured(entry, "recall", index.searched_with, lambda: recall_at_10(vectors, searcher))
    return searcher, {**costs, "recall@10": recall}


def _checked_key(entry: StoredIndex, made_of: Mapping[str, object]) -> StoredIndex:
    """Return the index if its key is ``made_of``, else raise: somebody may have renamed a folder."""
    key = json.loads(json.dumps(made_of))
    other = next((name for name in key if entry.made_of.get(name) != key[name]), None)
    if other is not None:
        raise DataError(str(entry.folder), f"is an index of another {other}; remove it to rebuild the index")
    return entry
