"""Gates with a fixed bound over a part of their cases: only a slice can decide them."""

from __future__ import annotations

from textwrap import dedent

import pytest
from support.projects.rag_project import RIGHT, RUNS, SAYS, WRONG, Mode, Project, Row, Run, case
from support.projects.resume_project import SAYS as STOPS
from support.projects.resume_project import resume, stop

GATE, CELL = "accuracy >= 0.9", "accuracy[topic=Funds] >= 0.9"


def rows(n: int = 6) -> list[Row]:
    """Return records whose topics alternate; only the first record gets a wrong answer."""
    return [
        case(f"q{at}", WRONG if at == 1 else RIGHT, topic=("Funds", "Loans")[at % 2], note=str(at))
        for at in range(1, n + 1)
    ]


@pytest.fixture
def suite(project: Project) -> Project:
    project.says(rows(), f"gates=[{GATE!r}]")
    return project


def gate_results(run: Run) -> dict[str, tuple[str, str | None]]:
    return {expr: (gate["status"], gate["reason"]) for expr, gate in run.gates.items()}


FAILED = ("failed", "accuracy is 0.8333")


def part(selected: int, cases: int = 6) -> tuple[str, str]:
    return "skipped", f"not decided: {selected} of {cases} cases selected"


@pytest.mark.parametrize(
    ("args", "result"),
    [
        (["test_it.py::test_it[q1]"], part(1)),
        (["test_it.py::test_it[q1]", "test_it.py::test_it[q3]"], part(2)),
        (["-k", "q1 or q2"], part(2)),
        (["--deselect", "test_it.py::test_it[q2]"], part(5)),
        (["--rag-limit", "1"], part(1)),
        (["--rag-sample", "4"], part(4)),
        (["-m", "rag(topic='Loans')", "-k", "q1"], part(1, 3)),
        (["-m", "rag(topic='Loans')", "test_it.py::test_it[q1]"], part(1, 3)),
        (["test_it.py::test_it[q1]", "--rag-repeat", "2", "-k", "repeat"], part(1)),
        ([], FAILED),
        (["test_it.py"], FAILED),
        (["test_it.py::test_it"], FAILED),
        (["."], FAILED),
        (["-m", "rag(topic='Loans')"], ("failed", "accuracy is 0.6667")),
        (["-m", "rag(topic='Loans')", "-k", "q1 or q3 or q5"], ("failed", "accuracy is 0.6667")),
        (["-k", "test_it"], FAILED),
        (["--rag-limit", "6"], FAILED),
        ([f"test_it.py::test_it[q{at}]" for at in range(1, 7)], FAILED),
    ],
    ids=lambda value: " ".join(value) or "all" if isinstance(value, list) else value[0],
)
def test_a_part_decides_only_if_it_is_a_slice(suite: Project, args: list[str], result: tuple[str, str]) -> None:
    if "--rag-repeat" in args:
        args, result = ["test_it.py::test_it[q1-repeat=1]", "--rag-repeat", "2"], part(1, 12)
    run = suite.run(*args)
    assert gate_results(run) == {GATE: result}
    assert run.status == int(result[0] == "failed")


def test_every_report_shows_that_a_gate_is_not_decided(suite: Project, mode: Mode) -> None:
    run = suite.run("-k", "q1", "--rag-markdown", "rag.md", "--rag-html", "rag.html", "-rs", *mode)
    assert (run.status, gate_results(run)) == (0, {GATE: part(1)})
    run.said("*SKIPPED*not decided: 1 of 6 cases selected*", "*1 skipped, *1 missed*")
    assert "1 gate not decided" in (suite.path / "rag.md").read_text("utf-8").splitlines()[0]
    page = (suite.path / "rag.html").read_text("utf-8")
    assert "1 gate not decided" in page
    assert "not decided: 1 of 6 cases selected" in page
    assert run.results["plan"]["partial"] == {
        f"test_it.py::test_it[gate: {GATE}]": {"selected": 1, "cases": 6, "files": 0}
    }


@pytest.mark.parametrize(
    ("policy", "status", "result"),
    [
        ("skip", 0, part(2)),
        ("decide", 1, ("failed", "accuracy is 0.5")),
        ("fail", 1, ("failed", "not decided: 2 of 6 cases selected")),
    ],
)
def test_the_ini_sets_the_policy_for_partial_gates(
    suite: Project, policy: str, status: int, result: tuple[str, str]
) -> None:
    run = suite.run("-v", "-k", "q1 or q2", "-o", f"rag_partial_gates={policy}")
    assert (run.status, gate_results(run)) == (status, {GATE: result})
    if policy == "fail":
        run.said(f"*test_it[[]gate: {GATE}[]]*", "not decided: 2 of 6 cases selected")
        run.said(f"*FAILED  {GATE} *not decided: 2 of 6 cases selected")


def test_an_unknown_policy_is_a_usage_error(suite: Project) -> None:
    run = suite.run("-o", "rag_partial_gates=maybe")
    assert run.status == 4
    run.result.stderr.fnmatch_lines(["ERROR: rag_partial_gates is 'maybe'; write skip, decide or fail [[]RAG101]"])


