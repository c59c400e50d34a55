"""The retriever ``dense``: passages with vectors near the query's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from pytest_rageval.errors import MissingDependencyError, SettingError, short_repr
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.checks import check_corpus, check_query
from pytest_rageval.retrieval.embedding import DenseSettings, query_vector
from pytest_rageval.retrieval.encoder import POOLINGS, Encoder, SentenceEncoder
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.retriever_parts import RetrieverParts
from pytest_rageval.retrieval.vector_store import LoadedVectors, load_vectors
from pytest_rageval.retrieval.vectors import VectorIndex

__all__ = ["DenseRetriever", "build", "dense", "model_of"]

INDEXES = ("flat", "hnsw", "diskann")


def build(parts: RetrieverParts) -> Retriever:
    """Return dense retrieval over the passages; vectors and index are stored on disk.

    Settings: those of `DenseSettings`, ``batch_size`` (32), ``device`` (``cpu``; "" leaves the choice to torch),
    ``index`` (``flat``, ``hnsw`` or ``diskann``) and the settings of that index.

    Raises:
        SettingError: a setting is invalid, the model is missing, or the corpus is empty.
        MissingDependencyError: a library is not installed.
        DataError: the files on disk are damaged, or belong to another model or corpus.
    """
    params = Params(parts.params)
    model = model_of(params, parts.folder, "dense")
    settings = DenseSettings(
        params.text("model", ""),
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
    return dense(parts, settings, SentenceEncoder(model, settings.pooling, device, batch_size), index)


def dense(parts: RetrieverParts, settings: DenseSettings, encoder: Encoder, index: VectorIndex | None) -> Retriever:
    """Return dense retrieval with an encoder and an index; an ``index`` of None selects exact search.

    Raises:
        SettingError: the corpus is empty, an id is duplicate, or the model returns an invalid vector for a passage.
        DataError: the files on disk are damaged, or belong to another model or corpus.
    """
    check_corpus(parts.passages, "dense")
    return DenseRetriever(parts.passages, load_vectors(parts, settings, encoder, index), encoder, settings)


class DenseRetriever:
    """A `Retriever` of the passages with the largest inner product with the query's vector.

    Args:
        passages: the corpus.
        loaded_vectors: the vectors of the passages, in the same order, and their index.
        encoder: the encoder of passages and queries.
        settings: the settings of the vectors.
    """

    def __init__(
        self, passages: tuple[Passage, ...], loaded_vectors: LoadedVectors, encoder: Encoder, settings: DenseSettings
    ) -> None:
        self._passages = passages
        self._vectors, self._searcher, self._vector_facts = (
            loaded_vectors.vectors,
            loaded_vectors.searcher,
            loaded_vectors.facts,
        )
        self._encoder = encoder
        self._settings = settings
        self._searches = self._measure_at = 0
        self._resident: int | None = None

    @property
    def facts(self) -> dict[str, object]:
        """Settings, seconds to build and to load, bytes, and the recall of the index.

        ``build_s`` includes the embedding. ``resident_bytes`` counts the vectors and the index in memory.
        """
        if self._searches >= self._measure_at:
            parts = [part.resident_bytes() for part in {self._vectors, self._searcher}]
            self._resident = None if None in parts else sum(filter(None, parts))
            self._measure_at = 2 * self._searches + 1  # measuring takes milliseconds; facts are read after every test
        return {"retriever": "dense", **self._vector_facts, "resident_bytes": self._resident}

    def search(self, query: str, k: int) -> Ranking:
        """Return the ``k`` best passages, best first, ties in corpus order; all passages if there are fewer.

        Results of an approximate index are scored again with the exact vectors. If it finds fewer than ``k``, exact
        search takes over.

        Raises:
            SettingError: ``k`` is not positive.
            CaseError: the query is blank ("empty_query") or its vector is invalid ("bad_vector").
        """
        check_query(query, k)
        self._searches += 1
        prefix, normalize = self._settings.query_prefix, self._settings.normalize
        vector = query_vector(self._encoder, prefix + query, normalize, self._vectors.dimension)
        k = min(k, len(self._vectors))
        near = self._searcher.nearest(vector, k)
        if len(near) < k:
            near = self._vectors.nearest(vector, k)
        positions, scores = self._vectors.ranked(vector, near, k)
        return Ranking(tuple(map(self._with_score, positions.tolist(), scores.tolist())))

    def _with_score(self, position: int, score: float) -> ScoredPassage:
        passage = self._passages[position]
        return ScoredPassage(passage.id, score, passage.text, passage.title, passage.page, passage.span)


def model_of(params: Params, folder: Path, retriever: str) -> str:
    """Return the folder of the model, or its name on the hub; raise `SettingError` if it is missing."""
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
        raise SettingError(f"rag_retriever_params has model = {short_repr(name)}, but {folder} has no such folder")
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
