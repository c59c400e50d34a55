"""Have a model inspect drafts: keep, mend or drop; a correction passes all checks again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pytest_rageval.errors import ModelError
from pytest_rageval.generation.model_drafts.access import ModelAccess
from pytest_rageval.generation.model_drafts.items import Item, WrongFieldsError, checked_item, item_json, read_item
from pytest_rageval.generation.model_drafts.jobs import Job
from pytest_rageval.generation.model_drafts.replies import read_correction, read_inspection
from pytest_rageval.generation.model_drafts.settings import ModelSettings
from pytest_rageval.judges.replies import UnreadableReplyError
from pytest_rageval.model.chat import Message

__all__ = ["DROPPED_BY_INSPECTION", "INSPECTION", "MODEL_ERROR", "Inspected", "inspect"]

T = TypeVar("T")

INSPECTION = "inspection"
"""The verdict of a draft that was inspected: the inspector, its verdicts and reasons, the question before."""

DROPPED_BY_INSPECTION = "inspection_drop"
UNREADABLE, STILL_WRONG, MODEL_ERROR = "inspection_unreadable", "inspection_still_mend", "model_error"

CORRECTIONS = 2
"""How often an item may be corrected."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """What came of an inspection.

    Attributes:
        item: the item: waiting if it is to be kept, else dropped.
        error: why a model gave no reply; None if all did.
    """

    item: Item
    error: ModelError | None = None


class _UnreadableError(ValueError):
    """Raised when a model's second reply cannot be read either."""


@dataclass(slots=True)
class _Inspection:
    """The inspection of one item of a job."""

    job: Job
    settings: ModelSettings
    access: ModelAccess
    history: list[dict[str, Any]]

    async def run(self, item: Item) -> Item:
        """Return the item as kept, corrected or dropped."""
        for corrections in range(CORRECTIONS + 1):
            messages = self._prompt("inspection", item)
            found = await self._read(self.settings.inspector, messages, read_inspection)
            self.history.append({"verdict": found.verdict} | ({"reason": found.reason} if found.reason else {}))
            if found.verdict == "keep":
                return item
            if found.verdict == "drop":
                return _dropped(item, DROPPED_BY_INSPECTION, found.reason)
            if corrections == CORRECTIONS:
                break
            values = found.item
            if self.settings.corrector:
                messages = self._prompt("correction", item, found.reason)
                values = await self._read(self.settings.corrector, messages, read_correction)
            if values is None:
                return _dropped(item, UNREADABLE, 'the verdict is "mend", and there is no corrected item')
            self.history[-1]["before"] = [each.question for each in item]
            try:
                corrected = read_item(values, self.job, self.settings.name)
            except WrongFieldsError as fault:
                return _dropped(item, "wrong_fields", f"the correction: {fault}")
            item = checked_item(corrected)
            if any(each.state == "dropped" for each in item):
                return item
        return _dropped(item, STILL_WRONG, f"{CORRECTIONS} corrections did not suffice")

    def _prompt(self, what: str, item: Item, problem: str = "") -> tuple[Message, ...]:
        prompts, job = self.settings.prompts, self.job
        values = item_json(item)
        if what == "correction":
            return prompts.correction(job.language, job.kind, job.topic, job.sources, values, problem)
        return prompts.inspection(job.language, job.kind, job.topic, job.sources, values)

    async def _read(self, model: str, messages: Sequence[Message], read: Callable[[str], T]) -> T:
        """Return what ``read`` makes of a reply; ask once more if it cannot be read."""
        client = self.access.client(model)
        reply = (await client.complete(messages)).text
        try:
            return read(reply)
        except UnreadableReplyError as fault:
            again = self.settings.prompts.again(self.job.language, messages, reply, str(fault))
        try:
            return read((await client.complete(again)).text)
        except UnreadableReplyError as fault:
            raise _UnreadableError(str(fault)) from None


async def inspect(item: Item, job: Job, settings: ModelSettings, access: ModelAccess) -> Inspected:
    """Return an item after its inspection: kept as it is, corrected, or dropped with its reason.

    The corrector corrects what the inspector wants mended; without one, the inspector's own correction counts. A
    correction passes all checks of a draft and is inspected again; after two corrections, the item is dropped. So is an
    item whose inspection cannot be read after one retry.
    """
    inspection, error = _Inspection(job, settings, access, []), None
    try:
        result = await inspection.run(item)
    except _UnreadableError as fault:
        result = _dropped(item, UNREADABLE, str(fault))
    except ModelError as fault:
        result, error = _dropped(item, MODEL_ERROR, f"{fault.kind}: {fault}"), fault
    record: Mapping[str, Any] = {"by": settings.inspector, "verdicts": inspection.history}
    return Inspected(tuple(replace(each, verdicts={**each.verdicts, INSPECTION: record}) for each in result), error)


def _dropped(item: Item, reason: str, detail: str) -> Item:
    return tuple(each.dropped(reason, detail) for each in item)
