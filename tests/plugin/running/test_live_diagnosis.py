"""Agents in plain Python, pydantic-ai and LangGraph: answers of the types EM, AM, GE, RE."""

from __future__ import annotations

from typing import Any

import pytest
from support.libraries import missing
from support.projects.rag_project import Mode, Project, Row, case

PAGES = """
    import asyncio
    import pytest
    from pytest_rageval import tracing

    PAGES = {"museum": "The museum opens at 9:00.", "library": "The library opens at 8:30.", "tower": "It is closed."}
    SAYS = {"museum": "9:00", "palace": "9:30", "library": "10:00", "tower": "11:00"}

    def topic_of(question):
        return question.split()[-2]

    def page_of(question):
        return PAGES.get(topic_of(question), "No such page.")

    def reply_to(question):
        return f"It opens at {SAYS[topic_of(question)]}."
"""

SYNC = """
    @tracing.tool
    def search(topic):
        with tracing.retrieve(topic) as retrieval:
            retrieval.passages = [{"id": topic, "text": PAGES[topic]}] if topic in PAGES else []
        return PAGES.get(topic, "No such page.")

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            search(topic_of(query.question))
            return reply_to(query.question)
        return answer
"""

IN_THREADS = """
    @tracing.tool
    def search(topic):
        return PAGES.get(topic, "No such page.")

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            await asyncio.to_thread(search, topic_of(query.question))
            return reply_to(query.question)
        return answer
"""

PYDANTIC_AI = """
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    async def model(messages, info):
        question = messages[0].parts[-1].content
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("search", {"query": question})])
        return ModelResponse(parts=[TextPart(reply_to(question))])

    Agent.instrument_all()
    desk = Agent(FunctionModel(model), name="desk")

    @desk.tool_plain
    async def search(query: str) -> str:
        return page_of(query)

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            return (await desk.run(query.question)).output
        return answer
"""

LANGGRAPH = """
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from langgraph.prebuilt import create_react_agent

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            question = next(each.content for each in messages if each.type == "human")
            if messages[-1].type == "human":
                message = AIMessage("", tool_calls=[{"name": "search", "args": {"query": question}, "id": "c1"}])
            else:
                message = AIMessage(reply_to(question))
            return ChatResult(generations=[ChatGeneration(message=message)])

    @tool
    async def search(query: str) -> str:
        "Search the handbook."
        return page_of(query)

    graph = create_react_agent(Scripted(), [search])

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            config = {"callbacks": [tracing.langchain()]}
            result = await graph.ainvoke({"messages": [("user", query.question)]}, config)
            return result["messages"][-1].content
        return answer
"""

AGENTS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "sync": ((), SYNC, ""),
    "async-threads": ((), IN_THREADS, ""),
    "pydantic-ai": (("pydantic_ai", "opentelemetry.sdk"), PYDANTIC_AI, "rag_traces = otel"),
    "langgraph": (("langgraph", "langchain_core"), LANGGRAPH, ""),
}

KINDS = {"EM": ("museum", "9:00"), "AM": ("palace", "9:30"), "GE": ("library", "8:30"), "RE": ("tower", "12:00")}
"""Type of an answer -> a topic and its gold answer."""


def rows() -> list[Row]:
    """Return four cases of each type."""
    return [
        case(f"{kind}-{day}", f"When on day {day} opens the {topic} ?", gold)
        for kind, (topic, gold) in KINDS.items()
        for day in range(4)
    ]


@pytest.mark.parametrize("agent", AGENTS)
def test_four_answers_of_each_type_are_diagnosed_with_that_type(project: Project, agent: str) -> None:
    packages, conftest, ini = AGENTS[agent]
    if missing(packages):
        pytest.skip(f"not installed: {', '.join(missing(packages))}")
    gates = [f"diagnosis:{kind} {sign} 0.25" for kind in KINDS for sign in (">=", "<=")]
    gates += ["diagnosis:TE <= 0.05", "tool_calls <= 1", "tool_calls >= 1"]
    project.says(rows(), f"gates={gates!r}", conftest=PAGES + conftest)
    project.file("pytest.ini", f"[pytest]\n{ini}\n")
    run = project.run("--rag-concurrency", "16", forked=True)
    assert run.status == 0, run.text
    types = {name: outcome["diagnosis"]["type"] for name, outcome in run.outcomes.items()}
    assert types == {name: name.split("-")[0] for name in types}
    assert len(types) == 16
    tools = [[step for step in each["answer"]["trace"] if step["kind"] == "tool"] for each in run.outcomes.values()]
    assert [len(calls) for calls in tools] == [1] * 16


WORKFLOWS = """
    import pytest
    from pytest_rageval import tracing

    @tracing.tool
    def search(question):
        raise TimeoutError("no reply")

    def fails(query):
        for _ in range(3):
            try:
                search(query.question)
            except TimeoutError:
                pass
        tracing.end("step_limit")
        return ""

    @tracing.tool
    def read(question):
        return "Paris is the capital."

    def reads(query):
        read(query.question)
        return "Paris"

    def silent(query):
        return "Paris"
"""


def workflows(project: Project, *names: str) -> None:
    project.says([case(f"q{at}") for at in range(4)], conftest="")
    project.file("agents.py", WORKFLOWS)
    lines = "".join(f"\n    {name}: agents:{name}" for name in names)
    project.file("pytest.ini", f"[pytest]\npythonpath = .\nrag_systems ={lines}\n")


def system_options(*names: str) -> list[str]:
    return [text for name in names for text in ("--rag-system", name)]


def gate_option(expression: str) -> tuple[str, str]:
    return "--rag-gate", expression


def test_gates_on_a_type_of_one_workflow(project: Project, mode: Mode) -> None:
    workflows(project, "fails", "reads")
    expressions = [f"diagnosis:TE[workflow={name}] <= 0.1" for name in ("fails", "reads", "*")]
    arguments = [text for each in expressions for text in gate_option(each)]
    run = project.run(*system_options("fails", "reads"), *arguments, "--junitxml=junit.xml", *mode)
    assert run.status == 1
    results: dict[str, Any] = {name: (each["status"], each["value"], each["n"]) for name, each in run.gates.items()}
    assert results == {
        expressions[0]: ("failed", 1.0, 4),
        expressions[1]: ("passed", 0.0, 4),
        expressions[2]: ("failed", 1.0, 4),
    }
    junit = (project.path / "junit.xml").read_text(encoding="utf-8")
    assert "1.00 &gt; 0.10 (n 4)" in junit


def test_a_gate_on_a_workflow_without_traces_does_not_pass(project: Project) -> None:
    workflows(project, "reads", "silent")
    expressions = [
        "diagnosis:TE[workflow=*] <= 0.1",
        "diagnosis:TE[workflow=silent] <= 0.1",
        "tool_calls[workflow=*] <= 3",
    ]
    run = project.run(*system_options("reads", "silent"), *[text for each in expressions for text in gate_option(each)])
    assert run.status == 1
    assert {name: each["status"] for name, each in run.gates.items()} == dict.fromkeys(expressions, "failed")