def test_limit_sample_and_where_of_a_testbed_define_all_its_cases(project: Project) -> None:
    for arguments in ("limit=2", "sample=3", "where={'topic': 'Loans'}"):
        project.says(rows(), f"{arguments}, gates=[{GATE!r}]")
        assert project.run().gates[GATE]["status"] in ("passed", "failed")
    run = project.run("-k", "q1")
    assert gate_results(run) == {GATE: part(1, 3)}


def test_a_slice_is_a_part_if_cases_of_it_are_missing(project: Project) -> None:
    project.says(rows(), f"gates=[{GATE!r}, {CELL!r}]")
    run = project.run("-k", "q2 or q4 or q6")
    assert gate_results(run) == {GATE: part(3), CELL: ("passed", None)}
    run = project.run("-k", "q1")
    assert gate_results(run) == {GATE: part(1), CELL: ("skipped", "all its cases were deselected")}


def test_session_gates_cover_all_collected_testbeds(project: Project) -> None:
    project.says(rows())
    project.file("test_b.py", RUNS.replace("{arguments}", "").replace("test_it", "test_b"))
    gate = ("--rag-gate", GATE)
    assert gate_results(project.run(*gate, "-k", "test_it")) == {GATE: part(6, 12)}
    assert gate_results(project.run(*gate, "test_it.py")) == {GATE: FAILED}
    assert gate_results(project.run(*gate, "test_it.py", "test_b.py")) == {GATE: FAILED}
    assert gate_results(project.run("--rag-gate", CELL, "-k", "q2 or q4 or q6")) == {CELL: ("passed", None)}


LAST_FAILED = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.5"])
    def test_it(rag):
        assert rag["accuracy"] == 1
"""


def test_the_last_failed_cases_decide_only_if_they_are_all(project: Project, mode: Mode) -> None:
    project.says(rows(), test=LAST_FAILED)
    project.file("test_b.py", RUNS.replace("{arguments}", "").replace("test_it", "test_b"))
    arguments = ("--rag-gate", "error_rate <= 0.1", *mode)
    assert set(gate_results(project.run(*arguments)).values()) == {("passed", None)}
    run = project.run(*arguments, "--lf")
    assert gate_results(run) == {
        "accuracy >= 0.5": part(1),
        "error_rate <= 0.1": ("skipped", "not decided: 1 of 6 cases selected, 1 file not collected"),
    }
    project.says([{**row, "question": RIGHT} for row in rows()], test=LAST_FAILED)
    assert project.run(*arguments, "--lf").status == 0
    assert set(gate_results(project.run(*arguments, "--lf")).values()) == {
        ("passed", None)
    }  # all run, because nothing failed


def test_the_cases_of_a_failed_gate_decide_it_again(suite: Project) -> None:
    assert suite.run().status == 1
    assert gate_results(suite.run("--lf")) == {GATE: FAILED}


def test_stepwise_continues_without_deciding_the_gate(project: Project) -> None:
    project.says(rows()[::-1], test=LAST_FAILED)
    assert project.run("--sw").status == 2
    project.says([{**row, "question": RIGHT} for row in rows()[::-1]], test=LAST_FAILED)
    run = project.run("--sw")
    assert (run.status, gate_results(run)) == (0, {"accuracy >= 0.5": part(1)})


SPLITS = """
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(config, items):
        config.hook.pytest_deselected(items=items[:2])
        items[:] = items[2:]
"""
"""Deselects tests like pytest-split: in the same hook, and last of all plugins."""


def test_a_plugin_that_splits_the_suite_selects_a_part(suite: Project) -> None:
    suite.file("conftest.py", dedent(SAYS) + dedent(SPLITS))
    assert gate_results(suite.run()) == {GATE: part(4)}


def test_shards_leave_the_decision_to_the_merge(suite: Project, capsys: pytest.CaptureFixture[str]) -> None:
    from pytest_rageval.cli import main

    for args, expected in (([], FAILED), (["-k", "not q6"], part(5))):
        for at in (1, 2):
            run = suite.run(*args, "--rag-shard", f"{at}/2", json_path=f"{at}.json", fresh=False)
            assert run.status == 0
        assert main(["merge", "1.json", "2.json", "--out", "whole.json"]) == int(expected is FAILED)
        (gate,) = suite.read("whole.json")["gates"]
        assert (gate["status"], gate["reason"]) == expected
        capsys.readouterr()
        assert main(["show"]) == 0
        assert (expected[1].partition(":")[0] in capsys.readouterr().out) == (expected is not FAILED)


def test_cases_taken_over_from_another_run_count_as_selected(suite: Project) -> None:
    suite.file("conftest.py", STOPS)
    stop(suite, "test_it[q4]")
    run = resume(suite)
    run.said("3 of 6 cases taken over from the run *")
    assert (run.gates[GATE]["n"], gate_results(run)) == (6, {GATE: FAILED})
    stop(suite, "test_it[q4]")
    assert gate_results(resume(suite, "-k", "not q6")) == {GATE: part(5)}


def test_a_parametrized_test_counts_its_cases_for_each_parameter(project: Project) -> None:
    project.says(
        rows(),
        test="""
        import pytest
        from pytest_rageval import rag_case

        @pytest.mark.parametrize("times", [1, 2])
        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.9"])
        def test_it(rag, times):
            ...
        """,
    )
    (first, *_) = (outcome["nodeid"] for outcome in project.run().results["outcomes"])
    assert gate_results(project.run(first)) == {GATE: part(1, 12)}
    assert gate_results(project.run()) == {GATE: FAILED}
