"""Build the jobs of a model: one call per chunk or pair of chunks, and task."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from pytest_rageval.generation.model_drafts.chunks import Chunk
from pytest_rageval.generation.plan import INTEGRATION
from pytest_rageval.model.case import Passage

__all__ = ["CALCULATED", "CHAINED", "MODEL_TASKS", "PAIRED", "Job", "jobs_of"]

MODEL_TASKS = ("extractive_qa", "multi_hop_qa", "contrast_qa", "long_form_qa", "conversational_qa", INTEGRATION)
"""The tasks that a model drafts; integration only if the plan names it."""

CALCULATED, CHAINED = "multi_hop_qa_calculation", "multi_hop_qa_chain"

PAIRED = (CHAINED, "contrast_qa", INTEGRATION)
"""The kinds whose questions need both passages of a pair."""

MAX_DISTANCE = 5
"""A chunk is paired with up to this many following chunks of its document."""


@dataclass(frozen=True, slots=True)
class Job:
    """One call for drafts.

    Attributes:
        kind: the name of the prompt: the task, ``multi_hop_qa_calculation`` or ``multi_hop_qa_chain``.
        task: the task.
        topic: the topic of its first chunk.
        language: ``en`` or ``zh``.
        sources: the chunk, or the pair.
        finds_partner: whether `Pairing` must still add the nearest chunk of another document.
    """

    kind: str
    task: str
    topic: str
    language: str
    sources: tuple[Passage, ...]
    finds_partner: bool = False

    @property
    def id(self) -> str:
        """The kind and the ids of its chunks."""
        partner = ["nearest"] if self.finds_partner else []
        return "\n".join([self.kind, *(source.id for source in self.sources), *partner])


def jobs_of(chunks: Sequence[Chunk], task: str, seed: int) -> list[Job]:
    """Return the jobs of a task over the chunks of one topic; the seed and the ids decide their order.

    The kinds of jobs of a task take turns, so a kind with many pairs does not crowd out the others. A chunk is paired
    with each of the next five of its document; for contrast and integration also with the nearest chunk of another
    document. Long answers and conversations also use the only chunk of a document, alone.
    """
    kinds = {
        "extractive_qa": [_single("extractive_qa", task, chunks)],
        "multi_hop_qa": [_single(CALCULATED, task, chunks), _pairs(CHAINED, task, chunks)],
        "contrast_qa": [_pairs(task, task, chunks), _with_nearest(task, task, chunks)],
        INTEGRATION: [_pairs(task, task, chunks), _with_nearest(task, task, chunks)],
    }
    pairs_or_single = [_pairs(task, task, chunks), _single(task, task, _only_chunks(chunks))]
    shuffled = [sorted(jobs, key=lambda job: _rank(seed, job.id)) for jobs in kinds.get(task, pairs_or_single)]
    return [job for job in chain.from_iterable(zip_longest(*shuffled)) if job is not None]


def _single(kind: str, task: str, chunks: Iterable[Chunk]) -> Iterator[Job]:
    for chunk in chunks:
        yield Job(kind, task, chunk.topic, chunk.language, (chunk.passage,))


def _with_nearest(kind: str, task: str, chunks: Iterable[Chunk]) -> Iterator[Job]:
    for chunk in chunks:
        yield Job(kind, task, chunk.topic, chunk.language, (chunk.passage,), finds_partner=True)


def _pairs(kind: str, task: str, chunks: Sequence[Chunk]) -> Iterator[Job]:
    """Yield a job for each chunk and each of the next chunks of its document."""
    for members in _by_document(chunks):
        for at, chunk in enumerate(members):
            for other in members[at + 1 : at + 1 + MAX_DISTANCE]:
                yield Job(kind, task, chunk.topic, chunk.language, (chunk.passage, other.passage))


def _only_chunks(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    return (members[0] for members in _by_document(chunks) if len(members) == 1)


def _by_document(chunks: Iterable[Chunk]) -> list[list[Chunk]]:
    documents: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        documents.setdefault(chunk.document, []).append(chunk)
    return list(documents.values())


def _rank(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()
