"""The vectors of texts that metrics compare: many cases' texts are embedded in one call."""

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

Found = dict[str, Sequence[float]]

WAIT_S = 0.005
"""How long a call waits for the texts of other cases."""

MOST = 128
"""From how many texts on a call takes no further case's."""

KEPT = 2048
"""Texts whose vectors are remembered, those wanted last: references come again with every system and repetition."""

_OF_A_TEXT = ("bad_request", "context_length", "content_filter")
"""Why a call may fail for one of its texts alone."""


class Vectors:
    """Asks an embedding model for the vectors of texts, on the session's loop.

    What cases want within a few milliseconds is one call, and a text in it once; the first of them is charged.
    Where calls are recorded each text is a call of its own, so that it is found again whatever else is wanted then.

    Args:
        model: the embedding model.
        together: whether the texts of several cases may be one call.
        told: is told which model gave the vectors: its name, and its revision where it has one.
    """

    def __init__(self, model: EmbeddingModel, *, together: bool, told: MutableMapping[str, str]) -> None:
        self._model = model
        self._together = together
        self._told = told
        self._kept: OrderedDict[str, Sequence[float]] = OrderedDict()
        self._open: _Batch | None = None
        self._under_way: dict[str, _Batch] = {}

    async def __call__(self, texts: Iterable[str]) -> Found:
        """Return the vector of each distinct text.

        Raises `ModelError` where a call gives none, and `CaseError` for vectors of several lengths; what else the model
        raises goes through.
        """
        wanted = dict.fromkeys(texts)
        found: Found = {}
        if not self._together:
            for text in wanted:
                found |= await self._asked([text])
        else:
            found = {text: self._kept[text] for text in wanted if text in self._kept}
            for text in found:
                self._kept.move_to_end(text)
            found |= await self._awaited([text for text in wanted if text not in found])
        if len({len(vector) for vector in found.values()}) > 1:
            raise CaseError("embedder_error", "the embedding model gave vectors of several lengths")
        return found

    async def _awaited(self, texts: Sequence[str]) -> Found:
        from asyncio import shield

        batches = list(dict.fromkeys(self._batch(text) for text in texts))
        found: Found = {}
        try:
            for batch in batches:
                given = await shield(batch.task)
                found |= {text: given[text] for text in texts if text in given}
        except ModelError as error:
            if error.kind not in _OF_A_TEXT or all(set(batch.texts) <= set(texts) for batch in batches):
                raise
            return await self._asked(texts)
        return found

    def _batch(self, text: str) -> _Batch:
        """Return the call that asks for a text: one under way, or the one that gathers texts now."""
        from asyncio import create_task

        batch = self._under_way.get(text)
        if batch is None:
            batch = self._open
            if batch is None or len(batch.texts) >= MOST:
                batch = self._open = _Batch()
                batch.task = create_task(self._send(batch))
                batch.task.add_done_callback(lambda task: task.cancelled() or task.exception())
            batch.texts.append(text)
            self._under_way[text] = batch
        return batch

    async def _send(self, batch: _Batch) -> Found:
        from asyncio import sleep

        try:
            await sleep(WAIT_S)
            if self._open is batch:
                self._open = None
            return await self._asked(batch.texts)
        finally:
            for text in batch.texts:
                del self._under_way[text]

    async def _asked(self, texts: Sequence[str]) -> Found:
        reply = await self._model.embed(texts)
        revision = getattr(self._model, "revision", None)
        self._told["embedder"] = reply.model or str(getattr(self._model, "name", ""))
        if revision:
            self._told["embedder_revision"] = str(revision)
        found: Found = {text: array("d", vector) for text, vector in zip(texts, reply.vectors, strict=True)}
        if self._together:
            self._kept.update(found)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found


class _Batch:
    """A call for the texts of several cases."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.task: Task[Mapping[str, Sequence[float]]]
