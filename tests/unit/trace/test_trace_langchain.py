"""The callback handler for LangChain, in real runs of langchain-core."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="langchain-core is not installed")

from langchain_core.callbacks import CallbackManagerForLLMRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from pytest_rageval import tracing
from pytest_rageval.model.answer import Step
from pytest_rageval.trace.collector import collecting


class Index(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if query == "raise":
            raise ConnectionError("no index")
        return [Document("Open from 9:00.", metadata={"id": "hours#1", "score": 2.5})]


class Scripted(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        calls = [{"name": "search", "args": {"query": "hours"}, "id": "c1"}]
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        message = AIMessage("Let me see.", tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def search(query: str) -> str:
    """Search the handbook."""
    return " ".join(each.page_content for each in Index().invoke(query))


@tool(response_format="content_and_artifact")
def fetch(query: str) -> tuple[str, list[Document]]:
    """Return a text and its documents."""
    return "found", Index().invoke(query)


def run(runnable: Any, value: Any) -> tuple[Step, ...]:
    with collecting() as collector:
        runnable.invoke(value, {"callbacks": [tracing.langchain()]})
    return collector.steps()


def test_the_parent_of_a_search_in_a_tool_is_the_tool_even_through_a_chain() -> None:
    trace = run(RunnableLambda(lambda query: search.invoke({"query": query})) | RunnableLambda(str), "hours")
    outer, inner = trace
    assert (outer.kind, outer.detail["name"], outer.detail["arguments"]) == ("tool", "search", {"query": "hours"})
    assert outer.detail["result"] == "Open from 9:00."
    assert (inner.kind, inner.detail["parent"], inner.detail["query"]) == ("retrieve", 0, "hours")
    assert inner.detail["passages"] == [{"id": "hours#1", "text": "Open from 9:00.", "score": 2.5}]
    assert all(step.detail["seconds"] >= 0 for step in trace)


def test_a_model_call_has_prompt_text_tool_calls_and_tokens() -> None:
    (step,) = run(Scripted(), "When?")
    assert step.kind == "completion"
    assert step.detail["prompt"] == [{"role": "human", "content": "When?"}]
    assert (step.detail["text"], step.detail["prompt_tokens"], step.detail["completion_tokens"]) == (
        "Let me see.",
        10,
        5,
    )
    assert step.detail["tool_calls"] == [{"id": "c1", "name": "search", "arguments": {"query": "hours"}}]


def test_documents_next_to_a_tools_text_are_its_passages() -> None:
    trace = run(fetch, {"name": "fetch", "args": {"query": "hours"}, "id": "c7", "type": "tool_call"})
    assert trace[0].detail["passages"] == [{"id": "hours#1", "text": "Open from 9:00.", "score": 2.5}]
    assert trace[0].detail["call_id"] == "c7"


def test_a_failed_step_has_an_error_that_begins_with_its_class() -> None:
    with collecting() as collector, pytest.raises(ConnectionError):
        search.invoke({"query": "raise"}, {"callbacks": [tracing.langchain()]})
    assert [step.detail["error"] for step in collector.steps()] == ["ConnectionError: no index"] * 2


def test_outside_a_case_the_handler_records_nothing() -> None:
    assert search.invoke({"query": "hours"}, {"callbacks": [tracing.langchain()]}) == "Open from 9:00."


def test_one_handler_serves_sixteen_cases_at_once() -> None:
    handler = tracing.langchain()

    async def case(number: int) -> tuple[Step, ...]:
        with collecting() as collector:
            await Index().ainvoke(str(number), {"callbacks": [handler]})
        return collector.steps()

    async def cases() -> list[tuple[Step, ...]]:
        return await asyncio.gather(*map(case, range(16)))

    assert [[step.detail["query"] for step in steps] for steps in asyncio.run(cases())] == [[str(n)] for n in range(16)]
