"""`--rag-shrink` and `rageval shrink`: the smallest context that still breaks a missed case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.projects.model_projects import PRICES, asks, loaded, stop  # noqa: F401
from support.projects.rag_project import MODES, Mode, Project, Row
from support.servers.openai_replies import last_user
from support.servers.openai_server import OpenAIServer

LAST = """
    import re
    import pytest
    from pytest_rageval import Answer, Ranking, ScoredPassage

    STORE = {}

    {kind} last(query):
        passages = query.passages or ()
        times = [time for each in passages for time in re.findall(r"opens at ([0-9:]+)", each.text)]
        with open("log.txt", "a") as log:
            log.write(" ".join(each.id for each in passages) + "\\n")
        return times[-1] if times else "I do not know."

    @pytest.fixture(scope="session")
    def rag_system():
        yield last
        with open("log.txt", "a") as log:
            log.write("torn down\\n")
"""
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.3"])
    def test_museum(rag):
        ...
"""
SUITE = """
    [[testbed]]
    name = "museum"
    dataset = "jsonl:cases.jsonl"
    metrics = ["accuracy"]
"""


def passage(name: str, text: str) -> Row:
    return {"id": name, "text": text, "role": "positive" if name[0] == "p" else "negative"}


P0 = passage("p0", "The museum opens at 9:00.")
N0 = passage("n0", "The ferry leaves at 8:15.")
W0 = passage("w0", "The museum is old. The museum opens at 10:00. It is large.")
N1 = passage("n1", "Soup costs 12 euros.")


def record(name: str, *passages: Row, **more: Any) -> Row:
    question = "When does the museum open?"
    return {"id": name, "question": question, "answers": ["9:00"], "passages": list(passages), "topic": "Hours", **more}


MISLEADING, LACKING, RIGHT = record("q17", P0, N0, W0, N1), record("q18", N0, N1), record("q19", P0)
LINES = [
    '*museum[[]q17]   4 passages -> 1, 2nd of 3 sentences: w0 "The museum opens at 10:00."   * calls',
    "*without w0 right in all 2 contexts; with p0 + w0 wrong: the context, not its absence, breaks it",
]


def museum(project: Project, *rows: Row, kind: str = "def") -> None:
    project.data(rows or (MISLEADING, LACKING, RIGHT))
    project.file("conftest.py", LAST.replace("{kind}", kind))
    project.file("test_museum.py", TEST)


def log(project: Project) -> list[str]:
    return (project.path / "log.txt").read_text().splitlines()


@pytest.mark.parametrize("mode", [MODES["plain"], MODES["no-xdist"]])
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_the_worst_missed_cases_are_shrunk_after_all_tests(project: Project, mode: Mode, kind: str) -> None:
    museum(project, kind=kind)
    run = project.run("--rag-shrink", *mode)
    assert run.status == 0, run.text
    run.said("smallest contexts that break a case", *LINES, "*museum[[]q18]   2 passages -> 0: it misses without any *")
    log_lines = log(project)
    assert log_lines[-1] == "torn down"
    assert log_lines.count("torn down") == 1  # the fixture is set up once for tests and contexts
    assert run.statuses == {"q17": "scored", "q18": "scored", "q19": "scored"}
    assert [gate["n"] for gate in run.results["gates"]] == [3]
    run.said("*2 passed, 2 missed*")  # the gate is the second


def test_only_the_worst_n_are_shrunk(project: Project) -> None:
    museum(project)
    run = project.run("--rag-shrink=1")
    run.said("1 more cases missed; give --rag-shrink=2")
    assert run.text.count(" passages -> ") == 1


def test_an_early_stop_is_not_reported_as_nothing_to_shrink(project: Project) -> None:
    museum(project)
    project.file("test_zz.py", "def test_fails():\n    assert False")
    run = project.run("--rag-shrink", "-x")
    run.said("the session ended before all missed cases were shrunk")
    assert "nothing to shrink" not in run.text


def test_cases_of_one_name_in_two_files_have_their_node_ids(project: Project) -> None:
    museum(project, MISLEADING)
    project.file("test_other.py", TEST)
    run = project.run("--rag-shrink")
    run.said("test_museum.py::test_museum[[]q17]   4 *", "test_other.py::test_museum[[]q17] * 4 *")


def test_nothing_is_shrunk_if_no_case_missed(project: Project) -> None:
    museum(project, RIGHT)
    project.run("--rag-shrink").said("no case missed; nothing to shrink")


def test_a_case_of_a_suite_with_a_function_scoped_system_is_shrunk(project: Project) -> None:
    museum(project, MISLEADING)
    (project.path / "test_museum.py").unlink()
    project.file("conftest.py", LAST.replace("{kind}", "def").replace('(scope="session")', ""))
    project.file("museum.rag.toml", SUITE)
    run = project.run("--rag-shrink")
    assert run.status == 0, run.text
    run.said(*LINES)


