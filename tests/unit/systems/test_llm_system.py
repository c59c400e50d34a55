"""The systems `llm` and `closed_book` with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import cast

import pytest

from pytest_rageval.errors import CaseError, ModelError, SettingError
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Passage, Query, Turn
from pytest_rageval.model.chat import Completion
from pytest_rageval.model.protocols import System
from pytest_rageval.registry import Registry
from pytest_rageval.retrieval.bm25 import build
from pytest_rageval.retrieval.retriever_parts import RetrieverParts
from pytest_rageval.systems import BUILTIN, SystemFactory, SystemParts
from pytest_rageval.systems.calling import is_async
from pytest_rageval.systems.prompting import Prompts, closed_book_messages, load_prompts, messages_for
from pytest_rageval.testing import ScriptedLLM

SYSTEMS = Registry[SystemFactory]("system", BUILTIN)
REPLY = Completion("  Ida Holm.\n", Usage(10, 3, 0.5, 0.25), "stop", "small-1", attempts=2)
QUERY = Query("Who opened it?", (Passage("p0", "Ida Holm opened it."),))


def ask(system: System, query: Query) -> Answer:
    async def await_answer() -> Answer:
        answer = await cast("Awaitable[Answer | str]", system(query))
        assert isinstance(answer, Answer)
        return answer

    return asyncio.run(await_answer())


@pytest.mark.parametrize("name", ["llm", "closed_book"])
def test_the_reply_is_the_answer_with_the_usage_of_the_completion(name: str) -> None:
    model = ScriptedLLM([REPLY])
    system = SYSTEMS.get(name)(SystemParts(llm=model))
    assert is_async(system)
    answer = ask(system, QUERY)
    detail: dict[str, str | int | float | bool | None] = {
        "model": "small-1",
        "finish_reason": "stop",
        "attempts": 2,
        "replayed": False,
    }
    assert answer == Answer("Ida Holm.", trace=(Step("completion", detail),), usage=REPLY.usage)
    assert answer.abstained is None
    build_messages = messages_for if name == "llm" else closed_book_messages
    assert model.requests[0].messages == build_messages(QUERY, load_prompts())
    assert model.requests[0].params == {}


def test_the_llm_system_reads_supplied_or_retrieved_passages() -> None:
    corpus = [
        Passage("a", "The harbour ferry leaves from the east pier."),
        Passage("b", "The mountain railway was opened by Ida Holm.", "Railways"),
    ]
    model = ScriptedLLM({"mountain railway": "Ida Holm", "ferry": "east pier"})
    system = SYSTEMS.get("llm")(SystemParts(build(RetrieverParts(tuple(corpus))), llm=model, top_k=1))
    answer = ask(system, Query("Who opened the mountain railway?"))
    assert answer.text == "Ida Holm"
    assert answer.ranking is not None
    assert answer.ranking.doc_ids == ("b",)
    assert [step.kind for step in answer.trace] == ["retrieve", "completion", "generate"]
    assert "[1] Railways\nThe mountain railway was opened" in model.requests[0].messages[-1]["content"]
    from_supplied = ask(system, Query("Where is the ferry?", (Passage("p", "At the pier."),)))
    assert from_supplied.ranking is None
    assert "mountain" not in model.requests[1].messages[-1]["content"]


def test_neither_passages_nor_a_retriever_is_an_error_before_any_call() -> None:
    model = ScriptedLLM([])
    with pytest.raises(CaseError) as caught:
        ask(SYSTEMS.get("llm")(SystemParts(llm=model)), Query("q?"))
    assert caught.value.kind == "no_passages"
    assert model.requests == ()


def test_the_closed_book_system_shows_no_passage() -> None:
    model = ScriptedLLM("I do not know.")
    query = Query("Who?", (Passage("p0", "SECRET"),), (Turn("When?", "Then."),), "en", "SAY SO")
    ask(SYSTEMS.get("closed_book")(SystemParts(llm=model)), query)
    messages = model.requests[0].messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert not any("SECRET" in message["content"] or "SAY SO" in message["content"] for message in messages)


@pytest.mark.parametrize("name", ["llm", "closed_book"])
def test_a_system_without_a_model_is_an_error(name: str) -> None:
    problem = (
        f"^system '{name}' needs a model: set rag_model in the ini, pass --rag-model, "
        "or override the `rag_llm` fixture$"
    )
    with pytest.raises(SettingError, match=problem):
        SYSTEMS.get(name)(SystemParts())


@pytest.mark.parametrize("name", ["llm", "closed_book"])
def test_the_session_s_prompts_are_used(name: str) -> None:
    texts = {**load_prompts().texts["en"], "user": "{passages} // {question}", "closed_book_user": "// {question}"}
    model = ScriptedLLM("yes")
    ask(SYSTEMS.get(name)(SystemParts(llm=model, prompts=Prompts({"en": texts}))), QUERY)
    assert model.requests[0].messages[-1]["content"].endswith("// Who opened it?")


def test_a_failed_call_is_raised_unchanged() -> None:
    model = ScriptedLLM([ModelError("context_length", "too long")])
    with pytest.raises(ModelError, match="too long"):
        ask(SYSTEMS.get("llm")(SystemParts(llm=model)), QUERY)
