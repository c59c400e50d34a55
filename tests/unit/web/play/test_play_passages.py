"""Passages in the draft of `rageval play`: leave out, move, edit, add, search, shrink."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from support.projects.play_project import PlayPage, slow_project


def passage_texts(play: PlayPage) -> list[str]:
    page = play.client.get("/").text
    section = page[page.index('id="passages"') :].partition("</ol>")[0]
    return [
        re.sub("<.*?>", "", each).strip() for each in re.findall(r'<div class="text">(.*?)</div>', section, re.DOTALL)
    ]


def keys(play: PlayPage) -> list[int]:
    return [int(each) for each in re.findall(r'data-key-number="(\d+)"', play.client.get("/").text)]


def change(play: PlayPage, **values: Any) -> None:
    version = play.client.get("/api/state").json()["version"]
    answer = play.client.put("/api/draft", json={"version": version, **values})
    assert answer.status_code == 200, answer.text


def begin(play: PlayPage, **body: Any) -> None:
    """Reset the passages of the draft and ask; the draft then has the passages of the answer."""
    change(play, fresh=True)
    play.ask(**body)


def ask_again(play: PlayPage) -> dict[str, dict[str, Any]]:
    return dict(play.ask(draft=True))


def test_a_passage_is_left_out_moved_edited_and_put_back(play: PlayPage) -> None:
    begin(play, case="castle")
    assert keys(play) == [0, 1, 2]
    change(play, passages=[{"key": 1}, {"key": 0, "on": False}])
    assert keys(play) == [1, 0, 2]
    events = ask_again(play)
    assert "11:00" not in events["answer"]["text"]
    page = play.client.get("/").text
    assert "<h2>Before</h2>" in page
    assert "<del>" in page  # the difference of the two answers, in words
    change(play, passages=[{"key": 0, "on": True, "text": "The castle opens at 14:00."}, {"key": 1, "on": False}])
    events = ask_again(play)
    assert "14:00" in events["answer"]["text"]
    assert events["scores"]["scores"]["accuracy"] == {"value": 0.0}
    assert ">edited<" in play.client.get("/").text
    change(play, fresh=True)
    assert "11:00" in ask_again(play)["answer"]["text"]


def test_retrieved_passages_can_be_left_out(play: PlayPage) -> None:
    begin(play, question="When does the museum open?", system="steps")
    begin(play, question="When does the museum open?")
    (first, *rest) = keys(play)
    change(play, passages=[{"key": first, "on": False}, *({"key": key} for key in rest)])
    assert "9:00" not in ask_again(play)["answer"]["text"]


def test_passages_are_added_from_a_search_and_by_hand(play: PlayPage) -> None:
    begin(play, case="castle")
    hits = play.client.post("/api/search", json={"query": "museum", "k": 1}).json()["passages"]
    assert [each["page"] for each in hits] == ["docs/visit.md"]
    assert "The museum opens" in hits[0]["text"]
    new = {"text": "The castle opens at 8:15."}
    hit = {name: hits[0][name] for name in ("id", "title", "text", "page")}
    change(play, passages=[new, {"key": 0, "on": False}, {"key": 1, "on": False}, {"key": 2}, hit])
    assert [text[:5] for text in passage_texts(play)] == ["The c", "The c", "The c", "The c", "# Mus"]
    assert "8:15" in ask_again(play)["answer"]["text"]


def test_edited_passages_stay_until_a_case_is_taken_with_the_current_version(play: PlayPage) -> None:
    begin(play, case="castle")
    change(play, passages=[{"key": 0, "text": "The castle opens at 14:00."}])
    before = passage_texts(play)
    for body in ({"case": "museum", "system": "steps"}, {"question": "Who?", "system": "deaf"}):
        play.ask(**body)  # like the page Two systems
        assert passage_texts(play) == before
    case_page = play.client.get("/", params={"case": "museum"})
    assert "Take this case" in case_page.text
    assert "unknown case 'nope'" in unescape(play.client.get("/", params={"case": "nope"}).text)
    assert passage_texts(play) == before
    version = play.client.get("/api/state").json()["version"]
    form = {"case": "museum", "version": str(version - 1)}
    assert play.client.post("/take", data=form).status_code == 409
    assert play.client.post("/run/take", data={**form, "run": "latest"}).status_code == 409
    assert play.client.post("/take", data={"case": "museum"}).status_code == 400
    assert passage_texts(play) == before
    assert play.client.post("/take", data={**form, "version": str(version)}).status_code == 303
    assert 'id="passages"' not in play.client.get("/").text
    assert "Take this case" not in play.client.get("/", params={"case": "boats"}, follow_redirects=True).text


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"query": ""}, "the request: query"),
        ({"query": "a", "k": 0}, "the request: k"),
        ({"text": "a"}, "the request: unknown key 'text'"),
    ],
)
def test_an_invalid_search_is_refused_in_one_sentence(play: PlayPage, body: dict[str, object], error: str) -> None:
    answer = play.client.post("/api/search", json=body)
    assert (answer.status_code, answer.json()["error"][: len(error)]) == (400, error)


@pytest.mark.parametrize(
    "passages", [[{"key": 99}], [{"key": "0"}], [{"key": 0, "on": 1}], [{"key": 0, "role": "gold"}], [{}], "all"]
)
def test_an_invalid_change_is_refused_and_changes_nothing(play: PlayPage, passages: object) -> None:
    begin(play, case="castle")
    version = play.client.get("/api/state").json()["version"]
    assert play.client.put("/api/draft", json={"version": version, "passages": passages}).status_code == 400
    assert play.client.get("/api/state").json()["version"] == version
    assert keys(play) == [0, 1, 2]


def test_a_system_that_ignores_its_passages_is_reported(play: PlayPage) -> None:
    warning = "The system ignores the passages it is given"
    begin(play, question="What?", system="deaf")
    assert warning not in play.client.get("/").text
    change(play, passages=[{"text": "Something else."}, {"key": 0, "on": False}])
    assert ask_again(play)["answer"]["text"] == "always the same"
    assert warning in play.client.get("/").text
    begin(play, case="castle")
    change(play, passages=[{"key": 2, "on": False}])
    ask_again(play)
    assert warning not in play.client.get("/").text


def test_the_smallest_context_is_the_one_of_rageval_shrink(play: PlayPage) -> None:
    refusal = play.client.post("/api/shrink", json={"case": "castle"})
    assert (refusal.status_code, "not shrunk: it is right now" in refusal.json()["error"]) == (400, True)
    result = play.client.post("/api/shrink", json={"case": "boats"}, timeout=60).json()
    assert "1 passage -> 1, 2nd of 2 sentences" in result["lines"][0]
    assert [each["text"] for each in result["passages"]] == ["Boats leave the harbour every hour."]


def test_the_search_for_the_smallest_context_can_be_stopped(tmp_path: Path) -> None:
    project = slow_project(tmp_path)
    with PlayPage(project) as page, ThreadPoolExecutor() as threads:
        page.wait()
        assert page.client.delete("/api/shrink", params={"case": "ticket"}).status_code == 400
        page.ask(case="ticket")
        search = threads.submit(page.client.post, "/api/shrink", json={"case": "ticket"}, timeout=60)
        log = project / "log.txt"
        while not (log.exists() and log.read_text().split() == ["asked"] * 4):  # the last one waits
            time.sleep(0.05)
        start = time.monotonic()
        assert "runs already" in page.client.post("/api/shrink", json={"case": "ticket"}).json()["error"]
        assert page.client.delete("/api/shrink", params={"case": "ticket"}).json() == {"cancelled": "ticket"}
        result = search.result().json()
        assert time.monotonic() - start < 5
        assert log.read_text().split() == [*["asked"] * 4, "cancelled"]
        assert "stopped: you stopped it; a smaller one may exist" in result["lines"][1]
        assert len(result["passages"]) == 3
        assert "x.org/?token=<masked>" in result["passages"][0]["text"]
        assert "abcdef" not in json.dumps(result)
        assert page.client.delete("/api/shrink", params={"case": "ticket"}).status_code == 400


def test_secrets_in_search_results_are_masked(play: PlayPage) -> None:
    hits = play.client.post("/api/search", json={"query": "feedback form"}).json()["passages"]
    assert "https://x.org/?token=<masked>" in hits[0]["text"]
    assert "abcdef" not in json.dumps(hits)


def test_a_thousand_passages_are_shown_on_demand_and_stay_when_a_few_move(play: PlayPage) -> None:
    begin(play, question="How many?", system="large")
    assert keys(play) == list(range(50))
    assert "Draw the other 950 passages" in play.client.get("/").text
    assert play.client.get("/?all=1").text.count("data-key-number") == 1000
    change(play, passages=[{"key": 49}, {"key": 0}])
    assert keys(play)[:3] == [49, 0, 1]
    assert play.client.get("/?all=1").text.count("data-key-number") == 1000
