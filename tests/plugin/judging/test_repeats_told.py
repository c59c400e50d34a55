"""``--rag-repeat K``: means by case, and flipping cases separate from worse ones."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest
from support.projects.rag_project import RUNS, Mode, Project, Run, bare, case, cases
from support.projects.scripted_projects import NOTED, asked_of, conftest

FLAKY = """
    from pathlib import Path
    import pytest

    @pytest.fixture(scope="session")
    def rag_system(request):
        counts = {}
        def answer(query):
            kind, _, rest = query.question.partition(" ")
            if kind == "raise":
                raise ValueError(rest)
            counts[query.question] = counts.get(query.question, 0) + 1
            script = rest.split("|")
            return script[(counts[query.question] - 1) % len(script)]
        return answer
"""
"""A system that answers "say a|b|c" with a the first time, then b, then c."""

ROWS = [
    case("steady", "say Paris", topic="A"),
    case("flaky", "say Paris|Rome|Paris", topic="A"),
    case("lost", "say Rome", topic="B"),
    case("shaky", "say Rome|Rome|Paris", topic="B"),
]
"""Their means over three runs: 1, 2/3, 0, 1/3."""


def _write_project(project: Project, arguments: str = "gates=['accuracy >= 0.5']") -> None:
    project.says(ROWS, arguments, conftest=FLAKY)


def _names(run: Run) -> list[str]:
    return [outcome["nodeid"].partition("[")[2].rstrip("]") for outcome in run.results["outcomes"]]


def test_a_case_runs_k_times(project: Project) -> None:
    _write_project(project)
    run = project.run("--rag-repeat", "3", "-v")
    assert run.status == 0, run.text
    assert _names(run)[:4] == ["steady-repeat=1", "steady-repeat=2", "steady-repeat=3", "flaky-repeat=1"]
    assert len(_names(run)) == 12
    assert {o["facets"]["repeat"] for o in run.results["outcomes"]} == {"1", "2", "3"}
    assert set(run.results["instances"]) == {"steady", "flaky", "lost", "shaky"}
    run.said("12 runs of 4 cases: 12 scored, 0 errors*", "*test_it.py::test_it?flaky-repeat=2? MISSED*")


def test_repeats_show_the_variation(project: Project) -> None:
    _write_project(project)
    run = project.run("--rag-repeat", "3")
    (summary,) = run.results["repeats"]
    assert summary == {
        "testbed": "test_it.py::test_it", "system": "rag_system", "metric": "accuracy", "k": 3,
        "n_cases": 4, "n_complete": 4, "mean": 0.5, "spread": pytest.approx(0.25),
        "pass_at_1": 0.5, "pass_hat_k": 0.25, "flips": ["flaky", "shaky"], "always_missed": ["lost"],
    }  # fmt: skip
    run.said("repeats - spread*", "testbed*pass@1*pass?k*flip", "testbed*never")
    run.said("test_it*accuracy*4 x 3*0.50*±0.250*0.50*0.25*2", "test_it*1", "test_it flips: flaky, shaky")


def test_the_case_is_the_unit_of_gates_and_cells(project: Project) -> None:
    _write_project(project, "gates=['accuracy >= 0.5', 'accuracy[topic=A] >= 0.8', 'n >= 12', 'error_rate <= 0']")
    run = project.run("-v", "--rag-repeat", "3")
    gate = run.gates["accuracy >= 0.5"]
    assert (gate["value"], gate["n"], gate["n_cases"], gate["status"]) == (0.5, 12, 4, "passed")
    low, high = gate["ci95"]
    assert low < 0.15  # of four cases; twelve would have [0.25, 0.75]
    assert high > 0.85
    run.said("*PASSED  accuracy >= 0.5*0.5  n 12 of 4 cases*")
    topic = run.gates["accuracy[topic=A] >= 0.8"]
    assert (topic["value"], topic["n_cases"]) == (pytest.approx(5 / 6), 2)
    assert run.gates["n >= 12"]["status"] == "passed"
    cell = run.results["matrix"]["cells"][1][0]
    assert (cell["mean"], cell["n"], cell["n_cases"]) == (pytest.approx(1 / 6), 6, 2)


def test_a_failed_gate_separates_worse_from_flaky_cases(project: Project, mode: Mode) -> None:
    _write_project(project, "gates=['accuracy >= 0.9']")
    if mode == ("-n2",):  # counts differ by worker, so use the repeat of the current case
        project.file("conftest.py", BY_REPEAT)
    run = project.run("-v", "--rag-repeat", "3", *mode)
    assert run.status == 1
    failure = "missed in every repeat: lost; flipping: flaky, shaky"
    assert run.text.count(failure) == 2  # in the failure and in the list of gates
    assert run.gates["accuracy >= 0.9"]["value"] == 0.5
    run.said("rag: 1 of 1 gate failed - 6 runs missed, 1 cause*")


BY_REPEAT = """
    import pytest
    from pytest_rageval.llm.client.usage_meter import current

    @pytest.fixture(scope="session")
    def rag_system():
        def answer(query):
            script = query.question.partition(" ")[2].split("|")
            return script[(current().repeat - 1) % len(script)]
        return answer
