"""The command `rageval play`: access, cases, runs, a second process, restarts."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from support.projects.play_project import PlayPage, play_project, run_tests
from support.servers.openai_server import OpenAIServer
from support.servers.page_process import PLAY, start_page

from pytest_rageval.cli import main
from pytest_rageval.web.play.code_changes import CodeChanges

MUSEUM = "tests/town.rag.toml::town[museum]"
CANARY = "9:00-canary-gold"
needs_proc = pytest.mark.skipif(not Path("/proc/net/tcp").is_file(), reason="this system lists no sockets in /proc")


def plain(page: str) -> str:
    return re.sub("<.*?>", "", page)


def test_a_case_that_does_not_exist_ends_the_command_at_once(tmp_path: Path) -> None:
    project = play_project(tmp_path)
    run_tests(project)
    for args in ((), ("--run", "latest")):
        command = [sys.executable, *PLAY, "--case", "nosuch", *args]
        result = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)
        assert (result.returncode, result.stdout.strip()) == (2, ""), result.stderr
        assert result.stderr.startswith("rageval: unknown case 'nosuch'; known: ")
        assert result.stderr.count("\n") == 1


def test_a_request_without_the_cookie_or_from_another_site_is_refused(play: PlayPage) -> None:
    body = {"question": "When?"}
    assert httpx.post(f"{play.origin}/api/ask", json=body, headers={"Origin": play.origin}).status_code == 403
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        assert play.client.post("/api/ask", json=body, headers=headers).status_code == 403
    for path in ("/", "/run", "/api/state"):
        assert httpx.get(f"{play.origin}{path}").status_code == 403


@needs_proc
def test_the_server_listens_only_on_127_0_0_1(play: PlayPage) -> None:
    sockets = {os.readlink(each) for each in Path(f"/proc/{play.process.pid}/fd").iterdir() if each.is_symlink()}
    fields = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [each[1] for each in fields if f"socket:[{each[9]}]" in sockets and each[3] == "0A"]
    assert listening == [f"0100007F:{play.port:04X}"]


def test_cases_are_searched_by_words_facets_and_misses(play: PlayPage) -> None:
    def search(**query: str) -> list[str]:
        return re.findall(r'value="(tests/.*?)"', play.client.get("/cases", params=query).text)

    assert search(words="") == [f"tests/town.rag.toml::town[{name}]" for name in ("museum", "boats", "castle")]
    assert search(words="OPEN castle") == ["tests/town.rag.toml::town[castle]"]
    assert search(words="topic=Hours museum") == [MUSEUM]
    assert search(words="", missed="1") == ["tests/town.rag.toml::town[boats]"]
    assert search(words='topic="No such') == []


def test_a_case_of_a_run_is_shown_with_its_passages_without_asking_again(play: PlayPage) -> None:
    before = play.client.get("/api/state").json()["answers"]
    list_text = plain(play.client.get("/run", params={"run": "latest", "missed": "1"}).text)
    assert "How often do boats leave?" in list_text
    assert "When does the museum open?" not in list_text
    for name in ("boats", "tests/town.rag.toml::town[boats]"):
        case_text = plain(play.client.get("/run", params={"run": "latest", "case": name}).text)
        assert "Boats leave the harbour every hour." in case_text
        assert "every two hours" in case_text
        assert "Not in the passages: every two hours" in case_text
    state = play.client.get("/api/state").json()
    assert state["answers"] == before
    version = state["version"]
    form = {"run": "latest", "case": "castle", "passages": "1", "version": str(version)}
    assert play.client.post("/run/take", data=form).status_code == 303
    events = dict(play.ask(draft=True))
    assert "11:00" in events["answer"]["text"]
    for query, error in (({"run": "nosuch"}, "nosuch"), ({"run": "latest", "case": "nobody"}, "unknown case")):
        answer = play.client.get("/run", params=query)
        assert (answer.status_code, error in answer.text) == (400, True)


def test_code_of_a_folder_with_a_longer_name_is_not_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("beside")
    module.__file__ = str(tmp_path / "app_lib" / "beside.py")  # a missing file counts as changed
    monkeypatch.setitem(sys.modules, "beside", module)
    assert CodeChanges(tmp_path / "app").first_changed_file() == ""
    module.__file__ = str(tmp_path / "app" / "beside.py")
    assert CodeChanges(tmp_path / "app").first_changed_file() == "beside.py"


def test_changed_code_is_reported(play: PlayPage) -> None:
    play.ask(question="When?", system="steps")
    assert play.client.get("/api/state").json()["changed_code"] == ""
    desk = play.project / "desk.py"
    text = desk.read_text()
    desk.write_text(text + "# more\n")
    assert play.client.get("/api/state").json()["changed_code"] == "desk.py"
    desk.write_text(text)
    os.utime(desk, (0, 0))


def test_a_second_command_opens_the_page_of_the_first_at_its_case(play: PlayPage) -> None:
    process = start_page(play.project, "--run", "latest", "--case", MUSEUM, program=PLAY)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    url = re.search(r"already runs: (\S+)", out)
    assert url is not None
    assert url[1].startswith(f"{play.base}run?token={play.token}&run=latest&case=")
    with httpx.Client() as client:
        assert "When does the museum open?" in client.get(url[1], follow_redirects=True).text


def test_edits_survive_a_kill_and_two_tabs_do_not_overwrite_each_other(tmp_path: Path) -> None:
    project = play_project(tmp_path)
    with PlayPage(project, "--case", "museum") as first:
        assert first.url.endswith("&case=museum")
        first.wait()
        assert "[museum]" in first.client.get("/", params={"case": "museum"}, follow_redirects=True).text
        version = first.client.get("/api/state").json()["version"]
        change = {"version": version, "question": "When does it open?"}
        assert first.client.put("/api/draft", json=change).json() == {"version": version + 1}
        conflict = first.client.put("/api/draft", json=change)
        assert conflict.status_code == 409
        assert conflict.json()["error"] == "the page: it was changed in another tab"
        assert conflict.json()["hint"].startswith("reload it")
        assert "version" in first.client.put("/api/draft", json={"question": "x"}).json()["error"]
        first.ask(question="Where?")
        first.client.put("/api/draft", json={**change, "version": version + 2})
        first.end(signal.SIGKILL)
    with PlayPage(project) as second:
        second.wait()
        page = second.client.get("/").text
        assert "When does it open?" in page
        assert "Where?" in page
        assert second.end(signal.SIGINT) < 6
        assert second.process.returncode == 0


def test_a_chain_that_does_not_parse_is_shown_with_its_line(tmp_path: Path) -> None:
    chain = '[[action]]\nname = "a"\ndo = "retreive"\n'
    with PlayPage(play_project(tmp_path, **{"bad.toml": chain}), "bad.toml") as page:
        state = page.wait()
        assert "bad.toml:3" in state["problem"]
        assert "bad.toml:3" in plain(page.client.get("/").text)
        answer = page.client.post("/api/ask", json={"question": "When?"})
        assert (answer.status_code, "bad.toml:3" in answer.json()["error"]) == (400, True)


MISSING = "--dataset: no such file or folder as 'none.jsonl' in the current folder or the rootdir"


@pytest.mark.parametrize(
    ("dataset", "problem"),
    [
        ("jsonl:none.jsonl", MISSING),
        ("nosuch:none.jsonl", f"{MISSING}; 'nosuch' is no built-in dataset format either (beir, "),
        (f"jsonl:{'x' * 5000}", "cannot be used: File name too long"),
    ],
    ids=["no file", "no format", "too long"],
)
def test_a_missing_dataset_is_refused_before_the_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], dataset: str, problem: str
) -> None:
    monkeypatch.chdir(play_project(tmp_path))
    assert main(["play", "--dataset", dataset]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines()), problem in err) == ("", 1, True), err


def test_records_of_a_dataset_are_asked_with_the_fixtures_of_the_tests(tmp_path: Path) -> None:
    project = play_project(tmp_path)
    conftest = project / "tests" / "conftest.py"
    conftest.write_text(
        "import pytest\n\n@pytest.fixture(scope='session')\ndef rag_system():\n"
        "    return lambda query: f'own: {query.question} {len(query.passages or ())}'\n"
    )
    with PlayPage(project, "--dataset", "jsonl:tests/cases.jsonl") as page:
        state = page.wait()
        assert (state["systems"][0], state["cases"], state["problem"]) == ("rag_system", 3, "")
        answers = [dict(page.ask(**body))["answer"]["text"] for body in ({"case": "castle"}, {"question": "Hm?"})]
        assert answers == ["own: When does the castle open? 3", "own: Hm? 0"]


def test_no_request_holds_gold_and_calls_are_recorded_outside_the_project_cassettes(tmp_path: Path) -> None:
    with OpenAIServer(reply="At nine.") as server:
        ini = f"""
            [tool.pytest.ini_options]
            testpaths = ["tests"]
            rag_corpus = ["docs/*.md"]
            rag_model = "openai/m"
            rag_model_params = ["api_base = {server.base_url}", "api_key = sk-test"]
            rag_record_mode = "new_episodes"
            rag_cassettes = "cassettes"
            rag_systems = ["ask: chain:ask.toml", "agent: react"]
        """
        chain = '[[action]]\nname = "found"\ndo = "retrieve"\nquery = "{question}"\n' + (
            '[[action]]\nname = "reply"\ndo = "generate"\nprompt = "{found}\\n{question}"\n'
        )
        project = play_project(tmp_path, **{"pyproject.toml": ini, "ask.toml": chain})
        record = {"id": "museum", "question": "When does the museum open?", "answers": [CANARY], "slots_note": "x"}
        (project / "tests" / "cases.jsonl").write_text(json.dumps(record) + "\n")
        with PlayPage(project) as page:
            assert page.wait()["record_mode"] == "new_episodes"
            for system in ("llm", "ask", "agent"):
                events = dict(page.ask(case="museum", system=system))
                assert {"answer", "scores"} <= {*events}, events
            request_count = len(server.requests)
            assert request_count >= 3
            again = dict(page.ask(case="museum", system="llm"))
            assert again["answer"]["replayed"] is True
            assert len(server.requests) == request_count
            assert page.client.get("/api/state").json()["calls"]["replayed"] == 1
        assert CANARY not in json.dumps([each.body for each in server.requests])
        assert [path.name for path in (project / ".rageval/play/recordings").glob("*.jsonl")] == [
            "model-openai--m.jsonl"
        ]
        assert not (project / "cassettes").exists()


def test_the_server_starts_within_5_seconds_of_cpu(tmp_path: Path) -> None:
    project, before = play_project(tmp_path), children_cpu()
    with PlayPage(project, anew=True) as page:
        assert page.client.get("/").status_code == 200
    assert children_cpu() - before < 5  # 1.2 s on an idle machine; see tests/benchmarks/play.py


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
