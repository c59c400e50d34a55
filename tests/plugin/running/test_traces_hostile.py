"""Hostile values of steps lose no case, and no hidden text or secret is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, cases

SEARCHES = """
    import pytest
    from pytest_rageval import tracing

    @tracing.tool
    def clock(zone):
        raise LookupError(f"no zone {zone}")

    @tracing.tool
    def search(title):
        with tracing.retrieve(title, retriever="shelf") as retrieval:
            retrieval.passages = [{"id": "d1", "text": f"{title} is large.", "score": 0.5}]
        return f"{title} is large."

    def agent(query):
        word = query.question.split()[-1]
        try:
            clock(word)
        except LookupError:
            pass
        search(word)
        return word

    @pytest.fixture(scope="session")
    def rag_system():
        return agent
"""

HOSTILE = """
    import math
    import pytest
    from pytest_rageval import Answer, Step, tracing

    class Mute:
        def __repr__(self):
            raise ValueError("no repr")

    class Broken(dict):
        def items(self):
            raise ValueError("no items")

    cycle = []
    cycle.append(cycle)
    deep = []
    for _ in range(10_000):
        deep = [deep]
    VALUES = [Mute(), Broken(a=1), cycle, deep, math.nan, "half \\ud83d", "NUL \\0", b"bytes", {1, 2}, 10**5000,
              {None: 1, (1, 2): object}, "x" * 2**20, print]

    @tracing.tool
    def echo(value):
        return value

    def agent(query):
        for value in VALUES:
            echo(value)
        with tracing.retrieve("\\ud83d\\0") as retrieval:
            retrieval.passages = [{"id": "\\ud83d", "text": "\\0" * 2**20}]
        return "Paris"

    def returns(query):
        steps = [Step("tool", {"name": "echo", "arguments": value, "parent": value}) for value in VALUES]
        return Answer("Paris", trace=(*steps, Step("end", Broken(reason=Mute()))))

    @pytest.fixture(scope="session")
    def rag_system():
        return lambda query: (agent if query.question == "collect" else returns)(query)
"""


def test_no_value_of_a_step_loses_its_case(project: Project, mode: Mode) -> None:
    project.says(cases("collect", "return"), conftest=HOSTILE)
    run = project.run(*mode, "--rag-html", "page.html", "-pno:cacheprovider")
    assert "INTERNALERROR" not in run.text
    outcomes = run.results["outcomes"]
    assert [outcome["status"] for outcome in outcomes] == ["scored", "scored"]
    traces = [outcome["answer"]["trace"] for outcome in outcomes]
    assert sorted(map(len, traces)) == [14, 15]
    longest = max(traces, key=len)
    results = [step["detail"]["result"] for step in longest[:13]]
    assert results[0] == "<Mute, whose repr raises ValueError>"
    assert results[4:7] == ["nan", "half \\ud83d", "NUL \x00"]
    assert len(results[11]) == 20_000 + len(" […1028576 characters…] ")
    assert all(len(json.dumps(result)) < 2_000 for at, result in enumerate(results) if at != 11)
    process = project.command("show", "--case", "q1")
    assert (process.returncode, process.stderr) == (0, "")
    assert project.command("export", "--as", "traces", "--out", "out").returncode == 0


def test_no_text_of_a_trace_is_written_if_texts_are_left_out(project: Project) -> None:
    project.says(cases("say Lisbon"), conftest=SEARCHES)
    project.file("pytest.ini", "[pytest]\nrag_report_texts = false\n")
    run = project.run()
    trace = run.outcomes["q1"]["answer"]["trace"]
    assert [step["detail"] | {"seconds": 0} for step in trace] == [
        {"seconds": 0, "name": "clock", "error": "LookupError"},
        {"seconds": 0, "name": "search"},
        {"parent": 1, "seconds": 0, "retriever": "shelf", "passages": [{"id": "d1", "score": 0.5}]},
        {"reason": "finished", "seconds": 0},
    ]
    files = [path for path in (project.path / ".rageval").rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if b"Lisbon" in path.read_bytes()] == []


def test_secrets_are_masked_in_traces(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "sk-51Hx9QpZr7")
    project.says(cases("say sk-51Hx9QpZr7"), conftest=SEARCHES)
    run = project.run()
    assert run.outcomes["q1"]["answer"]["trace"][1]["detail"]["arguments"] == {"title": "<SHOP_API_KEY>"}
    files = [path for path in (project.path / ".rageval").rglob("*") if path.is_file()]
    assert [path for path in files if b"51Hx9Qp" in path.read_bytes()] == []


OUTAGE = """
    from pathlib import Path
    import pytest
    from pytest_rageval import tracing

    @tracing.tool
    def search(title):
        if not Path("up").exists():
            raise ConnectionError("refused")
        return title

    def agent(query):
        try:
            return search("Paris")
        except ConnectionError as error:
            tracing.end("tool_unavailable", str(error))
            return ""

    @pytest.fixture(scope="session")
    def rag_system():
        return agent
