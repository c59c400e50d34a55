"""Recording and replaying model calls: requests in each mode, and the files."""

from __future__ import annotations

import os
import signal
import time
from itertools import count
from pathlib import Path

import pytest
from support.projects.model_projects import (  # noqa: F401
    FILE,
    KEY,
    PRICES,
    asked,
    asks,
    bodies,
    loaded,
    numbered,
    recordings,
    rows,
    stop,
)
from support.projects.rag_project import Mode, Project
from support.servers.openai_server import OpenAIServer

WATCHES = """
    import sys

    connected = []
    sys.addaudithook(lambda event, args: connected.append(args[1]) if event == "socket.connect" else None)

    def pytest_unconfigure(config):
        heavy = {"litellm", "openai", "httpx", "aiohttp"} & set(sys.modules)
        print(f"loaded: {sorted(heavy)}, connected: {connected}")
"""


def test_once_records_the_first_run_and_replays_later_ones(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, numbered(8), "rag_record_mode = once", params=PRICES)
    first = project.run()
    assert (first.status, len(openai_server.requests)) == (0, 8), first.text
    records = recordings(project)
    assert [record["key"] for record in records] == sorted({record["key"] for record in records})
    text = (project.path / FILE).read_text(encoding="utf-8")
    assert os.listdir(project.path / "cassettes") == ["model-openai--m.jsonl"]
    for secret in (KEY, "127.0.0.1", "http", "Bearer", str(project.path)):
        assert secret not in text
    assert records[0]["params"] == {"temperature": 0}
    assert {record["response"]["text"] for record in records} == {"Paris"}

    stop(openai_server)
    again = project.run("-v")
    assert (again.status, openai_server.requests) == (0, [])
    for outcome in again.results["outcomes"]:
        calls, before = outcome["calls"], first.outcomes[outcome["case_id"]]["calls"]
        assert (calls["calls"], calls["replayed"], calls["attempts"], calls["spent_usd"]) == (1, 1, 0, 0.0)
        assert calls["cost_usd"] == before["cost_usd"] > 0
        assert outcome["answer"]["usage"]["latency_s"] is None
        assert outcome["answer"]["trace"][0]["detail"]["replayed"] is True
    assert [o["scores"] for o in again.results["outcomes"]] == [o["scores"] for o in first.results["outcomes"]]
    again.said("model calls: 8 (8 replayed), 0 attempts * cost $* (spent now $0)")
    assert (project.path / FILE).read_text(encoding="utf-8") == text


def test_workers_record_the_same_bytes(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, numbered(30), "rag_record_mode = once")
    openai_server.delay_s = lambda number, body: number % 7 * 0.005
    assert project.run("--rag-repeat", "2").status == 0
    one_process = (project.path / FILE).read_bytes()
    (project.path / FILE).unlink()
    assert project.run("-n2", "--rag-repeat", "2").status == 0
    assert (project.path / FILE).read_bytes() == one_process
    assert one_process.count(b"\n") == 60
    assert sorted(record["repeat"] for record in recordings(project)) == [1] * 30 + [2] * 30
    stop(openai_server)
    again = project.run("-n2", "--rag-repeat", "2")
    assert (again.status, again.results["usage"]["replayed"], openai_server.requests) == (0, 60, [])


def test_none_replays_without_litellm_and_without_a_network(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, numbered(4), "rag_record_mode = none")
    assert project.run("--rag-record-mode", "once").status == 0
    project.file("conftest.py", WATCHES)
    run = project.run(forked=True)
    assert (run.status, len(openai_server.requests)) == (0, 4)
    run.said("loaded: [[]], connected: [[]]*")
    assert [outcome["calls"]["replayed"] for outcome in run.results["outcomes"]] == [1] * 4


@pytest.mark.parametrize("record_mode", ["none", "once"])
def test_a_missing_recording_is_an_error_that_shows_the_nearest_one(
    project: Project, openai_server: OpenAIServer, record_mode: str
) -> None:
    asks(project, openai_server.base_url, rows("Orsay", "Louvre"))
    assert project.run("--rag-record-mode", "once").status == 0
    stop(openai_server)
    changed = [*rows("Orsay"), {**rows("Louvre")[0], "question": "Where is the Louvre?"}]
    project.data(changed)
    run = project.run("-v", "--rag-record-mode", record_mode, "--rag-gate", "error_rate <= 0")
    assert (run.status, openai_server.requests) == (1, [])
    assert run.statuses == {"Orsay": "scored", "Louvre": "error"}
    error = run.outcomes["Louvre"]
    assert (error["error_type"], error["calls"]["calls"]) == ("not_recorded", 0)
    sentence, *difference = error["error"].splitlines()
    assert sentence == (
        "no reply of model 'openai/m' to this request is recorded (2 are in cassettes/model-openai--m.jsonl); "
        "ask and record it with --rag-record-mode new_episodes"
    )
    assert "-  Question: Where is Louvre?" in difference
    assert "+  Question: Where is the Louvre?" in difference
    assert "Traceback" not in run.text
    run.said("errors: 1 not_recorded")


