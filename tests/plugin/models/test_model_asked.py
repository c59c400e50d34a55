"""A model that the options name: its requests, its replies, and the modules it loads."""

from __future__ import annotations

from typing import Any

import pytest
from support.projects.model_projects import KEY, PRICES, asks, bodies, loaded, rows  # noqa: F401
from support.projects.rag_project import Mode, Project, case
from support.servers.openai_server import OpenAIServer

from pytest_rageval.model.phrases import REJECTION_SENTENCE
from pytest_rageval.testbeds.plain import PLAIN

REJECTS = 'ability="negative_rejection", metrics=["accuracy", "rejection_rate"]'


def test_the_model_of_the_ini_answers_from_the_passages(
    project: Project, openai_server: OpenAIServer, mode: Mode
) -> None:
    openai_server.reply = "  It is Paris.\n"
    asks(project, openai_server.base_url, rows("Notre-Dame", "Orsay"), params=PRICES)
    run = project.run("-v", *mode)
    assert run.status == 0, run.text
    bodies_by_prompt = {body["messages"][-1]["content"]: body for body in bodies(openai_server)}
    assert len(bodies_by_prompt) == len(openai_server.requests) == 2
    for question, body in bodies_by_prompt.items():
        name = "Orsay" if "Orsay" in question else "Notre-Dame"
        instructions, heading, passage, question_line = question.split("\n\n")
        assert (instructions, heading) == (PLAIN.instructions("en"), "Documents:")
        assert (passage, question_line) == (f"[1] {name} is in Paris.", f"Question: Where is {name}?")
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert REJECTION_SENTENCE["en"] in body["messages"][0]["content"]
        assert {key: body[key] for key in body if key != "messages"} == {"model": "m", "temperature": 0}
    assert {request.headers["authorization"] for request in openai_server.requests} == {f"Bearer {KEY}"}

    words = {body["messages"][-1]["content"]: _words(body) for body in bodies(openai_server)}
    for outcome in run.results["outcomes"]:
        prompt_tokens = next(count for question, count in words.items() if outcome["case_id"] in question)
        assert (outcome["status"], outcome["system"], outcome["facets"]["system"]) == ("scored", "llm", "llm")
        assert (outcome["answer"]["text"], outcome["scores"]["accuracy"]) == ("It is Paris.", {"value": 1.0})
        usage, calls = outcome["answer"]["usage"], outcome["calls"]
        assert (usage["prompt_tokens"], usage["completion_tokens"]) == (prompt_tokens, 3)
        assert (
            usage["cost_usd"] == calls["cost_usd"] == calls["spent_usd"] == pytest.approx(prompt_tokens * 0.001 + 0.03)
        )
        assert 0 < usage["latency_s"] < 1
        assert (calls["calls"], calls["attempts"], calls["replayed"]) == (1, 1, 0)
        detail = {"model": "m", "finish_reason": "stop", "attempts": 1, "replayed": False}
        end = {"kind": "end", "detail": {"reason": "finished"}}
        assert outcome["answer"]["trace"] == [{"kind": "completion", "detail": detail}, end]
    total = sum(words.values())
    assert run.results["usage"] == {
        "calls": 2, "replayed": 0, "attempts": 2, "prompt_tokens": total, "completion_tokens": 6,
        "cost_usd": pytest.approx(total * 0.001 + 0.06), "spent_usd": pytest.approx(total * 0.001 + 0.06),
    }  # fmt: skip
    run.said(f"model calls: 2, 2 attempts · {total} + 6 tokens · cost ${total * 0.001 + 0.06:.4f}")
    assert KEY not in run.text + (project.path / "results.json").read_text(encoding="utf-8")


def _words(body: Any) -> int:
    return sum(len(message["content"].split()) for message in body["messages"])


