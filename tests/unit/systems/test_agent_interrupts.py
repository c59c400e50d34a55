"""A tool that interrupts or exits ends its run with its exception; the event loop continues."""

from __future__ import annotations

import asyncio

import pytest

from pytest_rageval.environments.functions import environment_of
from pytest_rageval.model.case import Query
from pytest_rageval.systems.agents.run import AgentRun, run_agent
from pytest_rageval.testing import ScriptedLLM


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_or_exit_of_a_tool_ends_its_run_but_not_the_event_loop(raised: BaseException) -> None:
    def leave() -> str:
        """Leave."""
        raise raised

    async def play(run: AgentRun) -> str:
        return (await run.call("leave", {})).text

    async def main() -> BaseException | None:
        with environment_of("desk", leave, "here", None).open() as tools:
            run = AgentRun(Query("Who?", None, (), "en", ""), ScriptedLLM(""), tools)
            try:
                await run_agent(run, play, 5)
            except (KeyboardInterrupt, SystemExit) as error:
                await asyncio.sleep(0)
                return error
        return None

    assert asyncio.run(main()) is raised
