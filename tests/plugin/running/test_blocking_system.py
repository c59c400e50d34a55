"""An ``async def`` system around a blocking client gets one hint, based on measured times."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, cases

SLOW = """
    import asyncio
    import time
    import pytest

    async def ask(query):
        await asyncio.sleep(0)
        WAIT
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return ask
"""
HINT = (
    "warning: system 'rag_system' is async but blocks its event loop for most of its time, so its answers do not "
    "overlap; await an async client, or use def and --rag-concurrency"
)


def test_a_system_that_blocks_gets_one_hint(project: Project) -> None:
    project.says(cases(*["say Paris"] * 20), conftest=SLOW.replace("WAIT", "time.sleep(0.06)"))
    run = project.run()
    assert run.status == 0
    assert run.prose.count(HINT) == 1


@pytest.mark.parametrize(
    ("wait", "options"),
    [("await asyncio.sleep(0.06)", []), ("time.sleep(0.06)", ["--rag-concurrency=1"]), ("time.sleep(0.001)", [])],
    ids=["awaits", "one at a time", "hardly"],
)
def test_other_systems_get_no_hint(project: Project, wait: str, options: list[str]) -> None:
    project.says(cases(*["say Paris"] * 20), conftest=SLOW.replace("WAIT", wait))
    assert "event loop" not in project.run(*options).text
