"""Run real systems and answers of LangChain and LlamaIndex, unchanged."""

from __future__ import annotations

import asyncio
import warnings
from operator import itemgetter
from typing import Any
from unittest.mock import Mock

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from pytest_rageval.errors import SystemContractError
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.ranking import ScoredPassage
from pytest_rageval.systems.adapters import adapt_system
from pytest_rageval.systems.calling import is_async, system_name, to_answer

QUERY = Query("When?", (Passage("p0", "At nine."), Passage("p1", "Or ten.")), (Turn("Who?", "We."),))
PAGES = [Document("At nine.", id="d1"), Document("Or ten.", id="d2")]


def answered(value: object, query: Query = QUERY) -> Answer:
    system: Any = adapt_system(value)
    reply = system(query)
    return to_answer(asyncio.run(reply) if is_async(system) else reply, system_name(system))


@pytest.fixture(scope="module")
def llama() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import llama_index.core.query_engine
        import llama_index.core.schema

        return llama_index.core


def echo() -> Any:
    """A model that repeats its prompt."""

    def say(prompt: Any) -> AIMessage:
        reply = " | ".join(f"{message.type}: {message.content}" for message in prompt.to_messages())
        return AIMessage(reply, usage_metadata={"input_tokens": 7, "output_tokens": 3, "total_tokens": 10})

    return RunnableLambda(say)


def test_a_runnable_gets_the_question() -> None:
    assert answered(RunnableLambda(lambda question: f"{question} Now.")) == Answer("When? Now.")
    assert answered(FakeListChatModel(responses=["at nine"])).text == "at nine"


@pytest.mark.parametrize("key", ["question", "query", "input"])
def test_a_chain_gets_the_question_under_its_input_key(key: str) -> None:
    chain = ChatPromptTemplate.from_template("Q {" + key + "}") | echo() | StrOutputParser()
    assert answered(chain) == Answer("human: Q When?")


def test_a_chain_gets_passages_and_history_for_its_variables() -> None:
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Use {context}"), MessagesPlaceholder("chat_history"), ("human", "{question}")]
    )
    answer = answered(prompt | echo())
    assert answer.text == "system: Use At nine.\n\nOr ten. | human: Who? | ai: We. | human: When?"
    assert answer.usage == Usage(7, 3)


def test_a_chain_with_sources_gives_a_ranking_and_its_usage() -> None:
    retrieve = itemgetter("input") | RunnableLambda(lambda question: PAGES)
    prompt = ChatPromptTemplate.from_template("{context} {input}")
    chain = RunnablePassthrough.assign(context=retrieve).assign(answer=prompt | echo())
    answer = answered(chain)
    assert answer.ranking is not None
    assert answer.ranking.items == (ScoredPassage("d1", None, "At nine."), ScoredPassage("d2", None, "Or ten."))
    assert answer.usage == Usage(7, 3)


def test_a_dict_input_has_the_question_under_each_known_key() -> None:
    def say(inputs: dict[str, str]) -> str:
        return inputs["input"]

    assert answered(RunnableLambda(say)).text == "When?"
    assign = RunnablePassthrough.assign(context=RunnableLambda(lambda inputs: PAGES))
    assert answered(assign | RunnableLambda(lambda values: values["question"])).text == "When?"
    inputs: Any = {"context": RunnableLambda(lambda question: PAGES), "question": RunnablePassthrough()}
    assert answered(inputs | RunnableLambda(lambda values: values["question"])).text == "When?"


@pytest.mark.parametrize(("text", "sources"), [("result", "source_documents"), ("answer", "context")])
def test_a_chains_dict_gives_answer_and_ranking(text: str, sources: str) -> None:
    answer = to_answer({"query": "When?", text: "At nine.", sources: PAGES}, "chain")
    assert (answer.text, answer.ranking and answer.ranking.doc_ids) == ("At nine.", ("d1", "d2"))


def test_context_as_text_gives_no_ranking() -> None:
    assert to_answer({"answer": "At nine.", "context": "At nine. Or ten."}, "chain") == Answer("At nine.")


