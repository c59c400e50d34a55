"""Estimate the calls, tokens and cost of a plan's models, for ``--dry-run``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.generation.material import Material
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.model_drafts.cells import DRAFTS_PER_CALL, cell_jobs
from pytest_rageval.generation.model_drafts.chunks import chunks_of
from pytest_rageval.generation.model_drafts.jobs import Job
from pytest_rageval.generation.model_drafts.pairing import Pairing
from pytest_rageval.generation.model_drafts.settings import ModelSettings, model_settings
from pytest_rageval.model.chat import Message

__all__ = ["calls_line", "model_lines"]

ASSUMED_ITEM = 150
"""Assumed tokens of an item, in a reply and in the request to inspect it."""

ASSUMED_INSPECTION = 60
"""Assumed tokens of an inspector's reply."""


@dataclass(slots=True)
class _Sums:
    prompt: int = 0
    completion: int = 0
    usd: float | None = 0.0
    recorded: int = 0

    def add(self, prompt: int, completion: int, usd: float | None) -> None:
        self.prompt, self.completion = self.prompt + prompt, self.completion + completion
        self.usd = None if self.usd is None or usd is None else self.usd + usd


def model_lines(material: Material) -> Iterator[str]:
    """Yield lines about the chunks with topics, the wanted drafts, and the calls with tokens and cost."""
    settings, access = model_settings(material.plan), material.models
    if settings is None or access is None or not material.corpus:
        return
    chunks = chunks_of(material)
    yield f"chunks with a topic: {len(chunks):,}, topics: {len({chunk.topic for chunk in chunks}):,}"
    cells = list(cell_jobs(material.plan, chunks))
    jobs = Pairing(chunks).with_partners([job for cell in cells for job in cell.next(0)])
    drafts = DRAFTS_PER_CALL * len(jobs)
    wanted = "all" if material.plan.per_cell is None else f"{material.plan.per_cell * len(cells):,}"
    cell = "cell" if len(cells) == 1 else "cells"
    yield f"drafts wanted: {wanted}, in {len(cells):,} {cell} of a topic and a task, less what rules draft"
    sums = _sums(jobs, settings, access)
    calls = f"about {len(jobs) + drafts:,} ({len(jobs):,} for drafts, {drafts:,} to inspect them)"
    recorded = f", {sums.recorded:,} of those for drafts are recorded" if sums.recorded else ""
    tokens = f"about {sums.prompt:,} in prompts and {sums.completion:,} in replies"
    yield f"calls: {calls}{recorded}, tokens: {tokens}, cost: {_cost(sums.usd)}"


def calls_line(name: str, what: str, requests: Sequence[Sequence[Message]], reply: int, access: ModelAccess) -> str:
    """Return the line about requests to one model, with tokens and cost; ``reply`` is the tokens of one reply."""
    from pytest_rageval.llm.backends.prices import Prices, count_tokens

    recorded = sum(access.replays(name, messages) for messages in requests)
    prompt, replies = sum(count_tokens(name, messages)[0] for messages in requests), reply * len(requests)
    cost = _cost(Prices(name, access.params).cost(prompt, replies))
    calls = f"calls: {len(requests):,} of {name} {what}" + (f", {recorded:,} are recorded" if recorded else "")
    return f"{calls}, tokens: about {prompt:,} in prompts and {replies:,} in replies, cost: {cost}"


def _cost(usd: float | None) -> str:
    return "unknown, the model has no price" if usd is None else f"about {usd:,.4f} USD" if usd else "0 USD"


def _sums(jobs: list[Job], settings: ModelSettings, access: ModelAccess) -> _Sums:
    """Return tokens and cost of one call for each job and of one inspection for each expected draft."""
    from pytest_rageval.llm.backends.prices import Prices, count_tokens

    sums = _Sums()
    drafter, inspector = (Prices(name, access.params) for name in (settings.name, settings.inspector))
    for job in jobs:
        messages = settings.prompts.draft(job.language, job.kind, job.topic, job.sources)
        if access.replays(settings.name, messages):
            sums.recorded += 1
        prompt, completion = count_tokens(settings.name, messages)[0], DRAFTS_PER_CALL * ASSUMED_ITEM
        sums.add(prompt, completion, drafter.cost(prompt, completion))
        request = settings.prompts.inspection(job.language, job.kind, job.topic, job.sources, {})
        prompt = count_tokens(settings.inspector, request)[0] + ASSUMED_ITEM
        for _ in range(DRAFTS_PER_CALL):
            sums.add(prompt, ASSUMED_INSPECTION, inspector.cost(prompt, ASSUMED_INSPECTION))
    return sums
