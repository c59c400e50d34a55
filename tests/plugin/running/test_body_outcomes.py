"""How the marks, the fixtures and the body of a test change the status of its case."""

from __future__ import annotations

from support.projects.rag_project import RIGHT, RUNS, WRONG, Mode, Project, cases

TESTS = """
    import pytest
    from pytest_rageval import rag_case

    CASES = "jsonl:cases.jsonl"

    @pytest.fixture
    def broken_before():
        raise OSError("no disk")

    @pytest.fixture
    def broken_after(rag):
        raise OSError("no disk")

    @pytest.fixture
    def broken_end():
        yield
        raise OSError("no disk")

    @rag_case(CASES)
    def test_skips(rag):
        pytest.skip("not today")

    @pytest.mark.skip(reason="not ever")
    @rag_case(CASES)
    def test_skipped(rag): ...

    @pytest.mark.skipif(True, reason="not here")
    @rag_case(CASES)
    def test_skipped_if(rag): ...

    @pytest.mark.xfail(reason="known", strict=True)
    @rag_case(CASES)
    def test_expected(rag):
        assert rag.answer.text == "Oslo"

    @pytest.mark.xfail(reason="known", run=False)
    @rag_case(CASES)
    def test_not_run(rag): ...

    @pytest.mark.xfail(reason="known")
    @rag_case(CASES)
    def test_better(rag): ...

    @rag_case(CASES)
    def test_before(broken_before, rag): ...

    @rag_case(CASES)
    def test_after(rag, broken_after): ...

    @rag_case(CASES)
    def test_end(rag, broken_end): ...

    @rag_case(CASES)
    def test_fails(rag):
        assert False

    @rag_case(CASES)
    def test_importorskip(rag):
        pytest.importorskip("no_such_module")
"""


def test_marks_fixtures_and_body_decide_the_status_of_a_case(project: Project, mode: Mode) -> None:
    project.says(cases(WRONG), test=TESTS)
    run = project.run(*mode)
    statuses = {
        outcome["nodeid"].partition("::")[2].partition("[")[0]: (outcome["status"], outcome["error_type"])
        for outcome in run.results["outcomes"]
    }
    assert statuses == {
        "test_skips": ("scored", None),  # it was scored before the skip
        "test_skipped": ("skipped", "skipped"),
        "test_skipped_if": ("skipped", "skipped"),
        "test_expected": ("scored", None),
        "test_not_run": ("skipped", "skipped"),
        "test_better": ("scored", None),
        "test_before": ("error", "setup_error"),
        "test_after": ("scored", None),  # it was scored before the fixture failed
        "test_end": ("scored", None),
        "test_fails": ("scored", None),
        "test_importorskip": ("scored", None),
    }
    errors = {o["nodeid"].partition("::")[2].partition("[")[0]: o["error"] for o in run.results["outcomes"]}
    assert errors["test_skipped"] == "Skipped: not ever"
    assert errors["test_before"].endswith("OSError: no disk")
    run.result.assert_outcomes(errors=3, failed=1, skipped=4, xfailed=2, xpassed=1)
    assert run.status == 1


def test_a_case_skipped_after_scoring_still_counts_in_gates(project: Project) -> None:
    test = """
        import pytest
        from pytest_rageval import rag_case

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "error_rate <= 0", "n >= 1"])
        def test_it(rag):
            if rag["accuracy"] < 1:
                pytest.skip("not counted")
    """
    project.says(cases(RIGHT, WRONG), test=test)
    run = project.run()
    assert run.status == 1
    assert [(gate["value"], gate["n"]) for gate in run.results["gates"]] == [(0.5, 2), (0.0, 2), (2.0, 2)]


def test_skipped_cases_count_in_no_mean_and_no_error_rate(project: Project) -> None:
    test = """
        import pytest
        from pytest_rageval import rag_case

        @pytest.fixture
        def only_first(request):
            if "q2" in request.node.name:
                pytest.skip("not counted")

        @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "error_rate <= 0", "n >= 1"])
        def test_it(only_first, rag): ...
    """
    project.says(cases(RIGHT, WRONG), test=test)
    run = project.run()
    assert run.status == 0
    assert [(gate["value"], gate["n"]) for gate in run.results["gates"]] == [(1.0, 1), (0.0, 1), (1.0, 1)]


def test_missed_cases_pass_and_are_shown(project: Project, mode: Mode) -> None:
    project.says(cases(RIGHT, WRONG, WRONG), "gates=['accuracy >= 0.3']")
    run = project.run("-v", *mode)
    assert run.status == 0
    run.result.assert_outcomes(passed=2)
    run.said("*MISSED*", "*2 passed, 2 missed*")
    assert sum(each.get("missed", False) for each in run.results["outcomes"]) == 2
    if not mode:
        project.run().said("test_it.py .mm.*")


def test_the_bound_of_the_gate_decides_whether_a_case_is_missed(project: Project) -> None:
    rows = cases("say Paris is in France")  # token_f1 is a half
    for bound, missed in (("0.6", 1), ("0.3", 0)):
        project.says(rows, f"gates=['token_f1 >= {bound}']", test=RUNS.replace('"accuracy"', '"token_f1"'))
        assert project.run("-rA").text.splitlines()[-1].count("1 missed") == missed