def test_sources_without_passages_are_refused() -> None:
    with pytest.raises(SystemContractError, match=r"^source_documents of rag_system 'chain' returned 3 at place 1; "):
        to_answer({"answer": "x", "source_documents": [3]}, "chain")


def test_an_agents_messages_end_with_its_answer() -> None:
    def state(messages: list[Any]) -> Any:
        return {"messages": messages}

    count: Any = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}
    before = [HumanMessage("Who?"), AIMessage("We.", usage_metadata=count), HumanMessage("When?")]
    steps = [
        AIMessage("", usage_metadata=count),
        AIMessage([{"type": "text", "text": "At nine."}], usage_metadata=count),
    ]
    assert to_answer(state(before + steps), "agent") == Answer("At nine.", usage=Usage(4, 2))
    assert to_answer(state([HumanMessage("When?"), AIMessage("At nine.")]), "agent") == Answer("At nine.")
    with pytest.raises(SystemContractError, match="returned dict"):
        to_answer(state(before), "agent")


def test_a_runnable_is_awaited_unless_it_is_a_sync_function() -> None:
    async def say(question: str) -> str:
        await asyncio.sleep(0)
        return f"{question} Now."

    assert is_async(adapt_system(RunnableLambda(say)))
    assert answered(RunnableLambda(say)).text == "When? Now."
    assert is_async(adapt_system(ChatPromptTemplate.from_template("{input}") | FakeListChatModel(responses=["a"])))
    assert not is_async(adapt_system(RunnableLambda(lambda question: question)))


def test_a_query_engine_answers_with_its_sources(llama: Any) -> None:
    node = llama.schema.NodeWithScore(node=llama.schema.TextNode(id_="n1", text="At nine."), score=0.75)

    class Engine(llama.query_engine.CustomQueryEngine):  # type: ignore[misc]
        def custom_query(self, query_str: str) -> Any:
            return llama.Response(f"{query_str} Now.", source_nodes=[node])

    class Awaiting(Engine):
        async def acustom_query(self, query_str: str) -> Any:
            await asyncio.sleep(0)
            return self.custom_query(f"awaited {query_str}")

    sync, awaiting = Engine(), Awaiting()
    assert not is_async(adapt_system(sync))
    assert is_async(adapt_system(awaiting))
    answer = answered(sync)
    assert answer.text == "When? Now."
    assert answer.ranking is not None
    assert answer.ranking.items == (ScoredPassage("n1", 0.75, "At nine."),)
    assert answered(awaiting).text == "awaited When? Now."


def test_a_response_without_a_text_is_refused(llama: Any) -> None:
    with pytest.raises(SystemContractError, match="returned Response "):
        to_answer(llama.Response(None), "engine")


class SyncEngine:
    def query(self, question: str) -> str:
        return f"{question} Now."


class SyncAndAsyncEngine(SyncEngine):
    async def aquery(self, question: str) -> str:
        return f"awaited {question}"


def test_an_object_with_query_or_aquery_is_a_system() -> None:
    assert answered(SyncEngine()).text == "When? Now."
    assert system_name(adapt_system(SyncEngine())) == "SyncEngine"
    assert answered(SyncAndAsyncEngine()).text == "awaited When?"
    assert adapt_system(object()) is None


def test_a_callable_is_not_adapted() -> None:
    class CallableEngine(SyncAndAsyncEngine):
        def __call__(self, query: Query) -> str:
            return "called"

    for value in (CallableEngine(), Mock(), len, SyncEngine):
        assert adapt_system(value) is value


def test_chunks_of_one_document_stay_separate_in_a_ranking() -> None:
    pages = [Document("At nine.", id="d1"), Document("Or ten.", id="d1")]
    answer = to_answer({"answer": "At nine.", "context": pages}, "chain")
    assert answer.ranking is not None
    assert [item.text for item in answer.ranking] == ["At nine.", "Or ten."]
    assert answer.ranking.doc_ids[1].startswith("d1#")
