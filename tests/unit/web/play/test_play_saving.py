"""`POST /api/save` of `rageval play`: preview, lint, saved files, kills while saving."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes.killed_saves import FILES
from support.projects.play_project import PlayPage, play_project, run_tests
from support.servers.openai_server import OpenAIServer

from pytest_rageval.llm.recordings.cassette import read

ROOT = Path(__file__).parents[4]

CASES = "tests/cases.jsonl"
RECORD: dict[str, Any] = {
    "question": "At what time does the museum open?",
    "answers": ["9:00"],
    "evidence": [{"page": "docs/visit.md", "quote": "opens at 9:00"}],
}


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[PlayPage]:
    with PlayPage(play_project(tmp_path)) as page:
        page.wait()
        yield page


def save(play: PlayPage, **body: Any) -> dict[str, Any]:
    answer = play.client.post("/api/save", json={"kind": "record", **body}, timeout=60)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def field(page: str, name: str) -> str:
    match = re.search(rf'<textarea id="{name}"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    assert match is not None
    return match[1]


def refusal(play: PlayPage, **body: Any) -> tuple[int, str]:
    answer = play.client.post("/api/save", json={"kind": "record", **body}, timeout=60)
    return answer.status_code, f"{answer.json()['error']}; {answer.json()['hint']}"


def test_a_preview_writes_nothing_and_the_second_request_writes_the_shown_line(fresh: PlayPage) -> None:
    before = (fresh.project / CASES).read_bytes()
    plan = save(fresh, record=RECORD, file=CASES, case="museum", preview=True)
    assert (fresh.project / CASES).read_bytes() == before
    record = json.loads(plan["line"])
    assert list(record) == ["id", "question", "answers", "evidence", "topic", "language", "generated"]
    assert record["id"].startswith("play-")
    assert len(record["id"]) == len("play-") + 12
    assert (record["topic"], record["language"]) == ("Hours", "en")
    assert record["generated"] == {"by": "play", "from": "town[museum]"}
    assert (plan["blocked"], plan["suite"]) == (False, None)
    assert json.loads(plan["before"])["id"] == "castle"
    assert plan["pytest"] == f"pytest tests/town.rag.toml -k {record['id']}"
    result = save(fresh, record=RECORD, file=CASES, case="museum", preview=False, seen=plan["seen"])
    assert result["written"] == [CASES]
    assert (fresh.project / CASES).read_bytes() == before + f"{plan['line']}\n".encode()
    run = run_tests(fresh.project, "tests/town.rag.toml", "-k", record["id"])
    assert "1 passed" in run.stdout, run.stdout


def test_a_file_that_changed_after_the_preview_is_not_written(fresh: PlayPage) -> None:
    plan = save(fresh, record=RECORD, file=CASES, preview=True)
    path = fresh.project / CASES
    path.write_text(path.read_text() + '{"id": "other", "question": "Who?", "answers": ["I"]}\n')
    before = path.read_bytes()
    status, problem = refusal(fresh, record=RECORD, file=CASES, preview=False, seen=plan["seen"])
    assert (status, "the case or the file changed since it was shown; look at the diff again" in problem) == (409, True)
    assert path.read_bytes() == before


def test_a_draft_that_changed_after_the_diff_is_not_written(fresh: PlayPage) -> None:
    fresh.ask(case="museum")
    version = fresh.client.get("/api/state").json()["version"]
    fresh.client.put("/api/draft", json={"version": version, "answers": "9:00"})
    body = {"draft": True, "file": CASES, "case": "museum"}
    plan, before = save(fresh, **body, preview=True), (fresh.project / CASES).read_bytes()
    fresh.client.put("/api/draft", json={"version": version + 1, "answers": "noon"})  # in another tab
    status, problem = refusal(fresh, **body, preview=False, seen=plan["seen"])
    assert (status, "the case or the file changed since it was shown" in problem) == (409, True)
    assert (fresh.project / CASES).read_bytes() == before
    other = {**body, "file": "cases/play.jsonl"}
    assert refusal(fresh, **other, preview=False, seen=save(fresh, **body, preview=True)["seen"])[0] == 409


def test_an_answer_of_two_lines_is_one_right_answer(fresh: PlayPage) -> None:
    (fresh.project / "desk.py").write_text("def steps(query):\n    return 'Yes.\\nIt opens at 9:00.'\n")
    fresh.ask(question="Is it open?", system="steps")
    fresh.ask(chat=True, question="Is it open?", system="steps")
    for path, name in (("/", "right-text"), ("/chat", "chat-right-text")):
        page = fresh.client.get(path).text
        assert field(page, name) == "Yes. It opens at 9:00."
    assert field(page, "chat-gold") == ""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"evidence": [{"page": "docs/visit.md", "quote": "opens at noon"}]}, "opens at noon"),
        ({"evidence": [{"page": "docs/gone.md", "quote": "opens"}]}, "docs/gone.md"),
        ({"answers": []}, "no right answer"),
        ({"answers": [1]}, "answers"),
        ({"question": ""}, "question"),
        ({"passages": [{"id": "a"}]}, "text"),
    ],
)
def test_an_error_of_lint_blocks_saving(play: PlayPage, change: dict[str, Any], problem: str) -> None:
    before = (play.project / CASES).read_bytes()
    plan = save(play, record={**RECORD, **change}, file=CASES, preview=True)
    assert plan["blocked"] is True
    assert problem in "\n".join(plan["findings"])
    assert f"{CASES}:4" in plan["findings"][0]
    status, _ = refusal(play, record={**RECORD, **change}, file=CASES, preview=False, seen=plan["seen"])
    assert status == 400
    assert (play.project / CASES).read_bytes() == before


def test_a_duplicate_question_is_shown_with_its_id(play: PlayPage) -> None:
    record = {**RECORD, "question": "When does the museum open?"}
    plan = save(play, record=record, file=CASES, preview=True)
    assert plan["blocked"] is False
    assert any("museum" in each and "duplicate_question" in each for each in plan["findings"])


@pytest.mark.parametrize(
    ("file", "problem"),
    [("../cases.jsonl", "outside the project"), ("cases.txt", "ends with .jsonl"), ("/etc/x.jsonl", "outside")],
)
def test_only_json_lines_files_in_the_project_are_written(play: PlayPage, file: str, problem: str) -> None:
    status, message = refusal(play, record=RECORD, file=file, preview=True)
    assert (status, problem in message) == (400, True)


def test_invalid_requests_are_refused(play: PlayPage) -> None:
    assert "record" in refusal(play, preview=True)[1]
    assert "unknown key 'gold'" in refusal(play, record=RECORD, gold=1)[1]
    assert "kind" in play.client.post("/api/save", json={"kind": "sonnet", "record": {}}).json()["error"]


def test_a_new_file_gets_a_testbed_and_the_saved_case_replays_in_ci(tmp_path: Path) -> None:
    with OpenAIServer(reply="It opens at 9:00.") as server:
        ini = f"""
            [tool.pytest.ini_options]
            testpaths = ["tests"]
            rag_corpus = ["docs/*.md"]
            rag_model = "openai/m"
            rag_model_params = ["api_base = {server.base_url}", "api_key = sk-test"]
            rag_record_mode = "new_episodes"
            rag_cassettes = "cassettes"
        """
        project = play_project(tmp_path, **{"pyproject.toml": ini})
        with PlayPage(project) as page:
            page.wait()
            page.ask(question=RECORD["question"])
            number = page.client.get("/api/state").json()["answers"][-1]
            plan = save(page, record=RECORD, preview=True)
            assert plan["file"] == "cases/play.jsonl"
            assert plan["suite"]["file"] == "tests/play.rag.toml"
            assert plan["suite"]["text"].count("\n") == 6
            assert "a drop of 5 points needs" in plan["suite"]["text"]
            assert not (project / "cassettes").exists()
            files = save(page, record=RECORD, preview=False, seen=plan["seen"], answer=number)["written"]
            assert files == ["cases/play.jsonl", "tests/play.rag.toml", "recordings model-openai--m.jsonl"]
            again = {**RECORD, "question": "And when does the castle close?", "answers": ["18:00"], "evidence": []}
            assert save(page, record=again, preview=True)["suite"] is None
        request_count = len(server.requests)
        run = run_tests(project, "tests/play.rag.toml", "--rag-record-mode", "none")
        assert "1 passed" in run.stdout, run.stdout
        assert len(server.requests) == request_count


def test_the_draft_is_saved_with_its_edited_passages(fresh: PlayPage) -> None:
    fresh.ask(case="castle")
    version = fresh.client.get("/api/state").json()["version"]
    change = {
        "version": version,
        "passages": [{"key": 1, "text": "The castle opens at 12:15."}, {"key": 0, "on": False}, {"key": 2}],
        "answers": "12:15\na quarter past twelve",
        "with_passages": True,
    }
    assert fresh.client.put("/api/draft", json=change).status_code == 200
    plan = save(fresh, draft=True, case="castle", file=CASES, preview=True)
    record = json.loads(plan["line"])
    assert record["answers"] == ["12:15", "a quarter past twelve"]
    assert record["passages"] == [
        {"id": "right", "text": "The castle opens at 12:15.", "role": "positive"},
        {"id": "noise", "text": "The castle is old.", "role": "negative"},
    ]
    save(fresh, draft=True, case="castle", file=CASES, preview=False, seen=plan["seen"])
    assert "1 passed" in run_tests(fresh.project, "-k", record["id"]).stdout


def test_a_kill_while_the_server_saves_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    project = play_project(tmp_path)
    path, rng = project / CASES, random.Random(7)
    before = path.read_bytes()
    with PlayPage(project) as page:
        page.wait()
        record = {"question": "What about this?", "answers": ["9:00"]}
        plan = save(page, record=record, file=CASES, preview=True)
        body = {"kind": "record", "record": record, "file": CASES, "preview": False, "seen": plan["seen"]}
        with _send(page, body):
            time.sleep(rng.random() * 0.05)
        page.end(signal.SIGKILL)
    assert path.read_bytes() in (before, before + f"{plan['line']}\n".encode())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked at each moment")
def test_a_kill_at_20_moments_of_saving_leaves_each_file_old_or_new(tmp_path: Path) -> None:
    ini = """
        [tool.pytest.ini_options]
        testpaths = ["tests"]
        rag_corpus = ["docs/*.md"]
        rag_model = "openai/m"
        rag_record_mode = "new_episodes"
        rag_cassettes = "cassettes"
    """
    project = play_project(tmp_path, **{"pyproject.toml": ini})
    (project / "cases").mkdir()
    (project / "cases/play.jsonl").write_text('{"id": "a", "question": "Who?", "answers": ["I"]}\n')
    recordings = project / ".rageval/play/recordings/model-openai--m.jsonl"
    recordings.parent.mkdir(parents=True)
    with (ROOT / "example_project/cassettes/judge-openai--stand-in.jsonl").open() as stream:
        recordings.write_text("".join(next(stream) for _ in range(3)))
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "support.processes.killed_saves", "20"]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)])}
    result = subprocess.run(
        [*command, *read(recordings)], cwd=project, env=settings, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    first, *kills = (json.loads(line) for line in result.stdout.splitlines() if line[:1] == "{")  # pytest prints, too
    (cases, suite, cassette), before, whole = FILES, first["before"], first["whole"]
    assert before[cases] is not None
    assert (before[suite], before[cassette]) == (None, None)
    assert whole[cases].startswith(before[cases])
    assert whole[suite].count("\n") == 6
    assert whole[cassette].count("\n") == 3
    assert len(kills) == 20
    for kill in kills:
        remaining = kill["left"]
        assert remaining[cases] in (before[cases], whole[cases]), kill
        assert remaining[suite] in (None, whole[suite]), kill
        if remaining[cases] == whole[cases]:
            assert remaining[cassette] == whole[cassette], kill  # a saved case always has its recordings
        if remaining[suite] is not None:
            assert remaining[cases] == whole[cases], kill
    assert {kill["left"][cases] == whole[cases] for kill in kills} == {True, False}


def _send(page: PlayPage, body: dict[str, Any]) -> Any:
    import socket
    from contextlib import closing

    text = json.dumps(body).encode()
    (cookie,) = page.client.cookies.items()
    head = (
        f"POST /api/save HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nOrigin: {page.origin}\r\n"
        f"Cookie: {'='.join(cookie)}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    )
    connection = socket.create_connection(("127.0.0.1", page.port))
    connection.sendall(head.encode() + text)
    return closing(connection)
