"""Dense retrieval: passages whose vectors are near the question's."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from pytest_rageval.errors import DataError, MissingDependencyError, SettingError, found
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.asked import checked
from pytest_rageval.retrieval.embedding import embedded, query_vector
from pytest_rageval.retrieval.encoder import POOLINGS, Encoder, SentenceEncoder
from pytest_rageval.retrieval.params import Params
from pytest_rageval.retrieval.parts import RetrieverParts
from pytest_rageval.retrieval.store import IndexStore, StoredIndex, name_of
from pytest_rageval.retrieval.vectors import Searcher, VectorIndex, Vectors, recall_at_10

__all__ = ["DenseRetriever", "DenseSettings", "build", "dense", "model_of"]

INDEXES = ("flat", "hnsw", "diskann")


@dataclass(frozen=True, slots=True)
class DenseSettings:
    """What the vectors depend on beside the model.

    Attributes:
        model: its folder or name.
        query_prefix: what stands before a question; e5 wants ``query: ``.
        passage_prefix: what stands before a passage's title and text; e5 wants ``passage: ``.
        pooling: how the vectors of tokens become one.
        normalize: whether vectors are made as long as 1, so that their product is their cosine.
    """

    model: str
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "model"
    normalize: bool = True


def build(parts: RetrieverParts) -> Retriever:
    """Return dense retrieval over the passages, their vectors and index kept on disk.

    Its settings are those of `DenseSettings`, ``batch_size`` (32), ``device`` (``cpu``; "" leaves it to torch),
    ``index`` (``flat``, ``hnsw`` or ``diskann``) and those of the index.

    Raises:
        SettingError: a setting cannot be used, the model is not there, or the corpus is empty.
        MissingDependencyError: a library is not installed.
        DataError: what is on disk is not as it was written, or of another model or corpus.
    """
    params = Params(parts.params)
    settings = DenseSettings(
        model_of(params, parts.folder, "dense"),
        params.text("query_prefix", ""),
        params.text("passage_prefix", ""),
        params.choice("pooling", "model", POOLINGS),
        params.flag("normalize", True),
    )
    batch_size, device = params.whole("batch_size", 32), params.text("device", "cpu")
    index = _index(params)
    params.finish()
    if find_spec("sentence_transformers") is None:
        raise MissingDependencyError("the retriever 'dense'", "dense")
    return dense(parts, settings, SentenceEncoder(settings.model, settings.pooling, device, batch_size), index)


def dense(parts: RetrieverParts, settings: DenseSettings, encoder: Encoder, index: VectorIndex | None) -> Retriever:
    """Return dense retrieval with an encoder and an index, None for the exact search.

    Raises:
        SettingError: the corpus is empty, or the model gives a passage a vector that cannot be used.
        DataError: what is on disk is not as it was written, or of another model or corpus.
    """
    if not parts.passages:
        raise SettingError("the corpus of the dense retriever is empty; give it at least one passage")
    store = parts.store or _temporary()
    prefix, normalize = settings.passage_prefix, settings.normalize
    made_of: dict[str, object] = {
        "kind": "vectors",
        "corpus": parts.corpus_digest,
        "model": encoder.digest,
        "passage_prefix": prefix,
        "pooling": settings.pooling,
        "normalize": normalize,
    }

    def embed(folder: Path) -> dict[str, object]:
        passages = parts.watch(parts.passages, "embedding")
        dimension = embedded(passages, len(parts.passages), encoder, prefix, normalize, folder)
        return {"model": settings.model, "dimension": dimension, "passages": len(parts.passages)}

    kept = _of(store.get(made_of, embed), made_of)
    start = time.perf_counter()
    vectors = Vectors.load(kept.folder, len(parts.passages))
    took = {"build_s": kept.build_s, "load_s": time.perf_counter() - start, "disk_bytes": kept.disk_bytes}
    told = {**asdict(settings), "index": "flat", "dimension": vectors.dimension, "passages": len(vectors)}
    if index is None:
        told |= {**took, "recall@10": 1.0}
        return DenseRetriever(parts.passages, vectors, vectors, encoder, settings, told)
    searcher, more = _opened(store, made_of, vectors, index)
    took = {name: seconds + more[name] for name, seconds in took.items()}
    told |= {"index": index.name, **index.built_with, **index.searched_with, **took, "recall@10": more["recall@10"]}
    return DenseRetriever(parts.passages, vectors, searcher, encoder, settings, told)


class DenseRetriever:
    """A `Retriever` of the passages whose vectors have the largest inner product with the question's.

    Args:
        passages: the corpus.
        vectors: of its passages, in the same order.
        searcher: the index of the vectors, or themselves.
        encoder: what made them.
        settings: what they were made with.
        told: what there is to tell of it.
    """

    def __init__(
        self,
        passages: tuple[Passage, ...],
        vectors: Vectors,
        searcher: Searcher,
        encoder: Encoder,
        settings: DenseSettings,
        told: Mapping[str, object],
    ) -> None:
        self._passages = passages
        self._vectors = vectors
        self._encoder = encoder
        self._settings = settings
        self._searcher = searcher
        self._told = told
        self._searches = self._measure_at = 0
        self._resident: int | None = None

    @property
    def facts(self) -> dict[str, object]:
        """What there is to tell of it: settings, seconds to build and to load, bytes, and the recall of its index.

        ``build_s`` has the embedding in it, ``resident_bytes`` what is in memory of vectors and index.
        """
        if self._searches >= self._measure_at:
            parts = [part.resident_bytes() for part in {self._vectors, self._searcher}]
            self._resident = None if None in parts else sum(filter(None, parts))
            self._measure_at = 2 * self._searches + 1  # it takes milliseconds, and facts are read after every test
        return {"retriever": "dense", **self._told, "resident_bytes": self._resident}

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages, best first, ties in corpus order; all of them where there are no more.

        What an approximate index finds is scored with the exact vectors; where it finds fewer, all are searched.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query"), or the model gives it a vector that cannot be used.
        """
        checked(query, k)
        self._searches += 1
        prefix, normalize = self._settings.query_prefix, self._settings.normalize
        vector = query_vector(self._encoder, prefix + query, normalize, self._vectors.dimension)
        k = min(k, len(self._vectors))
        near = self._searcher.nearest(vector, k)
        if len(near) < k:
            near = self._vectors.nearest(vector, k)
        positions, scores = self._vectors.ranked(vector, near, k)
        return Ranking(tuple(map(self._scored, positions.tolist(), scores.tolist())))

    def _scored(self, position: int, score: float) -> ScoredPassage:
        passage = self._passages[position]
        return ScoredPassage(passage.id, score, passage.text, passage.title, passage.page)


