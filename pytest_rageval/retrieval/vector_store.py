"""The vectors of a corpus and their index, as they are kept on disk: made where they are not there, and opened."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError
from pytest_rageval.retrieval.build_context import RetrieverParts
from pytest_rageval.retrieval.embedding import DenseSettings, embedded
from pytest_rageval.retrieval.encoder import Encoder
from pytest_rageval.retrieval.index_store import IndexStore, StoredIndex, name_of, temporary
from pytest_rageval.retrieval.vectors import Searcher, VectorIndex, Vectors, recall_at_10

__all__ = ["KeptVectors", "kept_vectors"]


@dataclass(frozen=True, slots=True)
class KeptVectors:
    """Vectors and their index, open.

    Attributes:
        vectors: one a passage.
        searcher: the index of the vectors, or themselves.
        told: what there is to tell of them: settings, ``build_s load_s disk_bytes recall@10``.
    """

    vectors: Vectors
    searcher: Searcher
    told: Mapping[str, object]


def kept_vectors(
    parts: RetrieverParts, settings: DenseSettings, encoder: Encoder, index: VectorIndex | None
) -> KeptVectors:
    """Return the vectors of the passages and their index, None for the exact search.

    Raises:
        SettingError: the model gives a passage a vector that cannot be used.
        DataError: what is on disk is not as it was written, or of another model or corpus.
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

    def embed(folder: Path) -> dict[str, object]:
        dimension = embedded(parts.watch(parts.passages, "embedding"), count, encoder, settings, folder)
        return {"model": settings.model, "dimension": dimension, "passages": count}

    kept = _of(store.get(made_of, embed), made_of)
    start = time.perf_counter()
    vectors = Vectors.load(kept.folder, count)
    took = {"build_s": kept.build_s, "load_s": time.perf_counter() - start, "disk_bytes": kept.disk_bytes}
    told = {**asdict(settings), "index": "flat", "dimension": vectors.dimension, "passages": count}
    if index is None:
        return KeptVectors(vectors, vectors, {**told, **took, "recall@10": 1.0})
    searcher, more = _opened(store, made_of, vectors, index)
    took = {name: seconds + more[name] for name, seconds in took.items()}
    told |= {"index": index.name, **index.built_with, **index.searched_with, **took, "recall@10": more["recall@10"]}
    return KeptVectors(vectors, searcher, told)


def _opened(
    store: IndexStore, made_of: Mapping[str, object], vectors: Vectors, index: VectorIndex
) -> tuple[Searcher, dict[str, Any]]:
    """Return the index of the vectors, built where there is none, and what it took and finds."""

    def built(folder: Path) -> dict[str, object]:
        index.build(vectors, folder)
        return {"dimension": vectors.dimension, "passages": len(vectors)}

    made_by = {index.library: version(index.library)}
    made = {"kind": index.name, "vectors": name_of(made_of), **index.built_with, **made_by}
    kept = _of(store.get(made, built), made)
    start = time.perf_counter()
    searcher = index.open(kept.folder, len(vectors))
    took = {"build_s": kept.build_s, "load_s": time.perf_counter() - start, "disk_bytes": kept.disk_bytes}
    recall = store.measured(kept, "recall", index.searched_with, lambda: recall_at_10(vectors, searcher))
    return searcher, {**took, "recall@10": recall}


def _of(kept: StoredIndex, made_of: Mapping[str, object]) -> StoredIndex:
    """Return an index, which has to be made of what was asked for: a folder may have been renamed."""
    wanted = json.loads(json.dumps(made_of))
    other = next((name for name in wanted if kept.made_of.get(name) != wanted[name]), None)
    if other is not None:
        what = f"is an index of another {other} than is asked for; remove it, and it is built anew"
        raise DataError(str(kept.folder), what)
    return kept
