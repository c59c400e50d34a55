"""Let a model inspect drafts: keep, correct or drop; all checks run again on corrections."""

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

__all__ = ["DROPPED_BY_INSPECTION", "INSPECTION", "MODEL_ERROR", "InspectionResult", "inspect"]

T = TypeVar("T")

INSPECTION = "inspection"
"""The verdict of an inspected draft: the inspector, its verdicts and reasons, and earlier questions."""

DROPPED_BY_INSPECTION = "inspection_drop"
UNREADABLE, STILL_WRONG, MODEL_ERROR = "inspection_unreadable", "inspection_still_mend", "model_error"

MAX_CORRECTIONS = 2
"""Maximum number of corrections of an item."""


@dataclass(frozen=True, slots=True)
class InspectionResult:
    """The result of an inspection.

    Attributes:
        item: the item, waiting if the inspector keeps it, else dropped.
        error: why a model gave no reply; None if all did.
    """

    item: Item
    error: ModelError | None = None


class _UnreadableError(ValueError):
    """Raised when a model's reply is unreadable even after a retry."""


@dataclass(slots=True)
class _Inspection:
    """The inspection of one item of a job."""

    job: Job
    settings: ModelSettings
    access: ModelAccess
    history: list[dict[str, Any]]

    async def run(self, item: Item) -> Item:
        """Return the item as kept, corrected or dropped."""
        for corrections in range(MAX_CORRECTIONS + 1):
            messages = self._prompt("inspection", item)
            inspected = await self._read(self.settings.inspector, messages, read_inspection)
            self.history.append(
                {"verdict": inspected.verdict} | ({"reason": inspected.reason} if inspected.reason else {})
            )
            if inspected.verdict == "keep":
                return item
            if inspected.verdict == "drop":
                return _dropped(item, DROPPED_BY_INSPECTION, inspected.reason)
            if corrections == MAX_CORRECTIONS:
                break
            values = inspected.item
            if self.settings.corrector:
                messages = self._prompt("correction", item, inspected.reason)
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
        return _dropped(item, STILL_WRONG, f"{MAX_CORRECTIONS} corrections did not suffice")

    def _prompt(self, prompt_kind: str, item: Item, problem: str = "") -> tuple[Message, ...]:
        prompts, job = self.settings.prompts, self.job
        values = item_json(item)
        if prompt_kind == "correction":
            return prompts.correction(job.language, job.kind, job.topic, job.sources, values, problem)
        return prompts.inspection(job.language, job.kind, job.topic, job.sources, values)

    async def _read(self, model: str, messages: Sequence[Message], parse: Callable[[str], T]) -> T:
        """Parse the reply with ``parse``; ask once more if it is unreadable."""
        client = self.access.client(model)
        reply = (await client.complete(messages)).text
        try:
            return parse(reply)
        except UnreadableReplyError as fault:
            retry_messages = self.settings.prompts.again(self.job.language, messages, reply, str(fault))
        try:
            return parse((await client.complete(retry_messages)).text)
        except UnreadableReplyError as fault:
            raise _UnreadableError(str(fault)) from None


async def inspect(item: Item, job: Job, settings: ModelSettings, access: ModelAccess) -> InspectionResult:
    """Return an item after its inspection: unchanged, corrected, or dropped with a reason.

    The corrector writes the correction; without a corrector, the inspector's own correction counts. A correction must
    pass all checks of a draft and is inspected again. An item is dropped after two corrections without success, or if
    an inspection is unreadable even after a retry.
    """
    inspection, error = _Inspection(job, settings, access, []), None
    try:
        result = await inspection.run(item)
    except _UnreadableError as fault:
        result = _dropped(item, UNREADABLE, str(fault))
    except ModelError as fault:
        result, error = _dropped(item, MODEL_ERROR, f"{fault.kind}: {fault}"), fault
    record: Mapping[str, Any] = {"by": settings.inspector, "verdicts": inspection.history}
    return InspectionResult(
        tuple(replace(each, verdicts={**each.verdicts, INSPECTION: record}) for each in result), error
    )


def _dropped(item: Item, reason: str, detail: str) -> Item:
    return tuple(each.dropped(reason, detail) for each in item)
