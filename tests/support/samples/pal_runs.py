"""Runs of the agent ``pal`` with a scripted model and a real sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.functions import environment_of
from pytest_rageval.model.answer import Answer, Step
from pytest_rageval.model.case import Query
from pytest_rageval.model.current import CASE_IDS
from pytest_rageval.sandbox.protocol import Sandbox
from pytest_rageval.systems.agents.pal import build
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.systems.setup import SystemSetup
from pytest_rageval.testing import Completion, ScriptedLLM
from pytest_rageval.trace.collector import collecting

__all__ = ["PalRun", "Play", "block", "play"]

Play = Callable[..., "PalRun"]


@dataclass(frozen=True)
class PalRun:
    """The result of one case.

    Attributes:
        answer: the answer.
        steps: its trace.
        model: the scripted model, with its requests.
    """

    answer: Answer
    steps: Sequence[Step]
    model: ScriptedLLM

    @property
    def end(self) -> dict[str, Any]:
        return dict(self.steps[-1].detail)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [dict(step.detail) for step in self.steps if step.kind == kind]


def play(
    sandbox: Sandbox,
    *replies: str | Completion | BaseException,
    tools: Any,
    query: Query | None = None,
    case: str = "q1",
    **options: str,
) -> PalRun:
    """Run one case; the options are those of a line in ``rag_systems``."""
    model = ScriptedLLM(list(replies))
    environments = Environments({"desk": lambda: environment_of("desk", tools, "here", None)})
    setup = SystemSetup(options=ComponentOptions(options, "rag_systems: pal"))
    parts = SystemParts(llm=model, environments=environments, sandbox=lambda needed_by: sandbox, setup=setup)

    async def run() -> Answer:
        CASE_IDS.set((case,))
        answer = await build(parts)(query or Query("Who?", None, (), "en", ""))  # type: ignore[misc]
        assert isinstance(answer, Answer)
        return answer

    with collecting() as collector:
        answer = asyncio.run(run())
    return PalRun(answer, collector.steps(), model)


def block(code: str) -> str:
    """Return the reply of a model with this program."""
    return f"I compute it.\n\n```python\n{code}\n```\n\nThat is all."