def test_cases_of_a_resumed_run_are_shrunk_too(project: Project) -> None:
    museum(project, MISLEADING, record("q20", P0, W0, question="Who fails?"))
    conftest = project.path / "conftest.py"
    whole = conftest.read_text()
    conftest.write_text(whole.replace("passages =", "assert query.question != 'Who fails?'\n    passages =", 1))
    assert project.run().statuses == {"q17": "scored", "q20": "error"}
    conftest.write_text(whole)
    run = project.run("--rag-resume", "--rag-shrink", fresh=False)
    run.said("*1 of 2 cases taken over*")
    run.said(LINES[0], "*museum[[]q20]   2 passages -> 1*")


def test_a_case_that_missed_in_several_repeats_is_shrunk_once(project: Project) -> None:
    museum(project, MISLEADING)
    project.file("pytest.ini", "[pytest]\naddopts = --rag-repeat 2")
    run = project.run("--rag-shrink")
    assert run.text.count(" passages -> ") == 1
    run.said("*museum[[]q17-repeat=1]   4 passages -> 1, 2nd of 3 *")
    (project.path / "log.txt").unlink()
    process = project.command("shrink", "test_museum.py::test_museum[q17-repeat=2]")
    assert "4 passages -> 1" in process.stdout
    assert log(project).count("w0") == 1 + 3 + 2  # whole, each of three sentences, and one of them twice more


def test_a_listing_of_the_tests_shrinks_nothing(project: Project) -> None:
    museum(project)
    assert "shrunk" not in project.run("--rag-shrink", "--collect-only").text


def test_the_id_of_a_case_does_not_select_its_variants(project: Project) -> None:
    museum(project, MISLEADING)
    arguments = "metrics=['accuracy'], relations=['typo', 'remove_evidence'], variants=1"
    project.file("test_museum.py", TEST.replace('metrics=["accuracy"], gates=["accuracy >= 0.3"]', arguments))
    project.run()
    process = project.command("shrink", "q17", "--out", "shrunk.jsonl")
    assert process.stdout.count(" passages -> ") == 1
    typo = project.command(
        "shrink", "test_museum.py::test_museum[q17-relation=typo-variant=1]", "--out", "shrunk.jsonl"
    )
    assert "written: q17-typo-1-min to shrunk.jsonl" in typo.stdout
    removed = project.command("shrink", "test_museum.py::test_museum[q17-relation=remove_evidence-variant=1]")
    assert removed.returncode == 1
    assert "not shrunk: the relation remove_evidence should change its answer; shrink the case that" in removed.stdout


def test_a_turn_is_written_with_the_history_that_the_system_saw(project: Project) -> None:
    museum(project, record("d1", P0, dialogue="d", round=1), record("d2", P0, W0, dialogue="d", round=2))
    project.file("test_museum.py", TEST.replace('metrics=["accuracy"]', 'metrics=["accuracy"], history="own"'))
    process = project.command("shrink", "test_museum.py::test_museum[d2]", "--out", "shrunk.jsonl")
    assert process.returncode == 0, process.stderr
    row = json.loads((project.path / "shrunk.jsonl").read_text())
    assert row["history"] == [{"question": "When does the museum open?", "answer": "9:00"}]
    assert "dialogue" not in row
    assert "round" not in row


def test_a_path_after_the_option_is_a_usage_error(project: Project) -> None:
    museum(project)
    run = project.run("--rag-shrink", "test_museum.py")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert "'test_museum.py' is not a whole number of 1 or more; write --rag-shrink=N, and" in run.result.stderr.str()


def test_workers_are_refused(project: Project) -> None:
    museum(project)
    run = project.run("--rag-shrink", "-n2")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert "--rag-shrink asks in one process; leave -n out" in run.result.stderr.str()


def test_the_command_shrinks_a_case_of_a_run_and_writes_it(project: Project) -> None:
    museum(project)
    project.run()
    before = sorted(path.name for path in (project.path / ".rageval" / "runs").iterdir())
    process = project.command("shrink", "q17", "--out", "shrunk.jsonl")
    assert process.returncode == 0, process.stderr
    assert 'w0 "The museum opens at 10:00."' in process.stdout
    assert "written: q17-min to shrunk.jsonl" in process.stdout
    assert sorted(path.name for path in (project.path / ".rageval" / "runs").iterdir()) == before  # no run of its own
    (row,) = map(json.loads, (project.path / "shrunk.jsonl").read_text().splitlines())
    assert row == {
        "id": "q17-min", "question": MISLEADING["question"], "answers": ["9:00"], "language": "en", "topic": "Hours",
        "passages": [{"id": "w0", "text": "The museum opens at 10:00.", "role": "negative"}],
    }  # fmt: skip
    again = project.command("shrink", "test_museum.py::test_museum[q17]", "--out", "shrunk.jsonl")
    assert "already in shrunk.jsonl: q17-min" in again.stdout
    assert len((project.path / "shrunk.jsonl").read_text().splitlines()) == 1
    project.file("test_museum.py", TEST.replace("cases.jsonl", "shrunk.jsonl"))
    regression = project.run()
    assert regression.outcomes["q17-min"]["scores"]["accuracy"] == {"value": 0.0}


