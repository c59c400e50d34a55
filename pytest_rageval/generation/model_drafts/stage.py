"""The stage that asks models for drafts: rounds of calls until each cell has what it wants."""

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
from pytest_rageval.generation.model_drafts.cells import cell_jobs, kept_of
from pytest_rageval.generation.model_drafts.chunks import chunks_of
from pytest_rageval.generation.model_drafts.drafting import Drafted, draft
from pytest_rageval.generation.model_drafts.inspecting import inspect
from pytest_rageval.generation.model_drafts.items import Item, checked_item
from pytest_rageval.generation.model_drafts.jobs import Job
from pytest_rageval.generation.model_drafts.pairing import Pairing
from pytest_rageval.generation.model_drafts.settings import ModelSettings, model_settings
from pytest_rageval.model.calls import Calls

__all__ = ["add_drafts"]


def add_drafts(material: Material, drafts: Sequence[Draft]) -> list[Draft]:
    """Return the drafts and behind them those of the plan's model, checked and inspected; none without ``[model]``.

    A cell asks for what the earlier drafts leave it short of: a round of calls, then another one for what is still
    missing. Replies are used in the order of the jobs, so the result does not depend on how many calls run at once.

    Raises:
        SettingError: no call had a reply.
    """
    settings = model_settings(material.plan)
    if settings is None or material.models is None:
        return list(drafts)
    chunks = chunks_of(material)
    material.wanted_topics.update(chunk.topic for chunk in chunks)
    pairing, cells = Pairing(chunks), list(cell_jobs(material.plan, chunks))
    drafting = _Drafting(material, settings, material.models, list(drafts))
    while True:
        kept = kept_of(drafting.drafts)
        jobs = [job for cell in cells for job in cell.next(kept[cell.topic, cell.task])]
        if not jobs or not drafting.round(pairing.completed(jobs)):
            break
    drafting.raise_if_all_failed()
    add_usage(material.usage, drafting.calls)
    return drafting.drafts


@dataclass(slots=True)
class _Drafting:
    """The drafts of a plan while models are asked."""

    material: Material
    settings: ModelSettings
    access: ModelAccess
    drafts: list[Draft]
    replies: int = 0
    errors: list[ModelError] = field(default_factory=list)
    calls: list[Calls] = field(default_factory=list)

    def round(self, jobs: Sequence[Job]) -> bool:
        """Ask for the drafts of jobs, check and inspect them; return False if calls were made and all failed."""
        drafted = self._drafted(jobs)
        asked = [each.job for each in drafted for _ in each.items]
        items = [checked_item(item) for each in drafted for item in each.items]
        items = self._without_duplicates(items)
        places = [at for at, item in enumerate(items) if item[0].state == "waiting"]
        for at, inspected in zip(places, self._inspected([(items[at], asked[at]) for at in places]), strict=True):
            items[at] = inspected
        for item in self._without_duplicates(items):
            self.drafts += item
        return not drafted or any(each.error is None for each in drafted)

    def raise_if_all_failed(self) -> None:
        """Raise the first error if no call had a reply."""
        if self.errors and not self.replies:
            problem = str(self.errors[0]).replace("--rag-budget-usd", "budget_usd in [model]")
            raise SettingError(f"[model]: no call had a reply: {problem}")

    def _drafted(self, jobs: Sequence[Job]) -> list[Drafted]:
        results = run_all(self.access, [partial(draft, job, self.settings, self.access) for job in jobs])
        self.calls += [calls for _, calls in results]
        for each, _ in results:
            self.material.left_out.update(each.left_out)
            if each.error is None:
                self.replies += 1
            else:
                self._fail(each.job, each.error)
        return [each for each, _ in results]

    def _inspected(self, items: Sequence[tuple[Item, Job]]) -> list[Item]:
        work = [partial(inspect, item, job, self.settings, self.access) for item, job in items]
        results = run_all(self.access, work)
        self.calls += [calls for _, calls in results]
        for (each, _), (_, job) in zip(results, items, strict=True):
            if each.error is not None:
                self._fail(job, each.error)
        return [each.item for each, _ in results]

    def _fail(self, job: Job, error: ModelError) -> None:
        self.errors.append(error)
        self.material.failures.setdefault((job.topic, job.task), Counter())[error.kind] += 1

    def _without_duplicates(self, items: Sequence[Item]) -> list[Item]:
        """Return the items; one that asks what an earlier draft asks is dropped, a conversation as a whole."""
        flat = [each for item in items for each in item]
        decided = drop_with_dialogue(drop_duplicates(drop_with_dialogue([*self.drafts, *flat])))
        self.drafts, rest = decided[: len(self.drafts)], iter(decided[len(self.drafts) :])
        return [tuple(next(rest) for _ in item) for item in items]
