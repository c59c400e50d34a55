"""Ask a model for the drafts of a job, in one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_rageval.errors import ModelError
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.model_drafts.items import Item, WrongFieldsError, item_key, read_item
from pytest_rageval.generation.model_drafts.jobs import Job
from pytest_rageval.generation.model_drafts.replies import read_items
from pytest_rageval.generation.model_drafts.settings import ModelSettings
from pytest_rageval.judges.replies import UnreadableReplyError

__all__ = ["JobResult", "draft"]

MAX_ITEMS = 3
"""Maximum number of items that are read from a reply."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of one job.

    Attributes:
        job: the job.
        items: the parsed items; checks follow later.
        left_out: reason -> number of items or replies that were dropped.
        error: why there is no reply; None if there is one.
    """

    job: Job
    items: tuple[Item, ...] = ()
    left_out: Counter[str] = field(default_factory=Counter)
    error: ModelError | None = None


async def draft(job: Job, settings: ModelSettings, access: ModelAccess) -> JobResult:
    """Ask a model for the drafts of a job.

    Args:
        job: task, topic, language and sources of the drafts.
        settings: name and prompts of the model.
        access: the clients of the models, by name.
    """
    messages = settings.prompts.draft(job.language, job.kind, job.topic, job.sources)
    try:
        reply = await access.client(settings.name).complete(messages)
    except ModelError as error:
        return JobResult(job, error=error)
    try:
        parsed = read_items(reply.text, item_key(job.task))
    except UnreadableReplyError as fault:
        return JobResult(job, left_out=Counter({f"replies of {settings.name} unreadable: {fault}": 1}))
    left_out = Counter({f"items of {settings.name} unreadable": parsed.broken} if parsed.broken else {})
    results = [_item(values, job, settings.name) for values in parsed.items[:MAX_ITEMS]]
    items = [item for item in results if not isinstance(item, str)]
    left_out.update(f"items of {settings.name} with wrong_fields: {item}" for item in results if isinstance(item, str))
    if len(parsed.items) > MAX_ITEMS:
        left_out[f"items of {settings.name} beyond {MAX_ITEMS} in one reply"] += len(parsed.items) - MAX_ITEMS
    return JobResult(job, tuple(items), left_out)


def _item(values: Mapping[str, Any], job: Job, model: str) -> Item | str:
    """Return the parsed item, or the problem with its fields."""
    try:
        return read_item(values, job, model)
    except WrongFieldsError as fault:
        return str(fault)