@pytest.mark.parametrize("record_mode", ["new_episodes", "all"])
def test_identical_requests_share_one_recorded_reply(
    project: Project, openai_server: OpenAIServer, record_mode: str
) -> None:
    replies = count()
    openai_server.reply, openai_server.delay_s = lambda body: ("Rome", "Paris")[next(replies) > 0], 0.05
    asks(project, openai_server.base_url, [{**rows("Orsay")[0], "id": f"q{number}"} for number in range(6)])
    run = project.run("--rag-record-mode", record_mode)
    scores = [outcome["scores"] for outcome in run.results["outcomes"]]
    assert [score["accuracy"]["value"] for score in scores] == [0.0] * 6
    assert (len(openai_server.requests), len(recordings(project))) == (1, 1)
    assert (run.results["usage"]["calls"], run.results["usage"]["replayed"]) == (6, 5)
    stop(openai_server)
    assert [outcome["scores"] for outcome in project.run("--rag-record-mode", "none").results["outcomes"]] == scores


def test_new_episodes_asks_and_adds_only_new_requests(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, rows("a", "b"), "rag_record_mode = new_episodes")
    assert project.run().status == 0
    before = recordings(project)
    openai_server.requests.clear()
    project.data(rows("b", "c", "a"))
    run = project.run()
    assert (run.status, asked(openai_server)) == (0, ["c"])
    assert {name: outcome["calls"]["replayed"] for name, outcome in run.outcomes.items()} == {"a": 1, "b": 1, "c": 0}
    assert [record for record in recordings(project) if record in before] == before
    assert len(recordings(project)) == 3


def test_all_asks_again_and_changes_no_byte_if_replies_are_equal(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, numbered(6), "rag_record_mode = all")
    assert project.run().status == 0
    before = (project.path / FILE).read_bytes()
    assert project.run().status == 0
    assert (len(openai_server.requests), (project.path / FILE).read_bytes()) == (12, before)
    openai_server.reply = "Paris"
    assert project.run().status == 0
    assert len(openai_server.requests) == 18
    assert {record["response"]["text"] for record in recordings(project)} == {"Paris"}
    assert len(recordings(project)) == 6


def test_a_changed_param_is_another_request(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, rows("a"), "rag_record_mode = new_episodes")
    assert project.run().status == 0
    asks(project, openai_server.base_url, rows("a"), "rag_record_mode = new_episodes", params={"temperature": 1})
    assert project.run("--rag-record-mode", "none").outcomes["a"]["error_type"] == "not_recorded"
    asks(project, "http://127.0.0.1:9/v1", rows("a"), params={"timeout": 3, "api_key": "other-key-0123"})
    assert project.run("--rag-record-mode", "none").status == 0


def test_a_killed_session_leaves_recordings_that_the_next_one_uses(
    project: Project, openai_server: OpenAIServer
) -> None:
    asks(project, openai_server.base_url, numbered(40), "rag_record_mode = new_episodes")
    openai_server.delay_s = 0.1
    process = project.started("--rag-concurrency", "2")
    path = project.path / FILE
    deadline = time.monotonic() + 30
    while not (path.exists() and path.read_bytes().count(b"\n") >= 5) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
    n_stored = path.read_bytes().count(b"\n")  # the line after these may be truncated
    assert 5 <= n_stored < 40
    openai_server.requests.clear()
    openai_server.delay_s = 0
    run = project.run()
    assert run.status == 0
    assert len(openai_server.requests) == 40 - n_stored
    assert [record["key"] for record in recordings(project)] == sorted(record["key"] for record in recordings(project))
    assert run.results["usage"]["replayed"] == n_stored


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_once_continues_the_recordings_of_a_resumed_run(
    project: Project, openai_server: OpenAIServer, args: Mode
) -> None:
    """A recording file of an interrupted run is incomplete, so ``once`` still adds to it."""
    openai_server.reply = "Paris"
    asks(project, openai_server.base_url, numbered(30), "rag_record_mode = once")
    for more in ((), ("--rag-resume",)):
        before = len(openai_server.requests)
        openai_server.delay_s = lambda number, body, before=before: 0 if number <= before + 8 else 60
        process = project.started("--rag-concurrency", "2", *more, *args)
        deadline = time.monotonic() + 30
        while len(openai_server.requests) < before + 9 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        assert len(openai_server.requests) > before, (project.path / "output.txt").read_text()
    openai_server.delay_s = 0
    run = project.run("--rag-resume", *args, fresh=False)
    assert run.status == 0, run.text
    assert set(run.statuses.values()) == {"scored"}
    assert len(recordings(project)) == 30
    assert project.run(*args).results["usage"]["replayed"] == 30


