"""Two systems and a conversation on the page of `rageval play`, over HTTP."""

from __future__ import annotations

import json
import re

import pytest
from support.projects.play_project import PlayPage, run_tests
from support.servers.openai_server import OpenAIServer

CASES = "tests/cases.jsonl"


def numbers(play: PlayPage) -> list[str]:
    answers: list[str] = play.client.get("/api/state").json()["answers"]
    return answers


def test_two_answers_are_shown_side_by_side_with_their_differences(play: PlayPage) -> None:
    for system in ("extractive", "steps"):
        play.ask(case="museum", system=system)
    left_number, right_number = numbers(play)[-2:]
    page = play.client.get("/two", params={"left": left_number, "right": right_number}).text
    assert page.count(" answer, of ") == 2
    assert "<ins>" in page
    assert "<del>" in page
    command = "pytest tests/town.rag.toml::town --rag-system extractive --rag-system steps"
    assert command in re.sub("<.*?>", "", page)
    assert play.client.get("/two", params={"left": "999"}).status_code == 200


def test_the_cost_is_estimated_without_a_request_to_the_model(play: PlayPage) -> None:
    before = numbers(play)
    free = play.client.post("/api/estimate", json={"case": "museum", "system": "extractive"}).json()
    assert free == {"calls": []}
    with OpenAIServer() as server:
        body = {"question": "When does the museum open?", "system": "llm@openai/gpt-4o-mini"}
        (call,) = play.client.post("/api/estimate", json=body, timeout=60).json()["calls"]
        assert (call["calls"], call["model"], call["recorded"]) == (1, "openai/gpt-4o-mini", 0)
        assert call["cost_usd"] > 0
        assert server.requests == []
    assert numbers(play) == before
    assert play.client.post("/api/estimate", json={"question": "x", "system": "nobody"}).status_code == 400


def test_each_turn_is_asked_with_the_earlier_turns(play: PlayPage) -> None:
    texts = [
        dict(play.ask(chat=True, question=question, system="turns"))["answer"]["text"]
        for question in ("Where is it?", "And when?", "How much?")
    ]
    assert texts == ["turn 1: Where is it?", "turn 2: And when?", "turn 3: How much?"]
    page = re.sub("<.*?>", "", play.client.get("/chat").text)
    assert page.index("turn 1") < page.index("And when?") < page.index("turn 3")
    assert "Save the dialogue" in page
    version = play.client.get("/api/state").json()["version"]
    assert play.client.put("/api/draft", json={"version": version, "chat": []}).status_code == 200
    assert dict(play.ask(chat=True, question="Again?", system="turns"))["answer"]["text"] == "turn 1: Again?"


def test_a_turn_is_refused_until_the_last_one_has_its_answer(play: PlayPage) -> None:
    body = {"chat": True, "question": "wait", "system": "steps"}
    with play.client.stream("POST", "/api/ask", json=body) as response:
        refusal = play.client.post("/api/ask", json={**body, "question": "And?"})
        assert (refusal.status_code, "has no answer yet" in refusal.json()["error"]) == (400, True)
        play.client.delete(f"/api/ask/{response.headers['X-Ask']}")
        response.read()
    assert "answer" in dict(play.ask(chat=True, question="And?", system="steps"))


def test_a_failed_turn_is_not_added_to_the_conversation(play: PlayPage) -> None:
    before = play.client.get("/chat").text.count('class="asked"')
    assert "error" in dict(play.ask(chat=True, question="Broken?", system="failing"))
    assert play.client.get("/chat").text.count('class="asked"') == before


@pytest.mark.parametrize("chat", [[1], [{"question": "a"}], "all"])
def test_an_invalid_conversation_is_refused(play: PlayPage, chat: object) -> None:
    version = play.client.get("/api/state").json()["version"]
    assert play.client.put("/api/draft", json={"version": version, "chat": chat}).status_code == 400


def test_a_dialogue_is_saved_as_one_record_that_pytest_asks(play: PlayPage) -> None:
    version = play.client.get("/api/state").json()["version"]
    play.client.put("/api/draft", json={"version": version, "chat": []})
    for question in ("Which museum?", "When does it open?"):
        play.ask(chat=True, question=question, system="turns")
    page = play.client.get("/chat").text
    match = re.search(r'data-record="(.*?)"', page)
    assert match is not None
    record = json.loads(match[1].replace("&#34;", '"'))
    assert record == {
        "question": "When does it open?",
        "history": [{"question": "Which museum?", "answer": "turn 1: Which museum?"}],
    }
    body = {"kind": "record", "record": {**record, "answers": ["turn 2: When does it open?"]}, "file": CASES}
    plan = play.client.post("/api/save", json={**body, "preview": True}).json()
    assert plan["blocked"] is False, plan
    play.client.post("/api/save", json={**body, "preview": False, "seen": plan["seen"]})
    run = run_tests(play.project, "-k", plan["id"], "--rag-system", "turns")
    assert "1 passed" in run.stdout, run.stdout
