"""What each topic and task still wants from a model, and the jobs that may give it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.model_drafts.chunks import Chunk
from pytest_rageval.generation.model_drafts.jobs import MODEL_TASKS, Job, jobs_of
from pytest_rageval.generation.plan import INTEGRATION, Plan

__all__ = ["CellJobs", "cell_jobs", "kept_of"]

A_CALL = 2
"""How many kept drafts a call is expected to give; a round asks for no more than it needs by this."""

MOST_CALLS = 3
"""A cell makes at most this many calls for each case that it wants."""


@dataclass(slots=True)
class CellJobs:
    """The jobs of a topic and a task.

    Attributes:
        topic: the topic.
        task: the task.
        jobs: all jobs, in the order in which they are asked.
        wanted: how many drafts the cell wants; None for all that there are.
        asked: how many jobs have been asked.
    """

    topic: str
    task: str
    jobs: Sequence[Job]
    wanted: int | None
    asked: int = 0

    def next(self, kept: int) -> Sequence[Job]:
        """Return the jobs of the next round, after which the cell has about what it wants; () if it needs no more."""
        if self.wanted is None:
            count = len(self.jobs)
        else:
            most = MOST_CALLS * self.wanted - self.asked
            count = min(ceil(max(self.wanted - kept, 0) / A_CALL), most)
        jobs = self.jobs[self.asked : self.asked + count]
        self.asked += len(jobs)
        return jobs


def cell_jobs(plan: Plan, chunks: Sequence[Chunk]) -> Iterator[CellJobs]:
    """Yield the jobs of each topic that chunks have and each task that a model drafts."""
    topics: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        topics.setdefault(chunk.topic, []).append(chunk)
    for topic, members in sorted(topics.items()):
        for task in MODEL_TASKS:
            if task in plan.tasks or not (plan.tasks or task == INTEGRATION):
                yield CellJobs(topic, task, jobs_of(members, task, plan.seed), plan.per_cell)


def kept_of(drafts: Iterable[Draft]) -> Counter[tuple[str, str]]:
    """Return how many drafts of each topic and task are not dropped."""
    return Counter((draft.topic, draft.task) for draft in drafts if draft.state != "dropped")
