"""Dense retrieval: passages whose vectors are near the question's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from pytest_rageval.errors import MissingDependencyError, SettingError, found
from pytest_rageval.model.case import Passage
from pytest_rageval.model.protocols import Retriever
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.retrieval.build_context import RetrieverParts
from pytest_rageval.retrieval.checks import check_corpus, checked
from pytest_rageval.retrieval.embedding import DenseSettings, query_vector
from pytest_rageval.retrieval.encoder import POOLINGS, Encoder, SentenceEncoder
from pytest_rageval.retrieval.retriever_params import Params
from pytest_rageval.retrieval.vector_store import KeptVectors, kept_vectors
from pytest_rageval.retrieval.vectors import VectorIndex

__all__ = ["DenseRetriever", "build", "dense", "model_of"]

INDEXES = ("flat", "hnsw", "diskann")


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
    """Return dense retrieval with an encoder and an index, None for the exact search.

    Raises:
        SettingError: the corpus is empty or has an id twice, or the model gives a passage a vector that cannot be used.
        DataError: what is on disk is not as it was written, or of another model or corpus.
    """
    check_corpus(parts.passages, "dense")
    return DenseRetriever(parts.passages, kept_vectors(parts, settings, encoder, index), encoder, settings)


class DenseRetriever:
    """A `Retriever` of the passages whose vectors have the largest inner product with the question's.

    Args:
        passages: the corpus.
        kept: the vectors of its passages, in the same order, and their index.
        encoder: what made them.
        settings: what they were made with.
    """

    def __init__(
        self, passages: tuple[Passage, ...], kept: KeptVectors, encoder: Encoder, settings: DenseSettings
    ) -> None:
        self._passages = passages
        self._vectors, self._searcher, self._told = kept.vectors, kept.searcher, kept.told
        self._encoder = encoder
        self._settings = settings
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
        return ScoredPassage(passage.id, score, passage.text, passage.title, passage.page, passage.span)


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
