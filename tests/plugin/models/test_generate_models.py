"""`rageval generate` with a model over HTTP: recordings, a budget, and a killed command."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.projects.model_plans import KEEP, item, model_plan, write_documents
from support.projects.model_projects import KEY, PRICES, Params, asks, stop
from support.projects.rag_project import Project
from support.servers.openai_replies import last_user
from support.servers.openai_server import Fault, OpenAIServer

HOUSES = 24
CELL = {("llm", "Town", "conversational_qa")}
START = "from pytest_rageval.cli import main; raise SystemExit(main())"


def houses(body: dict[str, Any]) -> str:
    """Draft a conversation about the house of a request, or accept the item of an inspection."""
    text: str = last_user(body)
    if "Item to inspect:" in text:
        return KEEP
    number = int(re.findall(r"house number (\d+)", text)[0])
    year = 1800 + 7 * number
    name, evidence = f"house {number} of street {number * 7919 % 1000}", f"built in the year {year}"
    turns = [
        item(f"In which year was {name} built?", str(year), evidence),
        item(f"And of what was it built, unlike the others {number} times?", "brick", "of brick"),
    ]
    return "One conversation:\n```json\n" + json.dumps([{"entity": name, "turns": turns}]) + "\n```"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply=houses) as running:
        yield running


@pytest.fixture
def town(project: Project, server: OpenAIServer) -> Project:
    """A project with documents about houses and a plan whose model is on the loopback."""
    texts = [f"The house number {n} was built in the year {1800 + 7 * n} of brick." for n in range(HOUSES)]
    write_documents(project.path, {f"Town/{n}.md": text for n, text in enumerate(texts)})
    settings(project, server)
    model_plan(project.path, "conversational_qa", model="openai/m", head="per_cell = 16")
    return project


def settings(project: Project, server: OpenAIServer, *ini: str, params: Params = PRICES) -> None:
    asks(project, server.base_url, [], *ini, params=params)


def generate(project: Project, out: str = "out", *more: str) -> tuple[int, str]:
    """Return the status and the output of `rageval generate plan.toml --out OUT`."""
    process = project.command("generate", "plan.toml", "--out", out, *more)
    return process.returncode, process.stdout + process.stderr


def files(folder: Path, *, replies: bool = True) -> dict[str, bytes]:
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in contents.items() if replies or not name.startswith("replies/")}


def test_drafts_of_a_model_over_http(town: Project, server: OpenAIServer) -> None:
    status, text = generate(town)
    assert (status, "16 drafts: 16 kept, 0 dropped" in text) == (0, True), text
    cases = [json.loads(line) for line in (town.path / "out/auto_train.jsonl").read_text().splitlines()]
    assert {(case["generator"], case["topic"], case["task"]) for case in cases} == CELL
    assert [len(case.get("history", ())) for case in sorted(cases, key=lambda case: case["round"])] == [0, 0, 1, 1]
    assert cases[0]["generated"]["by"] == "openai/m"
    assert cases[0]["generated"]["inspection"]["verdicts"] == [{"verdict": "keep", "reason": "fine"}]
    assert re.match(r"models: 16 calls, [\d,]+ tokens in prompts and [\d,]+ in replies, [\d.]+ USD\n", text)
    usage = json.loads((town.path / "out/manifest.json").read_text())["usage"]
    assert usage["calls"] == len(server.requests) == 16
    assert usage["cost_usd"] > 0


def test_generated_cases_run(town: Project) -> None:
    generate(town)
    town.file("pytest.ini", "[pytest]\nrag_corpus = docs/documents.jsonl")
    town.file(
        "test_it.py",
        """
        from pytest_rageval import rag_case

        @rag_case("jsonl:out/auto_test.jsonl", metrics=["has_answer"], gates=["has_answer >= 0.1"])
        def test_it(rag): ...
        """,
    )
    run = town.run()
    assert run.status == 0, run.text


def test_a_second_call_asks_nothing_and_gives_the_same_bytes(town: Project, server: OpenAIServer) -> None:
    generate(town)
    before = files(town.path / "out")
    stop(server)
    assert generate(town)[0] == 0
    assert files(town.path / "out") == before


def test_finish_asks_nothing_and_changes_no_file(town: Project, server: OpenAIServer) -> None:
    generate(town)
    before = files(town.path / "out")
    stop(server)
    assert generate(town, "out", "--finish")[0] == 0
    assert files(town.path / "out") == before


def test_concurrency_changes_no_byte(town: Project, server: OpenAIServer) -> None:
    generate(town, "one")
    settings(town, server, "rag_concurrency = 1")
    server.delay_s = lambda number, body: 0.002 * (number % 5)
    generate(town, "two")
    assert files(town.path / "one") == files(town.path / "two")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_command_resumes_with_the_same_bytes_and_asks_nothing_twice(
    town: Project, server: OpenAIServer, end: signal.Signals
) -> None:
    generate(town, "whole")
    whole, replies = files(town.path / "whole"), Counter[str]()
    server.requests.clear()

    def reply(body: dict[str, Any]) -> str:
        replies[json.dumps(body["messages"])] += 1
        return houses(body)

    server.reply = reply
    server.plan = lambda number, body: Fault("hang") if number > 6 else None
    process = subprocess.Popen(
        [sys.executable, "-c", START, "generate", "plan.toml", "--out", "out"],
        cwd=town.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    replies_file = town.path / "out/replies/model-openai--m.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (replies_file.exists() and replies_file.read_bytes().count(b"\n") == 6):
        time.sleep(0.01)
    process.send_signal(end)
    output = process.communicate(timeout=60)[0].decode()
    assert process.returncode == (130 if end == signal.SIGINT else -end)
    assert "Traceback" not in output
    assert sum(replies.values()) == 6
    assert set(files(town.path / "out", replies=False)) == set()
    server.plan = None
    assert generate(town)[0] == 0
    assert files(town.path / "out") == whole
    assert set(replies.values()) == {1}
    assert len(replies) == 16


def test_a_project_that_records_replays_without_a_server_and_a_key(town: Project, server: OpenAIServer) -> None:
    settings(town, server, "rag_record_mode = once")
    generate(town, "one")
    assert (town.path / "cassettes").is_dir()
    assert not (town.path / "one/replies").exists()
    stop(server)
    ini = (town.path / "pytest.ini").read_text().replace(f"api_key = {KEY}", "").replace("= once", "= none")
    town.file("pytest.ini", ini)
    assert generate(town, "two")[0] == 0
    assert files(town.path / "one") == files(town.path / "two")


def test_a_request_without_a_recording_is_counted_as_an_error(town: Project, server: OpenAIServer) -> None:
    settings(town, server, "rag_record_mode = new_episodes")
    generate(town, "one")
    settings(town, server, "rag_record_mode = none")
    stop(server)
    plan = town.path / "plan.toml"
    plan.write_text(plan.read_text().replace("per_cell = 16", "per_cell = 18"))
    status, text = generate(town, "two")
    assert status == 1
    assert "task=conversational_qa: 16 of 18 wanted cases (error: 2 calls failed (not_recorded)" in text


def test_a_budget_stops_the_calls_and_holds_over_several_runs(town: Project, server: OpenAIServer) -> None:
    settings(town, server, params={**PRICES, "max_tokens": 60})
    plan = town.path / "plan.toml"
    plan.write_text(plan.read_text() + "budget_usd = 5\n")
    status, text = generate(town)
    assert (status, "(budget)" in text) == (1, True), text
    cost = json.loads((town.path / "out/manifest.json").read_text())["usage"]["cost_usd"]
    assert 1 < cost <= 5
    requests_before = len(server.requests)
    assert generate(town)[0] == 1
    assert len(server.requests) - requests_before <= 1


def test_a_budget_below_the_first_call_is_refused(town: Project, server: OpenAIServer) -> None:
    settings(town, server, params={**PRICES, "max_tokens": 60})
    plan = town.path / "plan.toml"
    plan.write_text(plan.read_text() + "budget_usd = 0.01\n")
    status, text = generate(town)
    assert (status, len(server.requests)) == (2, 0)
    assert "the budget of $0.01 would be passed" in text
    assert "raise budget_usd in [model]" in text


def test_failed_calls_are_retried(town: Project, server: OpenAIServer) -> None:
    failures = set[str]()

    def plan(number: int, body: dict[str, Any]) -> Fault | None:
        text = last_user(body)
        if text in failures:
            return None
        failures.add(text)
        return Fault("status", 429, retry_after=0.01)

    server.plan = plan
    status, text = generate(town)
    assert (status, "16 drafts: 16 kept" in text) == (0, True), text


def test_a_dry_run_counts_calls_and_asks_nothing(town: Project, server: OpenAIServer) -> None:
    stop(server)
    process = town.command("generate", "plan.toml", "--dry-run")
    assert process.returncode == 0
    lines = process.stdout.splitlines()
    drafts_line = "drafts wanted: 16, in 1 cell of a topic and a task, less what rules draft"
    assert {f"chunks with a topic: {HOUSES}, topics: 1", drafts_line} <= {*lines}
    calls = re.fullmatch(
        r"calls: about 24 \(8 for drafts, 16 to inspect them\), tokens: about [\d,]+ in prompts and [\d,]+ in replies, "
        r"cost: about [\d,.]+ USD",
        lines[-1],
    )
    assert calls, lines
    assert not (town.path / "out").exists()


def test_a_dry_run_counts_recorded_calls(town: Project, server: OpenAIServer) -> None:
    generate(town)
    stop(server)
    process = town.command("generate", "plan.toml", "--dry-run", "--out", "out")
    assert "8 of those for drafts are recorded" in process.stdout


def test_a_model_without_documents_is_refused(town: Project) -> None:
    town.file("plan.toml", '[model]\nname = "openai/m"')
    status, text = generate(town)
    assert status == 2
    assert "plan.toml:2: [model] drafts from documents, and the plan has none; add a [[corpus]]" in text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('modle = "x"', "unknown key 'modle' in [model]; known: budget_usd"),
        ("budget_usd = 0", "[model] budget_usd: found 0, wanted a number above 0"),
        ('prompts = {fr = "fr.toml"}', "unknown key 'fr' in [model.prompts]"),
        ('prompts = {en = "gone.toml"}', "gone.toml: cannot be read"),
        ('prompts = {en = "bad.toml"}', "bad.toml:1: draft_user: the placeholder {task} is missing"),
        ('prompts = {en = "odd.toml"}', "odd.toml:1: unknown key 'draft'"),
        ('inspector = "script:gone.toml"', "script:gone.toml cannot be used: there is no file 'gone.toml'"),
    ],
)
def test_a_bad_model_is_refused(town: Project, line: str, problem: str) -> None:
    town.file("bad.toml", 'draft_user = "{documents}"')
    town.file("odd.toml", 'draft = "x"')
    plan = town.path / "plan.toml"
    plan.write_text(plan.read_text() + line + "\n")
    status, text = generate(town)
    assert (status, len(text.splitlines())) == (2, 1), text
    assert problem in text


def test_tables_without_a_drafting_model_are_asked_closed_book(project: Project) -> None:
    project.file("staff.csv", "name,city\nAnn Lee,Oslo\nBo Ek,Bergen")
    project.file("know.toml", '[[reply]]\nwhen = "Ann Lee"\ntext = "In Oslo."\n[[reply]]\ntext = "I do not know."')
    project.file(
        "plan.toml",
        """
        [[table]]
        path = "staff.csv"
        [[template]]
        table = "staff"
        ask = "Where does {name} work?"
        answer = "{city}"
        [leakage]
        closed_book = "script:know.toml"
        """,
    )
    status, text = generate(project)
    assert status == 0, text
    drafts = [json.loads(line) for line in (project.path / "out/drafts.jsonl").read_text().splitlines()]
    assert {each["question"]: each["facets"]["knew"] for each in drafts} == {
        "Where does Ann Lee work?": "true",
        "Where does Bo Ek work?": "false",
    }
    report = (project.path / "out/report.md").read_text()
    assert "| staff | extractive_qa | 2 | 1 | 50.0 % |" in report.replace("\\", "")
    calls_line = project.command("generate", "plan.toml", "--dry-run").stdout.splitlines()[-1]
    assert re.fullmatch(
        r"calls: 2 of script:know.toml without passages, tokens: about \d+ in prompts and 40 in replies, cost: 0 USD",
        calls_line,
    ), calls_line
    plan = (project.path / "plan.toml").read_text().replace('closed_book = "script:know.toml"', "drop_known = true")
    project.file("plan.toml", plan)
    assert "plan.toml:8: drop_known needs a model; add closed_book" in generate(project)[1]


def reword(body: dict[str, Any]) -> str:
    """Reword a question; lose the name of Bo Ek."""
    question = re.findall(r"> Where does (.*) work", last_user(body))[0]
    return json.dumps({"question": f"In which city is {question.replace('Bo Ek', 'somebody')} employed?"})


@pytest.fixture
def staff(project: Project, server: OpenAIServer) -> Project:
    """A project with a table and no documents, whose model rewords questions."""
    server.reply = reword
    project.file("staff.csv", "name,city\nAnn Lee,Oslo\nBo Ek,Bergen\nCy Moe,Oslo")
    project.file(
        "plan.toml",
        """
        [[table]]
        path = "staff.csv"
        [[template]]
        table = "staff"
        ask = "Where does {name} work?"
        answer = "{city}"
        paraphrase = true
        [model]
        name = "openai/m"
        """,
    )
    return project


def test_rewordings_are_replayed_without_a_server_and_a_key(staff: Project, server: OpenAIServer) -> None:
    settings(staff, server, "rag_record_mode = once")
    status, text = generate(staff, "one")
    assert (status, len(server.requests)) == (0, 3), text
    line = "other wordings of openai/m: 2 kept, 1 refused (1 value_missing)"
    assert line in text.splitlines()
    assert line in (staff.path / "one/report.md").read_text().replace("\\", "")
    drafts = [json.loads(line) for line in (staff.path / "one/drafts.jsonl").read_text().splitlines()]
    assert {each["question"] for each in drafts} == {
        "In which city is Ann Lee employed?",
        "In which city is Cy Moe employed?",
        "Where does Bo Ek work?",
    }
    assert json.loads((staff.path / "one/manifest.json").read_text())["usage"]["calls"] == 3
    stop(server)
    ini = (staff.path / "pytest.ini").read_text().replace(f"api_key = {KEY}", "").replace("= once", "= none")
    staff.file("pytest.ini", ini)
    assert generate(staff, "two")[0] == 0
    assert files(staff.path / "one") == files(staff.path / "two")
    assert generate(staff, "two", "--finish")[0] == 0
    assert files(staff.path / "one") == files(staff.path / "two")
    calls = staff.command("generate", "plan.toml", "--dry-run").stdout.splitlines()[-1]
    assert calls.startswith("calls: 3 of openai/m for other wordings, 3 are recorded, tokens: about "), calls


def test_a_failed_rewording_is_asked_again_by_the_next_run(staff: Project, server: OpenAIServer) -> None:
    settings(staff, server)
    server.plan = lambda number, body: Fault("status", 400) if "Cy Moe" in last_user(body) else None
    plan = staff.path / "plan.toml"
    plan.write_text("per_cell = 3\n" + plan.read_text())
    status, text = generate(staff)
    assert status == 1, text
    assert "2 of 3 wanted cases (error: 1 call failed (bad_request), 1 model_error)" in text
    server.plan = None
    server.requests.clear()
    status, text = generate(staff)
    assert (status, len(server.requests)) == (0, 1), text