def _opened(
    store: IndexStore, made_of: Mapping[str, object], vectors: Vectors, index: VectorIndex
) -> tuple[Searcher, dict[str, float]]:
    """Return the index of the vectors, built where there is none, and what it took and finds."""

    def built(folder: Path) -> dict[str, object]:
        index.build(vectors, folder)
        return {"dimension": vectors.dimension, "passages": len(vectors)}

    made = {"kind": index.name, "vectors": name_of(made_of), **index.built_with}
    kept = _of(store.get(made, built), made)
    start = time.perf_counter()
    searcher = index.open(kept.folder, len(vectors))
    took = {"build_s": kept.build_s, "load_s": time.perf_counter() - start, "disk_bytes": kept.disk_bytes}
    measured = {"kind": "recall", "index": name_of(made), **index.searched_with}
    facts = store.get(measured, lambda folder: {"recall@10": recall_at_10(vectors, searcher)}).facts
    return searcher, {**took, "recall@10": facts["recall@10"]}


def _of(kept: StoredIndex, made_of: Mapping[str, object]) -> StoredIndex:
    """Return an index, which has to be made of what was asked for: a folder may have been renamed."""
    wanted = json.loads(json.dumps(made_of))
    other = next((name for name in wanted if kept.made_of.get(name) != wanted[name]), None)
    if other is not None:
        what = f"is an index of another {other} than is asked for; remove it, and it is built anew"
        raise DataError(str(kept.folder), what)
    return kept


def model_of(params: Params, folder: Path, retriever: str) -> str:
    """Return where the model of the settings is, or its name on the hub; none is a `SettingError`."""
    name = params.text("model", "")
    if not name:
        raise SettingError(
            f"the retriever {retriever!r} needs a model; write 'model = FOLDER or NAME' in rag_retriever_params, "
            "for instance 'model = intfloat/e5-base-v2'"
        )
    path = folder / Path(name).expanduser()
    if path.is_dir():
        return str(path)
    if name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name:
        raise SettingError(f"rag_retriever_params has model = {found(name)}, and there is no such folder in {folder}")
    return name


def _index(params: Params) -> VectorIndex | None:
    kind = params.choice("index", "flat", INDEXES)
    if kind == "hnsw":
        from pytest_rageval.retrieval.hnsw import Hnsw

        return Hnsw.of(params)
    if kind == "diskann":
        from pytest_rageval.retrieval.diskann import DiskAnn

        return DiskAnn.of(params)
    return None


def _temporary() -> IndexStore:
    folder = Path(tempfile.mkdtemp(prefix="rageval-indexes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return IndexStore(folder)
