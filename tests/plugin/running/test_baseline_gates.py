"""A run against its committed baseline: failed gates, their reports, and results.json."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from support.projects.rag_project import RIGHT, SAYS, WRONG, Mode, Project, Row, case

from pytest_rageval.cli import main

UPDATE = ("--rag-baseline", "rag-baseline.json", "--rag-update-baseline")
AGAINST = ("--rag-baseline", "rag-baseline.json")

BREAKS = """
    import pytest

    def say(query):
        name, answer = query.question.split(" ", 1)
        return "Rome" if name in {broken} else answer

    @pytest.fixture(scope="session")
    def rag_system():
        return say
"""
"""A conftest whose system answers "q1 Paris" with "Paris", except for the cases that it breaks."""


def rows(n: int, *, evidence: bool = True) -> list[Row]:
    """Return records q1, q2 ... of two topics in turn."""
    return [
        case(f"q{at}", f"q{at} Paris", topic=("Funds", "Loans")[at % 2], task="qa")
        | ({"passages": [{"id": f"p{at}", "text": "It is Paris.", "role": "positive"}]} if evidence else {})
        for at in range(1, n + 1)
    ]


def breaks(project: Project, *names: str) -> None:
    project.file("conftest.py", BREAKS.replace("{broken}", repr(set(names))))


def odd(n: int) -> list[str]:
    """Return the ids of all cases of the topic Loans."""
    return [f"q{at}" for at in range(1, n + 1, 2)]


def test_a_gate_on_the_baseline_names_what_broke_and_why(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.says(rows(12), 'gates=["accuracy >= baseline", "accuracy[topic=*] >= baseline - 0.02"]')
    breaks(project, "q2")
    run = project.run(*UPDATE)
    assert run.status == 0
    assert run.gates["accuracy >= baseline"]["status"] == "skipped"
    assert run.gates["accuracy >= baseline"]["reason"] == "this run is to become the baseline"
    assert "baseline" not in run.results

    breaks(project, *odd(12))
    run = project.run("-v", *AGAINST, "--rag-markdown", "rag.md")
    assert run.status == 1
    overall, cells = run.gates.values()
    assert (overall["status"], overall["verdict"], overall["n_pairs"]) == ("passed", "inconclusive", 12)
    assert overall["p_value"] == 0.0625
    assert (overall["baseline"], overall["delta"]) == pytest.approx((11 / 12, -5 / 12))
    assert (cells["status"], cells["slice"], cells["verdict"]) == ("failed", {"topic": "Loans"}, "worse")
    assert cells["p_value"] == 0.5**6  # the other comparisons reach this p only if these six cases break
    assert [cell["verdict"] for cell in cells["cells"]] == ["not_worse", "worse"]
    run.said(
        "0.00 < 0.98 (n 6, was 1.00) at topic=Loans",
        "*was 1, -1 *one-sided p 0.016 over 6 cases*",
        "*broke: generation 6*fails in 1 of 2 cells*",
        "against rag-baseline.json, of *: 12 cases compared",
        "test_it accuracy: broke q11, q1, q3, q5, q7, q9 (generation 6)",
        "test_it accuracy: fixed q2",
        "*inconclusive: too few cases to decide",
    )
    unchanged = "no significant change"  # the verdict of the gate is more precise
    assert unchanged not in run.text
    assert unchanged not in (project.path / "rag.md").read_text("utf-8").lower()
    comparison = run.results["comparison"]
    assert comparison["baseline"]["path"] == "rag-baseline.json"
    assert comparison["cases"]["compared"] == 12
    assert comparison["comparisons"][0]["causes"] == {"retrieval": 0, "generation": 6, "both": 0, "unknown": 0}
    assert [nodeid[-4:] for nodeid in comparison["comparisons"][0]["fixed"]] == ["[q2]"]
    assert len(run.results["baseline"]["cases"]) == 12
    expect_show_prints_the_same(run.text, capsys)


def expect_show_prints_the_same(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert that `rageval show` prints the sections of the baseline and the gates like the summary."""
    capsys.readouterr()
    assert main(["show", "--full"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("against "))
    end = next(at for at, line in enumerate(lines) if line.startswith("rag: "))
    sections = lines[start : end - 1]  # up to the empty line before the account
    assert "gates" in sections
    assert sections == [line.rstrip() for line in text.splitlines()][line_number(text, lines[start]) :][: len(sections)]


def line_number(text: str, line: str) -> int:
    return [each.rstrip() for each in text.splitlines()].index(line)


@pytest.mark.parametrize(
    ("gate", "status"),
    [("accuracy >= baseline - 0.5", "passed"), ("accuracy >= baseline - 0.2", "failed"), ("accuracy >= 0.1", "passed")],
)
def test_a_drop_within_the_tolerance_holds(project: Project, gate: str, status: str) -> None:
    project.says(rows(12), f'gates=["{gate}"]')
    breaks(project)
    project.run(*UPDATE)
    breaks(project, *odd(12)[:5])
    run = project.run(*AGAINST)
    assert (run.gates[gate]["status"], run.status) == (status, int(status == "failed"))


@pytest.mark.parametrize(("policy", "status"), [("pass", 0), ("warn", 0), ("fail", 1)])
def test_rag_inconclusive_decides_on_too_few_cases(project: Project, policy: str, status: int) -> None:
    project.says(rows(6), 'gates=["accuracy >= baseline"]')
    breaks(project)
    project.file("pytest.ini", f"[pytest]\nrag_baseline = baselines/b.json\nrag_inconclusive = {policy}")
    assert project.run("--rag-update-baseline").status == 0
    assert (project.path / "baselines" / "b.json").is_file()
    breaks(project, "q1", "q2")
    run = project.run("-v")
    assert run.status == status
    assert run.gates["accuracy >= baseline"]["verdict"] == "inconclusive"
    if policy == "fail":
        run.said("*over * cases, not significant*")
    else:
        run.said("*inconclusive: too few cases to decide*", "  INCONCLUSIVE  accuracy >= baseline *")
    warning = "warning: test_it: accuracy >= baseline is inconclusive; rag_inconclusive = fail would fail it"
    assert (warning in run.prose) == (policy == "warn")


def test_the_significance_level_of_the_ini_decides(project: Project) -> None:
    project.says(rows(6), 'gates=["accuracy >= baseline"]')
    breaks(project)
    project.run(*UPDATE)
    breaks(project, "q1", "q2", "q3")
    assert project.run(*AGAINST, "-o", "rag_alpha=0.13").status == 1
    assert project.run(*AGAINST, "-o", "rag_alpha=0.12").status == 0


def test_gates_of_a_session_share_the_significance_level(project: Project, mode: Mode) -> None:
    project.says(rows(12), 'gates=["accuracy[topic=Funds] >= baseline", "accuracy[topic=Loans] >= baseline"]')
    breaks(project, "q1", "q3", "q5", "q7")
    project.run(*UPDATE, *mode)
    breaks(project, "q2", "q4", "q6", "q8", "q10", "q9")
    run = project.run("-v", *AGAINST, *mode)
    funds, loans = run.gates.values()
    assert (run.status, funds["verdict"], loans["verdict"]) == (0, "inconclusive", "not_worse")
    assert funds["p_value"] == 1 - (31 / 32) ** 2  # each of the two gates could have five broken cases of five
    run.said("*one-sided p 0.062 over 6 cases, corrected over 2 comparisons*")
    run = project.run("-v", *AGAINST, "-o", "rag_alpha_per=gate", *mode)
    funds, loans = run.gates.values()
    assert (run.status, funds["verdict"], loans["verdict"]) == (1, "worse", "not_worse")
    assert funds["p_value"] == 1 / 32
    assert "corrected" not in run.text


def test_repeats_and_two_systems_are_compared_case_by_case(project: Project) -> None:
    project.says(rows(8), 'gates=["accuracy >= baseline"]')
    project.file(
        "systems.py",
        """
        import os

        def good(query):
            return "Paris"

        def worse(query):
            return os.environ.get("SAYS", "Paris")
        """,
    )
    systems = ("--rag-system", "systems:good", "--rag-system", "systems:worse", "--rag-repeat", "2")
    project.run(*UPDATE, *systems)
    baseline = json.loads((project.path / "rag-baseline.json").read_text(encoding="utf-8"))
    assert len(baseline["cases"]) == 16
    assert {len(each["said"]) for each in baseline["cases"]} == {2}
    project.pytester.plugins.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAYS", "Rome")
        run = project.run("-v", *AGAINST, *systems)
    assert run.status == 1
    gate = run.gates["accuracy >= baseline"]
    assert [(cell["slice"]["system"], cell["verdict"], cell["n_pairs"]) for cell in gate["cells"]] == [
        ("systems:good", "not_worse", 8),
        ("systems:worse", "worse", 8),
    ]
    run.said("test_it accuracy (systems:worse): broke q1, q2, q3, q4, q5, q6, q7, q8")


def test_new_removed_renamed_and_changed_cases_are_not_compared(project: Project) -> None:
    project.says(rows(5), 'gates=["accuracy >= baseline"]')
    breaks(project)
    project.run(*UPDATE)
    first, second, third, fourth, _ = rows(5)
    project.data([first, {**second, "id": "kettle"}, {**third, "answers": ["Lyon"]}, fourth, case("q9", "q9 Paris")])
    run = project.run("-v", *AGAINST)
    assert run.status == 0
    run.said("against *: 3 cases compared, 1 renamed, 1", "  new, 1 removed, 1 changed, data or settings differ")
    assert run.gates["accuracy >= baseline"]["n_pairs"] == 3
    counts = run.results["comparison"]["cases"]
    assert counts["renamed"] == [["test_it.py::test_it[q2]", "test_it.py::test_it[kettle]"]]
    assert counts["changed"] == ["test_it.py::test_it[q3]"]


INVALID: dict[str, tuple[str | None, str]] = {
    "none": (None, "there is no baseline *rag-baseline.json yet; write it with --rag-update-baseline"),
    "conflict": ("<<<<<<< ours\n{}", "*rag-baseline.json:1: invalid JSON *; resolve the conflict or *"),
    "another": ('{"schema": 9}', "*rag-baseline.json: the baseline's schema is 9, expected 1 or 2; *"),
}


@pytest.mark.parametrize("kind", INVALID)
def test_a_baseline_that_cannot_be_read_is_a_usage_error(project: Project, kind: str) -> None:
    text, problem = INVALID[kind]
    project.says(rows(1), conftest=SAYS)
    if text is not None:
        project.file("rag-baseline.json", text)
    run = project.run(*AGAINST)
    assert run.status == 4
    assert run.results is None
    run.result.stderr.fnmatch_lines([f"ERROR: {problem} [[]RAG*"])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--rag-update-baseline"], "there is no baseline to update; name one with --rag-baseline or as rag_baseline"),
        (
            [*UPDATE, "--rag-update-baseline-part"],
            "--rag-update-baseline and --rag-update-baseline-part exclude each other",
        ),
        ([*UPDATE, "--rag-shard", "1/2"], "--rag-update-baseline needs a whole run, and --rag-shard runs a part"),
        (["--rag-baseline", "."], " is a directory; name a file"),
        ([*AGAINST, "-o", "rag_alpha=5%"], "rag_alpha is '5%'; write a share above 0 and below 0.5, such as 0.05"),
        ([*AGAINST, "-o", "rag_inconclusive=maybe"], "rag_inconclusive is 'maybe'; write pass, warn or fail"),
        ([*AGAINST, "-o", "rag_alpha_per=run"], "rag_alpha_per is 'run'; write session or gate"),
    ],
)
def test_invalid_settings_are_usage_errors(project: Project, arguments: Sequence[str], problem: str) -> None:
    project.says([case("q1", RIGHT), case("q2", WRONG)])
    run = project.run(*arguments)
    assert run.status == 4
    assert problem in run.result.stderr.str()