"""


def test_workers_report_the_same_repeats(project: Project) -> None:
    _write_project(project)
    project.file("conftest.py", BY_REPEAT)
    plain, parallel = project.run("--rag-repeat", "3"), project.run("--rag-repeat", "3", "-n2")
    assert plain.results["repeats"][0]["flips"] == ["flaky", "shaky"]
    assert bare(plain.results) == bare(parallel.results)


def test_a_repeat_of_one_changes_nothing(project: Project) -> None:
    _write_project(project)
    plain, once = project.run(), project.run("--rag-repeat", "1")
    assert bare(plain.results) == bare(once.results)
    assert "repeats" not in once.results
    assert "repeat" not in once.outcomes["steady"]["facets"]
    assert "repeats" not in once.text
    assert _names(once) == ["steady", "flaky", "lost", "shaky"]


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (("-k", "shaky"), ["shaky-repeat=1", "shaky-repeat=2"]),
        (("-m", "rag(topic='B')"), ["lost-repeat=1", "lost-repeat=2", "shaky-repeat=1", "shaky-repeat=2"]),
        (("-m", "rag(repeat='2') and rag(topic='A')"), ["steady-repeat=2", "flaky-repeat=2"]),
        (("--rag-limit", "1"), ["steady-repeat=1", "steady-repeat=2"]),
        (("-k", "flaky or lost", "--rag-limit", "1"), ["flaky-repeat=1", "flaky-repeat=2"]),
        (("test_it.py::test_it[lost-repeat=2]",), ["lost-repeat=2"]),
    ],
)
def test_a_limit_selects_all_repeats_of_a_case(project: Project, args: tuple[str, ...], names: list[str]) -> None:
    _write_project(project, "")
    run = project.run("--rag-repeat", "2", *args)
    assert _names(run) == names


def test_a_sample_takes_all_repeats_of_a_case(project: Project) -> None:
    _write_project(project, "")
    run = project.run("--rag-repeat", "2", "--rag-sample", "2")
    by_case: dict[str, list[str]] = {}
    for outcome in run.results["outcomes"]:
        by_case.setdefault(outcome["facets"]["topic"], []).append(outcome["facets"]["repeat"])
    assert by_case == {"A": ["1", "2"], "B": ["1", "2"]}
    assert len(run.outcomes) == 2


def test_each_system_is_repeated(project: Project) -> None:
    _write_project(project)
    project.file("desks.py", "def good(query):\n    return 'Paris'\n\ndef bad(query):\n    return 'Rome'\n")
    args = ("--rag-system", "desks:good", "--rag-system", "desks:bad")
    run = project.run("--rag-repeat", "2", *args)
    names = _names(run)
    assert len(set(names)) == len(names) == 16
    assert all(name.endswith(("-repeat=1", "-repeat=2")) for name in names)
    assert [(summary["system"], summary["mean"], summary["pass_hat_k"]) for summary in run.results["repeats"]] == [
        ("desks:bad", 0.0, 0.0), ("desks:good", 1.0, 1.0),
    ]  # fmt: skip
    run.said("test_it (desks:bad)*0.00*", "test_it (desks:good)*1.00*")


def test_an_error_in_a_repeat_is_not_a_miss(project: Project) -> None:
    project.says([case("steady", "say Paris"), case("broken", "raise no model")], conftest=FLAKY)
    run = project.run("--rag-repeat", "2", "--rag-gate", "error_rate <= 0.2")
    (summary,) = run.results["repeats"]
    assert (summary["n_cases"], summary["pass_at_1"], summary["always_missed"]) == (1, 1.0, [])
    gate = run.gates["error_rate <= 0.2"]
    assert (gate["status"], gate["value"], gate["n"], gate["n_cases"]) == ("failed", 0.5, 4, 2)


@pytest.mark.parametrize("bad", ["0", "-1", "two"])
def test_an_invalid_count_is_refused(project: Project, bad: str) -> None:
    _write_project(project)
    run = project.run(f"--rag-repeat={bad}")
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert "is not a whole number of 1 or more" in run.result.stderr.str()


MOODS = """
    @pytest.fixture(scope="session")
    def rag_llm():
        moods = iter(["Paris", "Rome", "Paris, I am sure", "Rome or so"] * 9)
        return Noted("moody", lambda messages: next(moods), usage=Usage(7, 3, 0.25))