def test_the_request_contains_instructions_and_earlier_turns(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "I can not answer the question because of the insufficient information in documents."
    history = [{"question": "Which city?", "answer": "That one."}]
    noise = [{"id": "n", "text": "Rome is old.", "role": "negative"}]
    asks(project, openai_server.base_url, rows("Orsay", passages=noise, history=history), arguments=REJECTS)
    run = project.run("--rag-model", "openai/another")
    assert run.status == 0, run.text
    (body,) = bodies(openai_server)
    system, *turns, last = body["messages"]
    assert turns == [{"role": "user", "content": "Which city?"}, {"role": "assistant", "content": "That one."}]
    assert f"reply exactly: {REJECTION_SENTENCE['en']}\n\nDocuments:" in last["content"]
    assert (system["role"], body["model"]) == ("system", "another")
    assert run.outcomes["Orsay"]["scores"]["rejection_rate"] == {"value": 1.0}


def test_params_of_the_ini_reach_the_model(project: Project, openai_server: OpenAIServer) -> None:
    params = {"temperature": 0.5, "seed": 7, "max_tokens": 9, "stop": '["\\n"]', "attempts": 2, "deadline": 9.5}
    asks(project, openai_server.base_url, rows("a"), params=params)
    assert project.run().status == 0
    (body,) = bodies(openai_server)
    del body["messages"]
    assert body == {"model": "m", "temperature": 0.5, "seed": 7, "max_tokens": 9, "stop": ["\n"]}


def test_closed_book_is_asked_the_question_alone(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, rows("Orsay"))
    run = project.run("--rag-system", "closed_book", "--rag-system", "llm", "--rag-system", "extractive")
    assert run.status == 0, run.text
    closed_book, with_passages = sorted((body["messages"][-1]["content"] for body in bodies(openai_server)), key=len)
    assert closed_book == "Question: Where is Orsay?"
    assert "Orsay is in Paris." in with_passages
    assert {outcome["system"]: (outcome["calls"] or {}).get("calls") for outcome in run.results["outcomes"]} == {
        "closed_book": 1, "llm": 1, "extractive": 0,
    }  # fmt: skip


def test_a_case_without_passages_is_answered_from_retrieved_ones(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, [case("q1", "Where is Orsay?")])
    project.file("conftest.py", """
        import pytest
        from pytest_rageval import Passage

        @pytest.fixture(scope="session")
        def rag_corpus():
            return [Passage("d1", "Orsay is in Paris."), Passage("d2", "Bread is baked.")]
    """)  # fmt: skip
    run = project.run()
    assert run.status == 0, run.text
    (body,) = bodies(openai_server)
    assert "\n\nDocuments:\n\n[1] Orsay is in Paris." in body["messages"][-1]["content"]
    assert run.outcomes["q1"]["answer"]["ranking"][0]["doc_id"] == "d1"


def test_prompts_and_sentences_of_the_ini_replace_the_defaults(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Nobody knows."
    prompts = ("rag_prompts = en: prompts/mine.toml", "rag_rejection_sentence = en: Nobody knows.")
    asks(project, openai_server.base_url, rows("Orsay"), *prompts, arguments=REJECTS)
    project.file("prompts/mine.toml", 'system = "Else say {rejection}"\nuser = "{question} {passages} {instructions}"')
    run = project.run()
    assert run.status == 0, run.text
    (body,) = bodies(openai_server)
    assert body["messages"][0]["content"] == "Else say Nobody knows."
    assert body["messages"][1]["content"].startswith("Where is Orsay? ")
    assert body["messages"][1]["content"].endswith("reply exactly: Nobody knows.")
    assert run.outcomes["Orsay"]["scores"]["rejection_rate"] == {"value": 1.0}


LOADS = """
    import sys

    def pytest_unconfigure(config):
        heavy = {"litellm", "openai", "httpx", "aiohttp", "tiktoken"} & set(sys.modules)
        print(f"loaded: {sorted(heavy)}")
"""


@pytest.mark.parametrize(
    ("args", "model"),
    [(["--collect-only", "-q"], "openai/m"), ([], ""), (["test_plain.py"], "openai/m")],
    ids=["collecting", "no-model", "no-case"],
)
def test_no_provider_is_loaded_without_a_case_that_asks_a_model(project: Project, args: list[str], model: str) -> None:
    asks(project, "http://127.0.0.1:9/v1", rows("a"), model=model)
    project.file("conftest.py", LOADS)
    project.file("test_plain.py", "def test_plain(): ...")
    run = project.run(*args, subprocess=True)
    assert run.status in (0, 5), run.text
    run.said("loaded: []*")


@pytest.mark.parametrize(
    ("params", "modules"),
    [({}, "['httpx']"), ({"top_k": 5}, "*'litellm', 'openai'*")],
    ids=["plain", "litellm-only-parameter"],
)
def test_litellm_is_loaded_only_if_plain_http_is_not_enough(
    project: Project, openai_server: OpenAIServer, params: dict[str, object], modules: str
) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, rows("a"), params=params)
    project.file("conftest.py", LOADS)
    run = project.run(subprocess=True)
    assert (run.status, run.statuses) == (0, {"a": "scored"}), run.text
    run.said(f"loaded: {modules.replace('[', '[[]')}")
    assert openai_server.requests[0].body.get("top_k") == params.get("top_k")
