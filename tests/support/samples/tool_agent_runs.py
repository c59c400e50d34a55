"""Run an agent that calls tools over a scripted model and functions, and read its trace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.functions import environment_of
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Query
from pytest_rageval.model.chat import ToolCall
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.systems.workflow import AnyWorkflow, PlannedRun
from pytest_rageval.testing import ScriptedLLM
from pytest_rageval.trace.collector import collecting
from pytest_rageval.trace.completing import complete_answer

__all__ = ["PAGES", "ToolAgentRun", "calls", "play", "search"]

PAGES = {"Orsay": "Orsay is a museum in Paris.", "Paris": "Paris is in France."}
QUERY = Query("Where is Orsay?")


def search(title: str) -> str:
    """Find a page."""
    return PAGES[title]


def calls(*tool_calls: tuple[str, str]) -> list[ToolCall]:
    """Return the calls of one reply, each a tool and its arguments."""
    return [ToolCall(f"call_{name}_{at}", name, arguments) for at, (name, arguments) in enumerate(tool_calls)]


@dataclass(frozen=True)
class ToolAgentRun:
    """The result of a run.

    Attributes:
        answer: with its whole trace.
        model: the scripted model, with its requests.
    """

    answer: Answer
    model: ScriptedLLM

    def steps(self, kind: str) -> list[dict[str, Any]]:
        """Return the details of the steps of a kind."""
        return [dict(step.detail) for step in self.answer.trace if step.kind == kind]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the steps."""
        return [step.kind for step in self.answer.trace]

    @property
    def end(self) -> str:
        """Why the run ended."""
        last: Step = self.answer.trace[-1]
        return str(last.detail["reason"])

    def results(self, request: int = -1) -> list[str]:
        """Return the contents of a request's tool messages."""
        messages = self.model.requests[request].messages
        return [message["content"] for message in messages if message["role"] == "tool"]


def play(
    workflow: AnyWorkflow, replies: Any, query: Query = QUERY, tools: object = search, **options: Any
) -> ToolAgentRun:
    """Run an agent on one query.

    Args:
        workflow: its declaration.
        replies: of the scripted model.
        query: the query.
        tools: functions, as in ``rag_environments``.
        options: as in ``rag_systems``.
    """
    model = ScriptedLLM(replies) if not isinstance(replies, ScriptedLLM) else replies
    parts = SystemParts(
        llm=model,
        environments=Environments({"desk": lambda: environment_of("desk", tools, "here")}),
        setup=SystemSetup("rag_systems: x", ComponentOptions(options, "rag_systems: x")),
    )
    system: Any = workflow(parts)
    with collecting() as collector:
        answer = asyncio.run(system(query))
    return ToolAgentRun(complete_answer(answer, collector), model)


def planned(workflow: AnyWorkflow, query: Query = QUERY, tools: object = search, **options: Any) -> PlannedRun:
    """Return the plan of an agent for one query, before it runs."""
    parts = SystemParts(
        environments=Environments({"desk": lambda: environment_of("desk", tools, "here")}),
        setup=SystemSetup("rag_systems: x", ComponentOptions(options, "rag_systems: x")),
    )
    assert workflow.plan is not None
    return workflow.plan(workflow.read(parts.setup), query, parts)


def names(steps: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of tool steps."""
    return [step["name"] for step in steps]