"""


def _answers(run: Run) -> dict[str, Any]:
    return {outcome["nodeid"]: outcome["answer"]["text"] for outcome in run.results["outcomes"]}


def test_each_repeat_replays_its_own_reply(project: Project, mode: Mode) -> None:
    project.data([case("q1", "Where?", passages=[{"id": "d1", "text": "Here."}])])
    conftest(project, NOTED, MOODS)
    project.file("test_it.py", dedent(RUNS).replace("{arguments}", ""))
    args = ("--rag-repeat", "4", "--rag-record-mode")
    recorded = project.run(*args, "once")
    assert len(asked_of(project, "moody")) == 4
    assert sorted(_answers(recorded).values()) == ["Paris", "Paris, I am sure", "Rome", "Rome or so"]
    replayed = project.run(*args, "none", *mode)
    assert asked_of(project, "moody") == []
    assert _answers(replayed) == _answers(recorded)
    assert replayed.results["repeats"] == recorded.results["repeats"]
    assert replayed.results["repeats"][0]["flips"] == ["q1"]
    assert replayed.results["usage"] == {
        "calls": 4, "replayed": 4, "attempts": 0, "prompt_tokens": 28, "completion_tokens": 12,
        "cost_usd": 1.0, "spent_usd": 0.0,
    }  # fmt: skip
    fifth = project.run("--rag-repeat", "5", "--rag-record-mode", "none")
    assert [o["error_type"] for o in fifth.results["outcomes"]] == [None] * 4 + ["not_recorded"]


def test_each_repeat_asks_the_closed_book_question_again(project: Project) -> None:
    project.data(cases("Where?", passages=[{"id": "d1", "text": "Here."}]))
    knows = """
        @pytest.fixture(scope="session")
        def rag_llm():
            guesses = iter(["Paris", "Rome"])
            return ScriptedLLM(lambda messages: "Paris" if "Documents" in messages[-1]["content"] else next(guesses))
    """
    conftest(project, NOTED, knows)
    gates = "gates=['accuracy[knew=*] >= 1', 'closed_book_accuracy >= 0.5']"
    project.file("test_it.py", dedent(RUNS).replace("{arguments}", ", " + gates))
    run = project.run("--rag-repeat", "2")
    assert run.status == 0, run.text
    assert sorted(outcome["facets"]["knew"] for outcome in run.results["outcomes"]) == ["false", "true"]
    assert run.gates["closed_book_accuracy >= 0.5"]["n_cases"] == 1
