"""Load the vectors of a corpus and their index from disk, or build them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError
from pytest_rageval.retrieval.embedding import DenseSettings, write_vectors
from pytest_rageval.retrieval.encoder import Encoder
from pytest_rageval.retrieval.index_store import IndexStore, StoredIndex, name_of, temporary_folder
from pytest_rageval.retrieval.retriever_parts import RetrieverParts
from pytest_rageval.retrieval.vectors import Searcher, VectorIndex, Vectors, recall_at_10

__all__ = ["LoadedVectors", "load_vectors"]


@dataclass(frozen=True, slots=True)
class LoadedVectors:
    """The vectors of a corpus and their index, loaded from disk.

    Attributes:
        vectors: one vector per passage.
        searcher: the opened index; the vectors themselves for exact search.
        facts: the settings, and ``build_s``, ``load_s``, ``disk_bytes`` and ``recall@10``.
    """

    vectors: Vectors
    searcher: Searcher
    facts: Mapping[str, object]


def load_vectors(
    parts: RetrieverParts, settings: DenseSettings, encoder: Encoder, index: VectorIndex | None
) -> LoadedVectors:
    """Return the vectors of the passages and their index; build what is missing.

    Args:
        parts: the passages, their digest and the index store.
        settings: the settings of the vectors.
        encoder: the model.
        index: the kind of index; None for exact search.

    Raises:
        SettingError: the model returns an invalid vector for a passage.
        DataError: the files on disk are damaged, or belong to another model or corpus.
    """
    store, count = parts.store or IndexStore(temporary_folder()), len(parts.passages)
    key: dict[str, object] = {
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

    entry = _checked_entry(store.get(key, write_embeddings), key)
    start = time.perf_counter()
    vectors = Vectors.load(entry.folder, count)
    costs = {"build_s": entry.build_s, "load_s": time.perf_counter() - start, "disk_bytes": entry.disk_bytes}
    facts = {**asdict(settings), "index": "flat", "dimension": vectors.dimension, "passages": count}
    if index is None:
        return LoadedVectors(vectors, vectors, {**facts, **costs, "recall@10": 1.0})
    searcher, index_facts = _open(store, key, vectors, index)
    costs = {name: cost + index_facts[name] for name, cost in costs.items()}
    facts |= {
        "index": index.name,
        **index.build_settings,
        **index.search_settings,
        **costs,
        "recall@10": index_facts["recall@10"],
    }
    return LoadedVectors(vectors, searcher, facts)


def _open(
    store: IndexStore, vectors_key: Mapping[str, object], vectors: Vectors, index: VectorIndex
) -> tuple[Searcher, dict[str, Any]]:
    """Return the opened index of the vectors, with its times, size and recall; build it if it is missing."""

    def build(folder: Path) -> dict[str, object]:
        index.build(vectors, folder)
        return {"dimension": vectors.dimension, "passages": len(vectors)}

    key = {"kind": index.name, "vectors": name_of(vectors_key), **index.build_settings, **index.versions}
    entry = _checked_entry(store.get(key, build), key)
    start = time.perf_counter()
    searcher = index.open(entry.folder, len(vectors))
    costs = {"build_s": entry.build_s, "load_s": time.perf_counter() - start, "disk_bytes": entry.disk_bytes}
    recall = store.measurement(entry, "recall", index.search_settings, lambda: recall_at_10(vectors, searcher))
    return searcher, {**costs, "recall@10": recall}


def _checked_entry(entry: StoredIndex, key: Mapping[str, object]) -> StoredIndex:
    """Return the index if it has this key, else raise a `DataError`: somebody may have renamed a folder."""
    json_key = json.loads(json.dumps(key))
    other = next((name for name in json_key if entry.key.get(name) != json_key[name]), None)
    if other is not None:
        raise DataError(str(entry.folder), f"is an index of another {other}; remove it to rebuild the index")
    return entry
