"""``--lf``, ``--ff`` and ``--sw`` after a failed gate: they select the cases of the gate."""

from __future__ import annotations

from support.projects.rag_project import RIGHT, WRONG, Mode, Project, Run, cases

BOTH = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:good.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.5"])
    def test_good(rag): ...

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.9", "n >= 1"])
    def test_bad(rag): ...
"""


def _write_project(project: Project, *questions: str) -> None:
    project.data(cases(RIGHT, RIGHT), "good.jsonl")
    project.says(cases(*questions), test=BOTH)


def _test_names(run: Run) -> list[str]:
    return [outcome["nodeid"].partition("::")[2] for outcome in run.results["outcomes"]]


def test_lf_reruns_the_testbed_of_a_failed_gate(project: Project, mode: Mode) -> None:
    _write_project(project, RIGHT, WRONG)
    assert project.run(*mode).status == 1
    for _ in range(2):
        run = project.run("--lf", *mode)
        assert run.status == 1
        assert _test_names(run) == ["test_bad[q1]", "test_bad[q2]"]
        assert run.gates["accuracy >= 0.9"]["status"] == "failed"
        assert run.gates.get("accuracy >= 0.5", {"status": "skipped"})["status"] == "skipped"
    _write_project(project, RIGHT, RIGHT)  # fixed
    run = project.run("--lf", *mode)
    assert run.status == 0
    assert len(_test_names(run)) == 2
    if not mode:
        assert len(_test_names(project.run("--lf"))) == 4  # all, because nothing failed last time


def test_ff_runs_the_testbed_of_a_failed_gate_first(project: Project) -> None:
    _write_project(project, RIGHT, WRONG)
    project.run()
    run = project.run("--ff", "-v")
    assert run.status == 1
    names = [line.split()[0].partition("::")[2] for line in run.result.outlines if "::test_" in line and "%]" in line]
    assert names[:4] == ["test_bad[q1]", "test_bad[q2]", "test_good[q1]", "test_good[q2]"]


def test_lf_reruns_all_cases_of_a_failed_session_gate(project: Project) -> None:
    _write_project(project, RIGHT, WRONG)
    project.file("test_it.py", BOTH.replace(', gates=["accuracy >= 0.9", "n >= 1"]', ""))
    assert project.run("--rag-gate", "accuracy >= 0.9").status == 1
    assert len(_test_names(project.run("--lf"))) == 4


def test_stepwise_continues_after_a_failed_gate(project: Project) -> None:
    _write_project(project, RIGHT, WRONG)
    assert project.run("--sw").status == 1
    run = project.run("--sw")
    assert run.status == 1
    assert len(_test_names(run)) == 4
    _write_project(project, RIGHT, RIGHT)
    assert project.run("--sw").status == 0


def test_a_failed_case_is_rerun_alone(project: Project) -> None:
    test = """
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["n >= 1"])
        def test_it(rag):
            assert rag["accuracy"] == 1
    """
    project.says(cases(RIGHT, WRONG), test=test)
    assert project.run().status == 1
    assert _test_names(project.run("--lf")) == ["test_it[q2]"]
