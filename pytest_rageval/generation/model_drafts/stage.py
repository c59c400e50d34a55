"""The stage that asks models for drafts, in rounds until each cell has enough cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from pytest_rageval.errors import ModelError, SettingError
from pytest_rageval.generation.checks.stage import drop_duplicates, drop_with_dialogue
from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess, add_usage, run_all
from pytest_rageval.generation.model_drafts.cells import cell_jobs, count_kept
from pytest_rageval.generation.model_drafts.chunks import chunks_of
from pytest_rageval.generation.model_drafts.inspecting import inspect
from pytest_rageval.generation.model_drafts.items import Item, checked_item
from pytest_rageval.generation.model_drafts.job_results import JobResult, draft
from pytest_rageval.generation.model_drafts.jobs import Job
from pytest_rageval.generation.model_drafts.pairing import Pairing
from pytest_rageval.generation.model_drafts.settings import ModelSettings, model_settings
from pytest_rageval.model.calls import Calls

__all__ = ["add_drafts"]


def add_drafts(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Append checked and inspected drafts of the plan's model; append none without ``[model]``.

    Each round of calls asks for the cases that a cell still lacks. Replies are used in the order of the jobs, so the
    result does not depend on concurrency.

    Raises:
        SettingError: all calls failed.
    """
    settings = model_settings(material.plan)
    if settings is None or material.models is None:
        return list(drafts)
    chunks = chunks_of(material)
    material.wanted_topics.update(chunk.topic for chunk in chunks)
    pairing, cells = Pairing(chunks), list(cell_jobs(material.plan, chunks))
    drafting = _Drafting(material, settings, material.models, list(drafts))
    while True:
        n_kept = count_kept(drafting.drafts)
        jobs = [job for cell in cells for job in cell.next(n_kept[cell.topic, cell.task])]
        if not jobs or not drafting.round(pairing.with_partners(jobs)):
            break
    drafting.raise_if_all_failed()
    add_usage(material.usage, drafting.calls)
    return drafting.drafts


@dataclass(slots=True)
class _Drafting:
    """The state of drafting: the drafts so far, errors and calls."""

    material: Material
    settings: ModelSettings
    access: ModelAccess
    drafts: list[Draft]
    replies: int = 0
    errors: list[ModelError] = field(default_factory=list)
    calls: list[Calls] = field(default_factory=list)

    def round(self, jobs: Sequence[Job]) -> bool:
        """Ask for the drafts of jobs, check and inspect them; return False if all calls failed."""
        job_results = self._run_jobs(jobs)
        jobs_of_items = [each.job for each in job_results for _ in each.items]
        items = [checked_item(item) for each in job_results for item in each.items]
        items = self._without_duplicates(items)
        positions = [at for at, item in enumerate(items) if item[0].state == "waiting"]
        for at, item in zip(
            positions, self._inspect([(items[at], jobs_of_items[at]) for at in positions]), strict=True
        ):
            items[at] = item
        for item in self._without_duplicates(items):
            self.drafts += item
        return not job_results or any(each.error is None for each in job_results)

    def raise_if_all_failed(self) -> None:
        """Raise the first error if all calls failed."""
        if self.errors and not self.replies:
            problem = str(self.errors[0]).replace("--rag-budget-usd", "budget_usd in [model]")
            raise SettingError(f"[model]: no call had a reply: {problem}")

    def _run_jobs(self, jobs: Sequence[Job]) -> list[JobResult]:
        results = run_all(self.access, [partial(draft, job, self.settings, self.access) for job in jobs])
        self.calls += [calls for _, calls in results]
        for each, _ in results:
            self.material.left_out.update(each.left_out)
            if each.error is None:
                self.replies += 1
            else:
                self._record_failure(each.job, each.error)
        return [each for each, _ in results]

    def _inspect(self, items: Sequence[tuple[Item, Job]]) -> list[Item]:
        work = [partial(inspect, item, job, self.settings, self.access) for item, job in items]
        results = run_all(self.access, work)
        self.calls += [calls for _, calls in results]
        for (each, _), (_, job) in zip(results, items, strict=True):
            if each.error is not None:
                self._record_failure(job, each.error)
        return [each.item for each, _ in results]

    def _record_failure(self, job: Job, error: ModelError) -> None:
        self.errors.append(error)
        self.material.failures.setdefault((job.topic, job.task), Counter())[error.kind] += 1

    def _without_duplicates(self, items: Sequence[Item]) -> list[Item]:
        """Drop items that repeat the question of an earlier draft, conversations as a whole."""
        all_drafts = [each for item in items for each in item]
        deduplicated = drop_with_dialogue(drop_duplicates(drop_with_dialogue([*self.drafts, *all_drafts])))
        self.drafts, new_drafts = deduplicated[: len(self.drafts)], iter(deduplicated[len(self.drafts) :])
        return [tuple(next(new_drafts) for _ in item) for item in items]
