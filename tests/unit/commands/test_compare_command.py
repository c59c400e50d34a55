"""``rageval compare``: input, output and errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.codes import without_code

from pytest_rageval.analysis.baseline.snapshot import Measured, MeasuredTestbed, Snapshot
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.cli import main
from pytest_rageval.report.files.baseline_file import write_baseline
from pytest_rageval.report.text.tables import MAX_SHOWN

TESTBED = "test_a.py::test_a"
N = 24


def case(number: int, value: float, system: str = "mine", **changes: Any) -> Measured:
    name, topic = f"q{number:02}", "Funds" if number % 2 else "Loans"
    facets = {"topic": topic, "task": "qa"}
    measured_case = Measured(
        TESTBED, name, system, facets, f"{number:016x}", (f"{value:016}",), 1.0, {"accuracy": value, "f1": 0.5}
    )
    return replace(measured_case, **changes)


def run_of(cases: Sequence[Measured], **changes: Any) -> Snapshot:
    metrics = {"accuracy": MetricInfo(binary=True), "f1": MetricInfo()}
    testbeds = {TESTBED: MeasuredTestbed("test_a", ("accuracy", "f1"))}
    ordered = tuple(sorted(cases, key=lambda each: each.key))
    return replace(Snapshot("r1", "2026-01-02T03:04:05+00:00", "sha256:0", {}, metrics, testbeds, ordered), **changes)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def two_runs(project: Path) -> Path:
    """Write two runs: nearly all right, then all Funds cases broken except one that is fixed."""
    old = [case(n, float(n != 1)) for n in range(N)]
    new = [case(n, float(n % 2 == 0 or n == 1), evidence=0.0 if n == 3 else 1.0) for n in range(N)]
    write_baseline(project / "old.json", run_of(old))
    write_baseline(project / "new.json", run_of(new, run="r2"))
    return project


def output_lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["compare", *arguments]) == 0
    out, err = capsys.readouterr()
    assert not err
    return out.splitlines()


def plain(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads("\n".join(output_lines(capsys, *arguments, "--json")))


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["compare", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    (line,) = err.splitlines()
    return without_code(line)


def test_two_runs_are_shown_side_by_side(two_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_lines(capsys, "old.json", "new.json")
    assert lines[:3] == [
        "old: old.json (run r1), of 2026-01-02 03:04, 24 cases of mine",
        "new: new.json (run r2), of 2026-01-02 03:04, 24 cases of mine",
        "24 cases compared",
    ]
    rows = [line.split() for line in lines]
    assert ["test_a", "accuracy", "0.96", "0.54", "-0.417", "[-0.62,", "-0.14]", "24"] in [row[:8] for row in rows]
    assert ["Funds", "x", "qa", "0.92", "0.08"] in [row[:5] for row in rows]
    assert "of 2 cells 1 without a change" in lines
    head = next(
        at for at, row in enumerate(rows) if row[:1] == ["topic"] and "p" in row
    )  # the table of the cells, not of all cases
    assert "0.0063" in rows[head + 2]
    assert "test_a accuracy: fixed q01" in lines
    text = " ".join(" ".join(lines).split())
    assert "q19, q21, ... 1 more (retrieval 1, generation 10)" in text
    assert (
        "in (Funds x qa) fell by 0.833, p 0.013 after correction over 2 cells; broke: retrieval 1, generation 10"
        in text
    )
    assert max(map(len, lines)) <= 100
    assert lines.index("test_a accuracy: fixed q01") < next(at for at, row in enumerate(rows) if "was" in row)
    assert "1 metric unchanged" in lines  # f1 has no row
    assert not any(row[:2] == ["test_a", "f1"] for row in rows)


def test_a_table_fits_the_terminal(
    two_runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    tables = [line for line in output_lines(capsys, "old.json", "new.json") if "--" in line]
    assert max(map(len, tables)) <= 50


def test_the_json_has_each_metric_and_cell(two_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    comparison = plain(capsys, "old.json", "new.json")
    assert (comparison["old"]["run"], comparison["new"]["run"], comparison["alpha"]) == ("r1", "r2", 0.05)
    assert comparison["new"]["systems"] == ["mine"]
    assert comparison["cases"]["compared"] == N
    overall, funds, loans, *f1 = comparison["comparisons"]
    assert (overall["metric"], overall["slice"], overall["n_pairs"]) == ("accuracy", {}, N)
    assert overall["delta"] == pytest.approx(-10 / N)
    assert overall["p_value"] == pytest.approx(2 * 13 / 2**12)
    assert overall["ci95"][0] < overall["delta"] < overall["ci95"][1]
    assert len(overall["broken"]) == 11
    assert overall["fixed"] == [f"{TESTBED}[q01]"]
    assert overall["causes"] == {"retrieval": 1, "generation": 10, "both": 0, "unknown": 0}
    assert [each["slice"] for each in (funds, loans)] == [
        {"topic": topic, "task": "qa"} for topic in ("Funds", "Loans")
    ]
    assert funds["p_holm"] == 2 * funds["p_value"]
    assert [each["metric"] for each in f1] == ["f1"] * 3


def test_the_heading_does_not_count_variants(two_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = [case(n, 1.0, facets={"relation": "typo", "variant": "1"}) for n in range(N)]
    write_baseline(two_runs / "more.json", run_of([*(case(n, 1.0) for n in range(N)), *changed]))
    assert f", {N} cases of mine" in output_lines(capsys, "more.json", "new.json")[0]
    assert json.loads("".join(output_lines(capsys, "more.json", "new.json", "--json")))["old"]["n_cases"] == N


def test_swapped_runs_flip_signs_and_broken_cases_become_fixed(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forward = plain(capsys, "old.json", "new.json")["comparisons"]
    backward = plain(capsys, "new.json", "old.json")["comparisons"]
    for one, other in zip(forward, backward, strict=True):
        assert one["slice"] == other["slice"]
        assert other["delta"] == pytest.approx(-one["delta"])
        assert other["ci95"] == pytest.approx([-one["ci95"][1], -one["ci95"][0]])
        assert (other["p_value"], other["p_holm"]) == (one["p_value"], one["p_holm"])
        assert sorted(other["broken"]) == sorted(one["fixed"])
        assert sorted(other["fixed"]) == sorted(one["broken"])


def test_cases_without_a_pair_are_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = [case(n, 1.0) for n in range(2)]
    old = [*same, case(2, 1.0), case(3, 1.0), case(4, 1.0), case(5, 1.0)]
    new = [
        *same,
        case(2, 1.0, case="kettle"),
        case(3, 1.0, data="f" * 16),
        case(4, 1.0, failed=True, scores={}),
        case(9, 1.0),
    ]
    write_baseline(project / "old.json", run_of(old))
    write_baseline(project / "new.json", run_of(new, fingerprint="sha256:1"))
    lines = output_lines(capsys, "old.json", "new.json")
    assert lines[2:8] == [
        "3 cases compared, 1 renamed, 1 new, 1 removed, 1 changed, 1 in error, data or settings differ",
        f"  renamed: {TESTBED}[q02] -> {TESTBED}[kettle]",
        f"  new: {TESTBED}[q09]",
        f"  removed: {TESTBED}[q05]",
        f"  changed: {TESTBED}[q03]",
        f"  in error: {TESTBED}[q04]",
    ]
    assert "no score changed" in lines
    assert plain(capsys, "old.json", "new.json")["cases"]["renamed"] == [[f"{TESTBED}[q02]", f"{TESTBED}[kettle]"]]


def test_several_systems_are_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case(n, 1.0, system) for n in range(4) for system in ("bm25", "dense")]
    write_baseline(project / "b.json", run_of(cases))
    write_baseline(project / "worse.json", run_of([replace(each, scores={"accuracy": 0.0}) for each in cases]))
    lines = output_lines(capsys, "b.json", "worse.json")
    assert [line.split()[2] for line in lines if line.startswith("test_a accuracy (") and "1.00" in line] == [
        "(bm25)", "(dense)",
    ]  # fmt: skip
    comparison = plain(capsys, "b.json", "b.json")
    assert {each["system"] for each in comparison["comparisons"]} == {"bm25", "dense"}


def test_runs_without_a_common_case_have_nothing_to_compare(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_baseline(project / "old.json", run_of([case(1, 1.0)]))
    write_baseline(project / "new.json", run_of([case(2, 1.0)]))
    lines = output_lines(capsys, "old.json", "new.json", "--plan", "0.1")
    assert " ".join(line.strip() for line in lines[2:]) == (
        "nothing to compare: no case has a score in both runs: 1 new (test_a.py::test_a[q02]), "
        "1 removed (test_a.py::test_a[q01]); name two runs of the same cases (rageval runs lists the runs)"
    )
    assert plain(capsys, "old.json", "new.json", "--plan", "0.1")["plan"] == []


def test_runs_without_a_common_case_name_the_first_three_of_each(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, start in (("old.json", 100), ("new.json", 200)):
        write_baseline(project / name, run_of([case(at, 1.0) for at in range(start, start + 60)]))
    text = " ".join(line.strip() for line in output_lines(capsys, "old.json", "new.json")[2:])
    assert "60 new (test_a.py::test_a[q200], test_a.py::test_a[q201], test_a.py::test_a[q202], ... 57 more)" in text
    assert "q203" not in text


def test_rows_and_cols_choose_the_facets_of_the_cells(two_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    comparison = plain(capsys, "old.json", "new.json", "--rows", "task", "--cols", "topic")
    assert [each["slice"] for each in comparison["comparisons"]][1] == {"task": "qa", "topic": "Funds"}


def test_a_stricter_level_makes_fewer_differences_significant(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert any("fell by 0.417" in line for line in output_lines(capsys, "old.json", "new.json"))
    assert not any("fell by 0.417" in line for line in output_lines(capsys, "old.json", "new.json", "--alpha", "0.001"))


def test_a_plan_reports_how_many_cases_a_drop_needs(two_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_lines(capsys, "old.json", "new.json", "--plan", "0.05")
    at = lines.index("cases that a drop of 0.05 needs to be found with 80 % power, if as many change by chance as here")
    name, metric, n, changing, least, needed = lines[at + 4].split()
    assert (name, metric, n, changing) == ("test_a", "accuracy", "24", "21.4%")
    (plan,) = plain(capsys, "old.json", "new.json", "--plan", "0.05")["plan"]
    assert (plan["cases_needed"], plan["n_pairs"], plan["drop"]) == (int(needed.replace(",", "")), 24, 0.05)
    assert plan["least_drop"] == pytest.approx(float(least), abs=1e-4)
    assert not any("upper bound" in line for line in lines)
    same = " ".join(line.strip() for line in output_lines(capsys, "old.json", "old.json", "--plan", "0.05"))
    assert "with 80 % power, if at most this share changes by chance" in same
    assert "changing: an upper bound of the share of cases that change by chance, because none changed here" in same
    unchanged_plan = plain(capsys, "old.json", "old.json", "--plan", "0.05")["plan"]
    assert unchanged_plan[0]["cases_needed"] < plan["cases_needed"]


def test_the_number_of_cells_is_limited_on_a_terminal(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facets = [{"topic": f"t{n}", "task": "qa"} for n in range(MAX_SHOWN + 7)]
    for name, value in (("old.json", 1.0), ("new.json", 0.0)):
        write_baseline(project / name, run_of([case(n, value, facets=each) for n, each in enumerate(facets)]))
    lines = output_lines(capsys, "old.json", "new.json")
    assert f"of {MAX_SHOWN + 7} cells 7 more with one" in lines


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--alpha", "0"], "rageval: --alpha is '0'; write a share above 0 and below 0.5, such as 0.05"),
        (["--alpha", "nan"], "rageval: --alpha is 'nan'; write a share above 0 and below 0.5, such as 0.05"),
        (["--plan", "5%"], "rageval: --plan is '5%'; write a drop above 0 and up to 1, such as 0.05"),
        (["--plan", "0"], "rageval: --plan is '0'; write a drop above 0 and up to 1, such as 0.05"),
        (["--rows", "topik"], "rageval: --rows: unknown facet 'topik'; did you mean 'topic'?"),
    ],
)
def test_an_invalid_option_is_refused(
    two_runs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert error_of(capsys, "old.json", "new.json", *arguments) == problem


def test_an_unreadable_run_is_one_sentence(two_runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (two_runs / "old.json").read_text(encoding="utf-8")
    (two_runs / "cut.json").write_text(text[:-40], encoding="utf-8")
    (two_runs / "cut-results.json").write_text('{"schema": 1, "outcomes": [', encoding="utf-8")
    (two_runs / "other.json").write_text("[]", encoding="utf-8")
    assert error_of(capsys, "cut.json", "new.json").startswith("rageval: cut.json:")
    assert "is not a results.json that this version can read" in error_of(capsys, "old.json", "cut-results.json")
    assert "the baseline's schema is None" in error_of(capsys, "old.json", "other.json")
    assert error_of(capsys, "old.json", "nowhere").startswith("rageval: the run nowhere is not under ")


def test_the_largest_drop_is_first_and_unchanged_metrics_are_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("accuracy", "f1", "hallucination", "rouge_l", "same", "other")
    metrics = {name: MetricInfo(higher_is_better=name != "hallucination") for name in names}
    testbeds = {TESTBED: MeasuredTestbed("test_a", names)}
    new_means = dict(zip(names, (0.4, 0.9, 0.8, 0.5, 0.5, 0.5), strict=True))
    for name, values in (("old.json", dict.fromkeys(names, 0.5)), ("new.json", new_means)):
        cases = [case(n, 0.5, scores=values) for n in range(N)]
        write_baseline(project / name, run_of(cases, metrics=metrics, testbeds=testbeds))
    lines = output_lines(capsys, "old.json", "new.json")
    table = lines[next(at for at, line in enumerate(lines) if "was" in line) + 2 :]
    assert [line.split()[1] for line in table[:3]] == ["hallucination", "accuracy", "f1"]
    assert "3 metrics unchanged" in lines
    assert output_lines(capsys, "old.json", "old.json")[3:] == [
        "", "no score changed", "smallest detectable drops: test_a accuracy 0.19", "6 metrics unchanged",
    ]  # fmt: skip