"""


def test_an_outage_is_an_error_that_a_resumed_run_asks_again(project: Project) -> None:
    gates = "gates=['accuracy >= 0', 'error_rate <= 0.5']"
    project.says(cases("?", "?"), gates, conftest=OUTAGE)
    run = project.run()
    for outcome in run.outcomes.values():
        assert (outcome["status"], outcome["error_type"], outcome["scores"]) == ("error", "tool_unavailable", {})
        assert [step["kind"] for step in outcome["answer"]["trace"]] == ["tool", "end"]
    assert [gate["status"] for gate in run.results["gates"]] == ["failed", "failed"]
    run.said("*2 cases, 2 errors, *", "*1 error tool_unavailable: 2 of 2 cases*")
    project.file("up", "")
    again = project.run("--rag-resume", fresh=False)
    assert again.statuses == {"q1": "scored", "q2": "scored"}
    assert [gate["status"] for gate in again.results["gates"]] == ["passed", "passed"]


RECORDS_FUNCTIONS = """
    import asyncio
    import pytest
    from pytest_rageval import recorded, tracing

    @tracing.tool
    def search(title):
        with tracing.retrieve(title) as retrieval:
            retrieval.passages = [{"id": "d1", "text": "Paris."}]
        return title

    @recorded
    async def ask(question):
        await asyncio.sleep(0.01)
        search(question)
        return "Paris"

    @recorded
    def answer(question):
        search(question)
        return "Paris"

    async def agent(query):
        with tracing.step("plan"):
            await asyncio.gather(ask(query.question), asyncio.to_thread(answer, query.question))
        return "Paris"

    @pytest.fixture(scope="session")
    def rag_system():
        return agent
"""


def test_a_replayed_function_has_the_steps_of_its_recording(project: Project) -> None:
    project.says(cases("a", "b"), "gates=['tool_calls <= 2', 'tool_calls >= 2']", conftest=RECORDS_FUNCTIONS)
    live = project.run("--rag-record-mode", "all")
    replayed = project.run("--rag-record-mode", "none")
    for run in (live, replayed):
        assert [gate["status"] for gate in run.results["gates"]] == ["passed", "passed"]
    traces = [shape(run.outcomes[name]) for name in ("q1", "q2") for run in (live, replayed)]
    assert traces[0] == traces[1]
    assert traces[2] == traces[3]
    kinds = [(kind, detail.get("parent")) for kind, detail in traces[0]]
    assert sorted(kinds, key=str) == sorted(
        [("plan", None), ("tool", 0), ("retrieve", 1), ("tool", 0), ("retrieve", 3), ("end", None)], key=str
    )
    seconds = [step["detail"].get("seconds") for step in replayed.outcomes["q1"]["answer"]["trace"]]
    assert [each is None for each in seconds] == [False, True, True, True, True, True]


def shape(outcome: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the steps without their seconds."""
    steps = outcome["answer"]["trace"]
    return [(step["kind"], {**step["detail"], "seconds": None}) for step in steps]