@pytest.mark.parametrize(
    ("case", "status", "sentence"),
    [
        ("q19", 1, "not shrunk: it is right now, so there is nothing to shrink"),
        ("q99", 2, "unknown case 'q99'; did you mean 'q19'"),
        ("test_museum.py::test_none", 2, "pytest cannot collect test_museum.py::test_none"),
        ("test_plain.py::test_plain", 2, "test_plain.py::test_plain is not a RAG case"),
    ],
)
def test_the_command_reports_why_it_cannot_shrink_a_case(
    project: Project, case: str, status: int, sentence: str
) -> None:
    museum(project)
    project.file("test_plain.py", "def test_plain():\n    pass")
    project.run()
    process = project.command("shrink", case)
    assert process.returncode == status
    assert sentence in process.stdout + process.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--most", "3"),
            "--most 3 leaves no request to search with, since --confirm asks 3 times; give --most 4 or more",
        ),
        (
            ("--out", "none/shrunk.jsonl"),
            "--out 'none/shrunk.jsonl': its folder does not exist; make it, or name another",
        ),
        (("--out", "docs"), "docs: is a directory"),
        (("--out", "bad.jsonl"), "bad.jsonl:1: invalid JSON"),
    ],
)
def test_a_wrong_option_is_refused_before_the_system_is_asked(
    project: Project, arguments: tuple[str, str], sentence: str
) -> None:
    museum(project, MISLEADING)
    (project.path / "docs").mkdir()
    project.file("bad.jsonl", "{")
    process = project.command("shrink", "test_museum.py::test_museum[q17]", *arguments)
    assert process.returncode == 2
    assert sentence in process.stderr
    assert not (project.path / "log.txt").exists()


RETRIEVES = """
    import pytest
    from pytest_rageval import Answer, Ranking, ScoredPassage

    STORE = {"d1": "The museum opens at 10:00.", "d2": "The museum is old."}

    def search(query):
        passages = {each.id: each.text for each in query.passages} if {condition} else STORE
        ranking = Ranking(tuple(ScoredPassage(name, 1.0, text) for name, text in passages.items()))
        return Answer("10:00" if "d1" in passages else "I do not know.", ranking{reported})

    @pytest.fixture(scope="session")
    def rag_system():
        return search
"""


@pytest.mark.parametrize(
    ("condition", "reported", "sentence"),
    [
        ("query.passages is not None", "", "2 passages -> 1: d1 *"),
        ("False", "", "not shrunk: its system ignores the passages it is given: it answers the same without them*"),
        ("False", " and None", "not shrunk: its system retrieves for itself and does not report what*"),
    ],
)
def test_a_system_that_retrieves_gets_its_own_passages_as_the_context(
    project: Project, condition: str, reported: str, sentence: str
) -> None:
    row = {name: value for name, value in MISLEADING.items() if name != "passages"}
    museum(project, row)
    project.file("conftest.py", RETRIEVES.replace("{condition}", condition).replace("{reported}", reported))
    run = project.run("--rag-shrink")
    run.said(f"*museum[[]q17]   {sentence}")


def test_contexts_are_recorded_replayed_and_bounded(project: Project, openai_server: OpenAIServer) -> None:
    openai_server.reply = lambda body: "It opens at 10:00." if "10:00" in last_user(body) else "I do not know."
    asks(project, openai_server.base_url, [MISLEADING], params={**PRICES, "max_tokens": 8})
    first = project.run("--rag-shrink", "--rag-record-mode", "once")
    first.said("*test_it[[]q17]   4 passages -> 1, 2nd of 3 sentences: w0 *")
    requests = len(openai_server.requests)
    assert first.results["usage"]["calls"] >= requests > 5
    assert [outcome["calls"]["calls"] for outcome in first.results["outcomes"]] == [1]
    stop(openai_server)
    again = project.run("--rag-shrink", "--rag-record-mode", "none")
    again.said(f"*w0 *   {requests} calls, {requests - 1} replayed")  # the session has asked the case itself
    assert again.results["usage"]["attempts"] == 0
    openai_server.plan = None
    for path in Path(project.path / "cassettes").iterdir():
        path.unlink()
    poor = project.run("--rag-shrink", "--rag-budget-usd", "0.9")
    poor.said("*stopped: *the budget of $0.9 would be passed*")
    assert poor.results["usage"]["cost_usd"] <= 0.9
