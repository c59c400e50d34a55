"""`rageval play` over HTTP: ask questions and cases, stop a question, show answers."""

from __future__ import annotations

import json
import re
import threading
import time

import httpx
import pytest
from support.projects.play_project import PlayPage, events_of

MUSEUM = "tests/town.rag.toml::town[museum]"


def names(events: list[tuple[str, dict[str, object]]]) -> list[str]:
    return [name for name, _ in events]


def test_the_state_names_systems_and_cases(play: PlayPage) -> None:
    state = play.wait()
    assert state["systems"][0] == "extractive"
    assert {"steps", "blocking", "failing"} <= {*state["systems"]}
    assert (state["cases"], state["problem"], state["changed_code"], state["budget"]) == (3, "", "", None)


def test_a_typed_question_is_answered_without_scores(play: PlayPage) -> None:
    events = play.ask(question="When does the museum open?")
    assert names(events) == ["asked", "answer"]
    answer = events[1][1]
    assert "9:00" in answer["text"]
    assert "The museum opens" in answer["ranking"][0]["text"]
    page = play.client.get("/").text
    assert "When does the museum open?" in page
    assert "<u>" in page  # marks the words of the question


def test_a_case_is_answered_and_scored_with_its_gold_marked(play: PlayPage) -> None:
    by_id, by_node = play.ask(case="museum"), play.ask(case=MUSEUM)
    for events in (by_id, by_node):
        assert names(events) == ["asked", "answer", "scores"]
        assert events[2][1]["scores"]["accuracy"] == {"value": 1.0}
    page = play.client.get("/").text
    assert '<li class="passage gold"' in page
    assert '<mark class="gold"><bdi class="data">9:00</bdi></mark>' in page


def test_supplied_passages_are_shown_in_order_and_with_roles(play: PlayPage) -> None:
    play.ask(case="castle")
    page = play.client.get("/").text
    assert re.sub("<.*?>", "", page).index("11:00") < re.sub("<.*?>", "", page).index("castle is old")
    assert '<li class="passage fake"' in page
    play.ask(case="boats")
    assert "Not in the passages: " in play.client.get("/").text


def test_each_step_is_sent_before_the_answer(play: PlayPage) -> None:
    events = play.ask(question="When?", system="steps")
    assert names(events) == ["asked", "step", "step", "answer"]
    assert [event["detail"]["result"] for name, event in events if name == "step"] == [
        "looked for one",
        "looked for two",
    ]
    assert [step["kind"] for step in events[-1][1]["trace"]] == ["tool", "tool", "end"]


def test_the_system_gets_the_passages_and_the_history_of_the_request(play: PlayPage) -> None:
    passages = [{"id": "b", "text": "It opens at 7:00.", "role": "positive"}, {"id": "a", "text": "Nothing."}]
    history = [{"question": "Hello?", "answer": "Hello."}]
    play.ask(question="When?", system="steps", passages=passages, history=history)
    query_line = (play.project / "seen.jsonl").read_text().splitlines()[-1]
    assert query_line.index("7:00") < query_line.index("Nothing.")
    assert "positive" not in query_line
    assert "Turn(question='Hello?', answer='Hello.')" in query_line
    events = play.ask(case="castle", passages=[{"text": "The castle opens at 12:00."}])
    assert events[1][1]["text"].startswith("The castle opens at 12:00")
    assert events[2][1]["scores"]["accuracy"] == {"value": 0.0}


def test_an_error_of_a_system_is_shown_with_its_frames_and_the_page_keeps_working(play: PlayPage) -> None:
    events = play.ask(question="When?", system="failing")
    assert names(events) == ["asked", "error"]
    assert "KeyError: 'no such desk'" in events[1][1]["error"]
    assert "desk.py" in events[1][1]["error"]
    assert "no such desk" in play.client.get("/").text


def test_secrets_are_masked_in_events_on_the_page_and_in_its_file(play: PlayPage) -> None:
    masked_text = 'see "https://x.org/?token=<masked>" now'
    events = play.ask(question="Where?", system="secret")
    assert events[1][1]["text"] == masked_text
    assert names(play.ask(question="fail", system="secret")) == ["asked", "error"]
    for text in (play.client.get("/").text, (play.project / ".rageval/play/state.json").read_text()):
        assert "x.org" in text
        assert "abcdef" not in text


def test_an_async_question_is_stopped_at_once(play: PlayPage) -> None:
    start, events = time.monotonic(), []
    with play.client.stream("POST", "/api/ask", json={"question": "wait", "system": "steps"}) as response:
        number = response.headers["X-Ask"]
        for name, event in events_of(response):
            events.append((name, event))
            if name == "step":
                assert play.client.delete(f"/api/ask/{number}").json() == {"cancelled": number}
    assert time.monotonic() - start < 5
    assert events[-1][0] == "error"
    assert events[-1][1]["error"] == "stopped"
    assert names(play.ask(question="When?", system="steps"))[-1] == "answer"


