"""Agents of other libraries, 16 at once with scripted models: each answer has its own steps."""

from __future__ import annotations

from typing import Any

import pytest
from support.libraries import missing
from support.projects.rag_project import Project, case

COMMON = """
    import asyncio
    import pytest

    async def documents(query):
        await asyncio.sleep(0.02)
        return [{"id": f"hours#{query.split()[-1]}", "text": f"The museum opens at {query.split()[-1]}:00."}]
"""

PYDANTIC_AI = """
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    async def model(messages, info):
        question = messages[0].parts[-1].content
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("search", {"query": question})])
        return ModelResponse(parts=[TextPart(f"It opens at {question.split()[-1]}:00.")])

    Agent.instrument_all()
    desk = Agent(FunctionModel(model), name="desk")

    @desk.tool_plain
    async def search(query: str) -> list[dict]:
        return await documents(query)

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            return (await desk.run(query.question)).output
        return answer
"""

LANGGRAPH = """
    from langchain_core.documents import Document
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import tool
    from langgraph.prebuilt import create_react_agent
    {instrument}

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            question = next(each.content for each in messages if each.type == "human")
            if messages[-1].type == "human":
                calls = [{{"name": "search", "args": {{"query": question}}, "id": "c" + question.split()[-1]}}]
                message = AIMessage("", tool_calls=calls, usage_metadata={{"input_tokens": 10, "output_tokens": 5,
                    "total_tokens": 15}})
            else:
                message = AIMessage(f"It opens at {{question.split()[-1]}}:00.", usage_metadata={{"input_tokens": 20,
                    "output_tokens": 6, "total_tokens": 26}})
            return ChatResult(generations=[ChatGeneration(message=message)])

    class Index(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            raise NotImplementedError

        async def _aget_relevant_documents(self, query, *, run_manager):
            return [Document(each["text"], metadata={{"id": each["id"]}}) for each in await documents(query)]

    @tool
    async def search(query: str) -> str:
        "Search the handbook."
        return " ".join(each.page_content for each in await Index().ainvoke(query))

    graph = create_react_agent(Scripted(), [search])

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            config = {config}
            result = await graph.ainvoke({{"messages": [("user", query.question)]}}, config)
            return result["messages"][-1].content
        return answer
"""

OPENINFERENCE = """from openinference.instrumentation.langchain import LangChainInstrumentor
    LangChainInstrumentor().instrument()"""

TRACELOOP = """from opentelemetry.instrumentation.langchain import LangchainInstrumentor
    LangchainInstrumentor().instrument()"""

CALLBACKS = "from pytest_rageval import tracing"

AGENTS = """
    from agents import Agent, Runner, function_tool
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.tracing import generation_span, set_trace_processors
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    set_trace_processors([])  # nothing leaves this machine

    class Scripted(Model):
        async def get_response(self, system_instructions, input, *args, **kwargs):
            items = [{"role": "user", "content": input}] if isinstance(input, str) else input
            question = items[0]["content"]
            number = question.split()[-1]
            with generation_span(model="scripted") as span:
                await asyncio.sleep(0.01)
                if len(items) == 1:
                    reply = ResponseFunctionToolCall(arguments='{"query": "%s"}' % question, call_id="c" + number,
                        name="search", type="function_call")
                else:
                    text = ResponseOutputText(annotations=[], text=f"It opens at {number}:00.", type="output_text")
                    reply = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed",
                        type="message")
                span.span_data.usage = {"input_tokens": 10, "output_tokens": 5}
            return ModelResponse(output=[reply], usage=Usage(), response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    @function_tool
    async def search(query: str) -> str:
        import json
        return json.dumps(await documents(query))

    desk = Agent(name="desk", model=Scripted(), tools=[search])

    @pytest.fixture(scope="session")
    def rag_system():
        async def answer(query):
            return (await Runner.run(desk, query.question)).final_output
        return answer
"""

GRAPH = ("langgraph", "langchain_core")
CONFIG = "dict(callbacks=[tracing.langchain()])"
LIBRARIES: dict[str, tuple[tuple[str, ...], str, str, int]] = {
    "pydantic-ai": (("pydantic_ai", "opentelemetry.sdk"), PYDANTIC_AI, "rag_traces = otel", 0),
    "langgraph-openinference": (
        (*GRAPH, "openinference.instrumentation.langchain", "opentelemetry.sdk"),
        LANGGRAPH.format(instrument=OPENINFERENCE, config="None"), "rag_traces = otel", 1,
    ),
    "langgraph-traceloop": (
        (*GRAPH, "opentelemetry.instrumentation.langchain", "opentelemetry.sdk"),
        LANGGRAPH.format(instrument=TRACELOOP, config="None"), "rag_traces = otel", 1,
    ),
    "langgraph-callbacks": (GRAPH, LANGGRAPH.format(instrument=CALLBACKS, config=CONFIG), "", 1),
    "openai-agents": (("agents",), AGENTS, "", 0),
}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
def test_sixteen_agents_at_once_keep_their_own_steps(project: Project, library: str) -> None:
    packages, conftest, ini, retrievals = LIBRARIES[library]
    if missing(packages):
        pytest.skip(f"not installed: {', '.join(missing(packages))}")
    rows = [case(f"q{hour}", f"When does the museum open on day {hour}", f"{hour}:00") for hour in range(16)]
    project.says(rows, conftest=COMMON + conftest)
    project.file("pytest.ini", f"[pytest]\n{ini}\n")
    run = project.run("--rag-concurrency", "16", forked=True)
    assert run.status == 0, run.text
    assert len(run.outcomes) == 16
    for hour in range(16):
        answer: dict[str, Any] = run.outcomes[f"q{hour}"]["answer"]
        assert answer["text"] == f"It opens at {hour}:00."
        steps = [step for step in answer["trace"] if step["kind"] != "end"]
        kinds = [step["kind"] for step in steps]
        assert kinds == ["completion", "tool", *["retrieve"] * retrievals, "completion"]
        tool = steps[1]["detail"]
        assert (tool["name"], tool["arguments"]) == ("search", {"query": rows[hour]["question"]})
        assert f"opens at {hour}:00" in str(tool["result"])
        assert all(step["detail"]["parent"] == 1 for step in steps if step["kind"] == "retrieve")
        assert [each["doc_id"] for each in answer["ranking"]] == [f"hours#{hour}"]
        assert answer["usage"]["prompt_tokens"] > 0
    assert "trace:" not in run.text
