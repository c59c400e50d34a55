"""The system ``closed_book``: ask a model without passages, to measure its own knowledge."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ChatModel
from pytest_rageval.model.protocols import System
from pytest_rageval.systems.llm import answer_of, model_of
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.prompting import Prompts, closed_book_messages, load_prompts
from pytest_rageval.systems.workflow import PlannedRun, Workflow, no_options

__all__ = ["CLOSED_BOOK", "ClosedBook", "build"]


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Asks a model the question of a query, without passages."""

    model: ChatModel
    prompts: Prompts

    async def __call__(self, query: Query) -> Answer:
        return answer_of(await self.model.complete(closed_book_messages(query, self.prompts)))


def build(parts: SystemParts, options: None = None) -> System:
    """Return the closed-book system of the session's model; raise `SettingError` without a model."""
    return ClosedBook(model_of(parts, "closed_book"), parts.prompts or load_prompts())


def _plan(options: None, query: Query, parts: SystemParts) -> PlannedRun:
    return PlannedRun(closed_book_messages(query, parts.prompts or load_prompts()), 1, exact=True, documents=0)


CLOSED_BOOK = Workflow(no_options, build, _plan, retrieves=False)
