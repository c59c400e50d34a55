"""Embed the texts of metrics; one call embeds texts of several cases."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING

from pytest_rageval.errors import CaseError, ModelError

if TYPE_CHECKING:
    from asyncio import Task

    from pytest_rageval.model.chat import EmbeddingModel

__all__ = ["Vectors"]

VectorByText = dict[str, Sequence[float]]

WAIT_S = 0.005
"""Seconds that a call waits for the texts of other cases."""

MAX_TEXTS = 128
"""Maximum number of texts in one call."""

CACHE_SIZE = 2048
"""Size of the cache of vectors in texts, the last used ones: systems and repeats embed the same references again."""

_TEXT_ERROR_KINDS = ("bad_request", "context_length", "content_filter")
"""Kinds of errors that a single text may cause for its whole call."""


class Vectors:
    """Asks an embedding model for the vectors of texts, on the session's loop.

    Texts that cases need within a few milliseconds share one call, each text once; the first case is charged.
    If calls are recorded, each text has a separate call: its recording must not depend on other texts.

    Args:
        model: the embedding model.
        together: whether one call may embed the texts of several cases.
        versions: receives the name of the model that gave the vectors, and its revision, if any.
    """

    def __init__(self, model: EmbeddingModel, *, together: bool, versions: MutableMapping[str, str]) -> None:
        self._model = model
        self._together = together
        self._versions = versions
        self._cache: OrderedDict[str, Sequence[float]] = OrderedDict()
        self._open_batch: _Batch | None = None
        self._in_flight: dict[str, _Batch] = {}

    async def __call__(self, texts: Iterable[str]) -> VectorByText:
        """Return the vector of each distinct text.

        Raise `ModelError` if a call fails, and `CaseError` if the vectors have several lengths. Other exceptions of the
        model propagate.
        """
        distinct = dict.fromkeys(texts)
        vectors: VectorByText = {}
        if not self._together:
            for text in distinct:
                vectors |= await self._ask([text])
        else:
            vectors = {text: self._cache[text] for text in distinct if text in self._cache}
            for text in vectors:
                self._cache.move_to_end(text)
            vectors |= await self._await_batches([text for text in distinct if text not in vectors])
        if len({len(vector) for vector in vectors.values()}) > 1:
            raise CaseError("embedder_error", "the embedding model gave vectors of several lengths")
        return vectors

    async def _await_batches(self, texts: Sequence[str]) -> VectorByText:
        from asyncio import shield

        batches = list(dict.fromkeys(self._batch(text) for text in texts))
        vectors: VectorByText = {}
        try:
            for batch in batches:
                result = await shield(batch.task)
                vectors |= {text: result[text] for text in texts if text in result}
        except ModelError as error:
            if error.kind not in _TEXT_ERROR_KINDS or all(set(batch.texts) <= set(texts) for batch in batches):
                raise
            return await self._ask(texts)
        return vectors

    def _batch(self, text: str) -> _Batch:
        """Return the call for a text: one in flight, or the one that gathers texts now."""
        from asyncio import create_task

        batch = self._in_flight.get(text)
        if batch is None:
            batch = self._open_batch
            if batch is None or len(batch.texts) >= MAX_TEXTS:
                batch = self._open_batch = _Batch()
                batch.task = create_task(self._send(batch))
                batch.task.add_done_callback(lambda task: task.cancelled() or task.exception())
            batch.texts.append(text)
            self._in_flight[text] = batch
        return batch

    async def _send(self, batch: _Batch) -> VectorByText:
        from asyncio import sleep

        try:
            await sleep(WAIT_S)
            if self._open_batch is batch:
                self._open_batch = None
            return await self._ask(batch.texts)
        finally:
            for text in batch.texts:
                del self._in_flight[text]

    async def _ask(self, texts: Sequence[str]) -> VectorByText:
        reply = await self._model.embed(texts)
        revision = getattr(self._model, "revision", None)
        self._versions["embedder"] = reply.model or str(getattr(self._model, "name", ""))
        if revision:
            self._versions["embedder_revision"] = str(revision)
        vectors: VectorByText = {text: array("d", vector) for text, vector in zip(texts, reply.vectors, strict=True)}
        if self._together:
            self._cache.update(vectors)
            while len(self._cache) > CACHE_SIZE:
                self._cache.popitem(last=False)
        return vectors


class _Batch:
    """A call for the texts of several cases."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.task: Task[Mapping[str, Sequence[float]]]
