"""The scoring input ``closed_book``: the model's answer to the question alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_rageval.engine.answerers import SystemAnswerer
from pytest_rageval.engine.inputs.scoring_input import Context, ScoringInput
from pytest_rageval.engine.planned_calls import PlannedCall, PlannedTask
from pytest_rageval.systems.parts import SystemParts

if TYPE_CHECKING:
    from pytest_rageval.model.answer import Answer
    from pytest_rageval.systems.prompting import Prompts

__all__ = ["CLOSED_BOOK"]


async def _ask_ahead(context: Context) -> Answer | None:
    sources = context.sources
    if sources.llm is None:
        return None
    from pytest_rageval.systems.closed_book import build

    system = build(SystemParts(llm=sources.llm, prompts=sources.prompts))
    return await SystemAnswerer(system, "closed_book", sources.loop).ahead(context.task.case)


def _estimate(planned: PlannedTask, prompts: Prompts) -> Iterator[PlannedCall]:
    from pytest_rageval.systems.prompting import closed_book_messages

    if planned.model is not None:
        yield PlannedCall("closed book", planned.model, closed_book_messages(planned.task.case.query, prompts))


CLOSED_BOOK = ScoringInput(
    "closed_book",
    ask_ahead=_ask_ahead,
    needed_by=lambda metric: metric.closed_book,
    estimate=_estimate,
)