def test_a_blocking_system_is_abandoned_after_five_seconds_and_the_next_is_asked(play: PlayPage) -> None:
    with play.client.stream(
        "POST", "/api/ask", json={"question": "Now?", "system": "blocking"}, timeout=30
    ) as response:
        number = response.headers["X-Ask"]
        threading.Timer(0.2, lambda: httpx.delete(
            f"{play.origin}/api/ask/{number}", headers={"Origin": play.origin}, cookies=dict(play.client.cookies)
        )).start()  # fmt: skip
        start = time.monotonic()
        events = list(events_of(response))
    assert 4 < time.monotonic() - start < 8.5
    assert "still runs" in events[-1][1]["error"]
    assert names(play.ask(question="When?", system="extractive"))[-1] == "answer"


def test_another_request_can_follow_a_running_question(play: PlayPage) -> None:
    with play.client.stream("POST", "/api/ask", json={"question": "wait", "system": "steps"}) as response:
        number = response.headers["X-Ask"]
        stream = events_of(response)
        assert next(stream)[0] == "asked"
    with play.client.stream("GET", f"/api/ask/{number}") as response:
        stream = events_of(response)
        assert [next(stream)[0] for _ in range(2)] == ["asked", "step"]
        play.client.delete(f"/api/ask/{number}")
        assert [name for name, _ in stream] == ["error"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "the request: give either a question or a case"),
        ({"question": "a", "case": "museum"}, "the request: give either a question or a case"),
        ({"question": 1}, "the request: question: found 1, wanted a string"),
        ({"question": " "}, "the question is empty"),
        ({"question": "a", "system": "nobody"}, "unknown system 'nobody'"),
        ({"case": "musuem"}, "unknown case 'musuem'"),
        ({"question": "a", "passages": [1]}, "the request: passages[0]: found 1"),
        ({"question": "a", "passages": [{"id": "x"}]}, "the request: the field passages[0].text is missing"),
        ({"question": "a", "passages": [{"id": "x", "text": ""}] * 2}, "the request: passages: two passages"),
        ({"question": "a", "history": [{"question": ""}]}, "the request: history[0].question: found ''"),
        ({"question": "a", "gold": ["9:00"]}, "the request: unknown key 'gold'"),
    ],
)
def test_an_invalid_request_is_refused_in_one_sentence(play: PlayPage, body: dict[str, object], error: str) -> None:
    answer = play.client.post("/api/ask", json=body)
    assert (answer.status_code, answer.json()["error"][: len(error)]) == (400, error)


def test_an_unknown_number_of_a_question_is_an_error(play: PlayPage) -> None:
    assert play.client.delete("/api/ask/999").status_code == 400
    assert play.client.get("/api/ask/999").json()["error"].startswith("unknown question in progress '999'")
    assert "unknown answer" in play.client.get("/answer/999").text


def test_large_answers_are_shown_in_part_and_hostile_ones_as_text(play: PlayPage) -> None:
    play.ask(question="How long?", system="large")
    page = play.client.get("/").text
    assert len(page) < 2_000_000
    assert "text 49" in page
    assert "text 50" not in page
    number = play.client.get("/api/state").json()["answers"][-1]
    assert len(play.client.get(f"/answer/{number}").text) == 5_000_000
    play.ask(question="Who?", system="loud")
    page = play.client.get("/").text
    assert "<script>document" not in page
    assert '<span class="unseen">U+202E</span>' in page
    assert "{question}" in page
    start = time.monotonic()
    play.client.get("/")
    assert time.monotonic() - start < 5


def test_a_hostile_question_is_shown_and_stored_as_text(play: PlayPage) -> None:
    question = "<script>alert(1)</script> {question} a\x00b \ud800 \u202e " + "y" * 200_000
    body = json.dumps({"question": question, "system": "turns"}).encode()
    answer = play.client.post("/api/ask", content=body, headers={"Content-Type": "application/json"}, timeout=60)
    assert answer.status_code == 200
    assert "event: answer" in answer.text
    page = play.client.get("/").text
    assert "<script>alert" not in page
    assert '<span class="unseen">U+0000</span>' in page
    assert "y" * 100 in json.loads((play.project / ".rageval/play/state.json").read_text())["answers"][-1]["question"]


def test_only_the_last_twenty_answers_are_shown_and_stored(play: PlayPage) -> None:
    for at in range(21):
        play.ask(question=f"Question {at}?", system="deaf")
    page = play.client.get("/").text
    assert "Question 20?" in page
    assert "Question 0?" not in page
    stored = json.loads((play.project / ".rageval/play/state.json").read_text())
    assert len(stored["answers"]) == 20
