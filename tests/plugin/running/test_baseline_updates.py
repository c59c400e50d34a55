"""When a run becomes the baseline, and when the file stays unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.projects.rag_project import RAISES, RIGHT, WRONG, Mode, Project, cases

from pytest_rageval.cli import main

FILE = "rag-baseline.json"
AGAINST = ("--rag-baseline", FILE)
UPDATE = (*AGAINST, "--rag-update-baseline")
PART = (*AGAINST, "--rag-update-baseline-part")
KEEP = "run all tests, or keep the rest with --rag-update-baseline-part"

TWO = """
    import pytest
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag):
        ...

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_other(rag):
        ...
"""

SKIPS = """
    import pytest
    from pytest_rageval import rag_case

    @pytest.fixture
    def key():
        pytest.skip("no key")

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(key, rag):
        ...
"""

STOPS = """
    import pytest
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag):
        if rag.case.id == "q2":
            raise KeyboardInterrupt
"""


def baseline_scores(project: Project) -> list[tuple[str, str, float]]:
    """Return the testbed, the case and the accuracy of each entry of the baseline."""
    plain = json.loads((project.path / FILE).read_text(encoding="utf-8"))
    return [(each["testbed"].rpartition("::")[2], each["case"], each["scores"]["accuracy"]) for each in plain["cases"]]


@pytest.fixture
def baseline(project: Project) -> Path:
    """Make a project of two tests over the same three cases, with a baseline."""
    project.says(cases(RIGHT, RIGHT, WRONG), test=TWO)
    assert project.run(*UPDATE).status == 0
    return project.path / FILE


def test_an_update_writes_through_a_symbolic_link(project: Project, baseline: Path) -> None:
    target = project.path / "shared" / "baseline.json"
    target.parent.mkdir()
    baseline.rename(target)
    baseline.symlink_to(target)
    before = target.read_text()
    project.says(cases(RIGHT, WRONG, WRONG), test=TWO)
    assert project.run(*UPDATE).status == 0
    assert baseline.is_symlink()
    assert target.read_text() != before
    assert ("test_it", "q2", 0.0) in baseline_scores(project)


@pytest.mark.parametrize("args", [AGAINST, PART], ids=["compared", "updated in part"])
def test_a_baseline_nested_too_deep_is_refused_with_one_sentence(project: Project, baseline: Path, args: Mode) -> None:
    baseline.write_text(
        baseline.read_text().replace('"facets": {', '"facets": {"x": ' + "[" * 3000 + "]" * 3000 + ", ")
    )
    run = project.run(*args)
    assert run.status == 4
    output = run.text + run.result.stderr.str()
    assert "rag-baseline.json:1: invalid JSON (it is nested deeper than 100 levels); resolve" in output
    assert "INTERNALERROR" not in output


def test_a_baseline_is_the_same_for_the_same_run(project: Project, baseline: Path, mode: Mode) -> None:
    before = baseline.read_text(encoding="utf-8")
    run = project.run("-v", *UPDATE, *mode)
    assert run.status == 0
    run.said("against rag-baseline.json, of *: 6 cases compared", "no score changed")
    after = baseline.read_text(encoding="utf-8")
    assert [line for line in after.splitlines() if '"run"' not in line] == [
        line for line in before.splitlines() if '"run"' not in line
    ]
    assert len(baseline_scores(project)) == 6


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["-k", "q1"], f"4 cases left out; {KEEP}"),
        (["--rag-limit", "1"], f"4 cases left out; {KEEP}"),
        (["test_it.py::test_it"], f"test_it.py::test_other did not run; {KEEP}"),
        (["-k", "not test_other"], f"3 cases left out; {KEEP}"),
        (["--deselect", "test_it.py::test_it[q2]"], f"1 case left out; {KEEP}"),
    ],
)
def test_a_partial_run_does_not_become_the_baseline(
    project: Project, baseline: Path, arguments: list[str], why: str
) -> None:
    before = baseline.read_bytes()
    run = project.run(*UPDATE, *arguments)
    assert run.status == run.results["run"]["exitstatus"] == 1
    run.said(f"*the baseline *{FILE} is left as it was, which fails the run: {why}*")
    assert baseline.read_bytes() == before


@pytest.mark.parametrize(
    ("rows", "test", "status", "why"),
    [
        ((RIGHT, RAISES), TWO, 1, "2 cases ended in an error"),
        ((RIGHT, RIGHT, WRONG), SKIPS, 1, "3 cases were skipped"),
        ((RIGHT, RIGHT, WRONG), STOPS, 2, "the session was interrupted"),
    ],
)
def test_a_run_with_errors_skips_or_an_interrupt_does_not_become_the_baseline(
    project: Project, baseline: Path, rows: tuple[str, ...], test: str, status: int, why: str
) -> None:
    before = baseline.read_bytes()
    project.says(cases(*rows), test=test)
    run = project.run(*UPDATE, subprocess=test is STOPS)
    assert run.status == status
    run.said(f"*the baseline *{FILE} is left as it was, which fails the run: {why}*")
    assert baseline.read_bytes() == before


def test_a_run_that_stops_early_leaves_the_baseline_unchanged(project: Project, baseline: Path) -> None:
    before = baseline.read_bytes()
    project.says(cases(RIGHT, RAISES, WRONG), test=TWO)
    run = project.run(*PART, "-x")
    run.said(f"*the baseline *{FILE} is left as it was, which fails the run: *")
    assert baseline.read_bytes() == before


def test_a_partial_update_changes_only_its_cases(project: Project, baseline: Path) -> None:
    project.says(cases(RIGHT, WRONG, RIGHT), test=TWO)
    assert project.run(*PART, "test_it.py::test_it", "-k", "q2").status == 0
    assert baseline_scores(project) == [
        ("test_it", "q1", 1.0), ("test_it", "q2", 0.0), ("test_it", "q3", 0.0),
        ("test_other", "q1", 1.0), ("test_other", "q2", 1.0), ("test_other", "q3", 0.0),
    ]  # fmt: skip


def test_only_a_complete_run_removes_a_case_from_the_baseline(project: Project, baseline: Path) -> None:
    project.says(cases(RIGHT, RIGHT), test=TWO)
    assert project.run(*PART, "test_it.py::test_it").status == 0
    assert len(baseline_scores(project)) == 6
    assert project.run(*UPDATE).status == 0
    assert len(baseline_scores(project)) == 4


def test_only_a_complete_update_replaces_an_invalid_baseline(project: Project, baseline: Path) -> None:
    baseline.write_text("<<<<<<< ours", encoding="utf-8")
    assert project.run(*PART).status == 4
    assert baseline.read_text(encoding="utf-8") == "<<<<<<< ours"
    assert project.run(*UPDATE).status == 0
    assert len(baseline_scores(project)) == 6


def test_a_run_with_a_failed_gate_may_become_the_baseline(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), 'gates=["accuracy >= 0.9", "accuracy >= baseline"]')
    run = project.run(*UPDATE)
    assert run.status == 1
    assert [gate["status"] for gate in run.gates.values()] == ["failed", "skipped"]
    assert [value for *_, value in baseline_scores(project)] == [1.0, 0.0]


def test_show_prints_an_updating_run_like_its_session(
    project: Project, baseline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project.says(
        cases(RIGHT, WRONG, WRONG),
        test=TWO.replace('["accuracy"])', '["accuracy"], gates=["accuracy >= baseline"])'),
    )
    run = project.run(*UPDATE)
    assert run.results["plan"]["updates"]
    capsys.readouterr()
    assert main(["show", "--full"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("against rag-baseline.json") for line in lines)
    assert any("SKIPPED  accuracy >= baseline  this run is to become the baseline" in line for line in lines)
