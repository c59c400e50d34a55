"""A project with a small agent, registered in its conftest as a user's plugin would be: a `Workflow` with a plan."""

from __future__ import annotations

from collections.abc import Sequence

import pytest_rageval.systems.agents.run
import pytest_rageval.systems.workflow  # noqa: F401 - pytester removes what a run imports first
from support.projects.rag_project import Project, Row

AGENT = '''
    from pytest_rageval.systems.agents.options import read_agent_options
    from pytest_rageval.systems.agents.run import AgentRun, RunEnded, run_agent
    from pytest_rageval.systems.embedded.turn import Turn
    from pytest_rageval.systems.llm import model_of
    from pytest_rageval.systems.workflow import PlannedRun, Workflow

    def read(setup):
        options = read_agent_options(setup)
        setup.options.finish()
        return options

    def first(query):
        """Return the messages of the first call: earlier turns, and the question after its documents."""
        history = [text for turn in query.history for text in (turn.question, turn.answer)]
        documents = [each.text for each in query.passages or ()]
        return ({"role": "user", "content": "\\n".join([*history, *documents, query.question])},)

    def plan(options, query, parts):
        return PlannedRun(first(query), options.max_steps, exact=options.max_steps == 1)

    def build(parts, options):
        """Answer with the model's reply that is not "Search[...]"; search and ask again for any other."""
        model = model_of(parts, "seeker")

        async def answer(query):
            environment = parts.environments.of_case(options.environment)
            with environment.open(options.max_observation) as tools:
                run = AgentRun(query, model, tools)

                async def play(run):
                    messages = list(first(query))
                    for step in range(options.max_steps):
                        reply = await run.ask(messages, Turn("react", query.question, uses=tuple(run.uses)))
                        name, bracket, argument = reply.text.partition("[")
                        if not bracket:
                            return reply.text
                        observation = await run.call(name, {"title": argument.partition("]")[0]})
                        messages += [
                            {"role": "assistant", "content": reply.text}, {"role": "user", "content": observation.text}
                        ]
                    raise RunEnded("step_limit")

                return await run_agent(run, play, options.max_time)

        return answer

    SEEKER = Workflow(read, build, plan, uses_environments=True)

    def pytest_rageval_register(registry):
        registry.systems.register("seeker", SEEKER)
'''
"""A conftest with the system ``seeker``: it calls the tool Search until the model replies without a bracket."""

PAGES: list[Row] = [
    {"id": "Algiers", "title": "Algiers", "text": "Algiers is a film of 1938."},
    {"id": "Paris", "title": "Paris", "text": "Paris is a city."},
]


def seeker_project(project: Project, rows: Sequence[Row], test: str, *ini: str, more: str = "") -> None:
    """Make a project whose agent ``seeker`` has the pages as its wiki.

    Args:
        project: an empty project.
        rows: its cases.
        test: the test file; it reads cases.jsonl.
        ini: further lines of the ini.
        more: the rest of the conftest.
    """
    project.data(rows)
    project.data(PAGES, "pages.jsonl")
    project.file("conftest.py", AGENT + more)
    project.file("test_it.py", test)
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_corpus = pages.jsonl", *ini]))
