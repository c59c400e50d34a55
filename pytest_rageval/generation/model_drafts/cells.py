"""Plan the model calls of each topic and task until it has enough drafts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.model_drafts.chunks import Chunk
from pytest_rageval.generation.model_drafts.jobs import MODEL_TASKS, Job, jobs_of
from pytest_rageval.generation.plan import INTEGRATION, Plan

__all__ = ["CellJobs", "cell_jobs", "count_kept"]

DRAFTS_PER_CALL = 2
"""Expected number of kept drafts per call; it decides how many calls a round makes."""

MAX_CALLS_PER_CASE = 3
"""Maximum number of calls per wanted case of a cell."""


@dataclass(slots=True)
class CellJobs:
    """The jobs of a topic and a task.

    Attributes:
        topic: the topic.
        task: the task.
        jobs: all jobs, in the order of their calls.
        wanted: how many drafts the cell wants; None runs all jobs.
        n_started: how many jobs `next` has returned.
    """

    topic: str
    task: str
    jobs: Sequence[Job]
    wanted: int | None
    n_started: int = 0

    def next(self, kept: int) -> Sequence[Job]:
        """Return the jobs of the next round, about as many as the cell still needs; () if it needs none."""
        if self.wanted is None:
            count = len(self.jobs)
        else:
            max_count = MAX_CALLS_PER_CASE * self.wanted - self.n_started
            count = min(ceil(max(self.wanted - kept, 0) / DRAFTS_PER_CALL), max_count)
        jobs = self.jobs[self.n_started : self.n_started + count]
        self.n_started += len(jobs)
        return jobs


def cell_jobs(plan: Plan, chunks: Sequence[Chunk]) -> Iterator[CellJobs]:
    """Yield the jobs of each topic of the chunks and each task that a model drafts."""
    topics: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        topics.setdefault(chunk.topic, []).append(chunk)
    for topic, members in sorted(topics.items()):
        for task in MODEL_TASKS:
            if task in plan.tasks or not (plan.tasks or task == INTEGRATION):
                yield CellJobs(topic, task, jobs_of(members, task, plan.seed), plan.per_cell)


def count_kept(drafts: Iterable[Draft]) -> Counter[tuple[str, str]]:
    """Count the drafts of each topic and task that are not dropped."""
    return Counter((draft.topic, draft.task) for draft in drafts if draft.state != "dropped")