def test_a_secret_of_the_environment_is_masked_in_recordings(
    project: Project, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hunter2-Zx9-0042"  # noqa: S105
    monkeypatch.setenv("VAULT_TOKEN", secret)
    openai_server.reply = f"Paris, says {secret}"
    passages = [{"id": "d", "text": f"The token is {secret}.", "role": "positive"}]
    asks(project, openai_server.base_url, rows("a", passages=passages), "rag_record_mode = once")
    assert project.run().status == 0
    assert secret in bodies(openai_server)[0]["messages"][-1]["content"]
    text = (project.path / FILE).read_text(encoding="utf-8")
    assert secret not in text
    assert "The token is <VAULT_TOKEN>." in text
    monkeypatch.setenv("VAULT_TOKEN", "another-Zx9-0043")
    passages[0]["text"] = "The token is another-Zx9-0043."
    project.data(rows("a", passages=passages))
    assert project.run("--rag-record-mode", "none").outcomes["a"]["answer"]["text"] == "Paris, says <VAULT_TOKEN>"


def test_the_recordings_folder_is_relative_to_the_ini(project: Project, openai_server: OpenAIServer) -> None:
    asks(project, openai_server.base_url, rows("a"), "rag_record_mode = once", "rag_cassettes = recorded/calls")
    project.file("below/test_more.py", (project.path / "test_it.py").read_text(encoding="utf-8"))
    (project.path / "test_it.py").unlink()
    (project.path / "cases.jsonl").rename(project.path / "below" / "cases.jsonl")
    os.chdir(project.path / "below")
    assert project.run("--rootdir", str(project.path / "below"), json_path=None).status == 0
    assert [path.relative_to(project.path) for path in project.path.rglob("model-*.jsonl")] == [
        Path("recorded/calls/model-openai--m.jsonl")
    ]


def test_new_metrics_are_computed_from_old_recordings(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = "In Paris"
    asks(project, openai_server.base_url, numbered(3), "rag_record_mode = none")
    assert project.run("--rag-record-mode", "once").status == 0
    stop(openai_server)
    asks(project, openai_server.base_url, numbered(3), "rag_record_mode = none", arguments='metrics=["token_f1"]')
    run = project.run()
    assert (run.status, run.results["usage"]["replayed"]) == (0, 3)
    assert [outcome["scores"]["token_f1"]["value"] for outcome in run.results["outcomes"]] == [pytest.approx(2 / 3)] * 3


def test_a_changed_judge_prompt_is_asked_about_replayed_answers(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = lambda body: '{"reason": "so", "label": "kind"}' if body["model"] == "j" else "Paris"
    ini = ("rag_record_mode = new_episodes", "rag_judge_model = openai/j", "rag_judge_params =",
           f"    api_base = {openai_server.base_url}", f"    api_key = {KEY}")  # fmt: skip
    asks(project, openai_server.base_url, rows("a"), *ini, arguments='metrics=["tone"]')
    project.file("conftest.py", JUDGE.replace("{prompt}", "Is it kind?"))
    assert project.run().outcomes["a"]["scores"]["tone"]["value"] == 1.0
    assert sorted(os.listdir(project.path / "cassettes")) == ["judge-openai--j.jsonl", "model-openai--m.jsonl"]
    openai_server.requests.clear()
    openai_server.reply = '{"reason": "no", "label": "rude"}'
    assert project.run().results["usage"]["replayed"] == 2
    assert not openai_server.requests
    project.file("conftest.py", JUDGE.replace("{prompt}", "Is it kind or rude?"))
    run = project.run()
    assert (run.outcomes["a"]["scores"]["tone"]["value"], run.results["usage"]["replayed"]) == (0.0, 1)
    assert [body["model"] for body in bodies(openai_server)] == ["j"]


JUDGE = """
    from pytest_rageval import PromptedJudge

    def pytest_rageval_register(registry):
        registry.judges.register("tone", PromptedJudge(
            "tone", "{prompt}", labels={"kind": "nice", "rude": "not nice"}, values={"kind": 1, "rude": 0}))
"""
