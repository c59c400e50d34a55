"""``rageval history``: a metric by run and by commit of a baseline."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import clustered_interval
from pytest_rageval.cli import main
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.files.run_folder import write_atomically
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

ONE, TWO, JUDGE = "t.py::one", "t.py::two", "t.py::judge"
TESTBEDS = {
    ONE: TestbedPlan(ONE, "one", ("accuracy", "token_f1")),
    TWO: TestbedPlan(TWO, "two", ("token_f1",)),
    JUDGE: TestbedPlan(JUDGE, "judge", ("token_f1",), labelled=True),
}
METRICS = {"accuracy": MetricInfo(binary=True), "token_f1": MetricInfo()}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def outcomes_of(testbed: str, *values: float | None, system: str = "mine") -> list[Outcome]:
    """Return one outcome per value, the same for both metrics; None is an error."""
    return [
        Outcome(f"{testbed}[q{at}-{system}]", f"q{at}", testbed, {}, system, "error", error="no", error_type="no")
        if value is None
        else Outcome(
            f"{testbed}[q{at}-{system}]", f"q{at}", testbed, {}, system, "scored",
            scores={name: Score(value) for name in TESTBEDS[testbed].metrics},
        )
        for at, value in enumerate(values)
    ]  # fmt: skip


def write_run(
    root: Path, day: int, *outcomes: Outcome, missing: int = 0, part: str = "", interrupted: bool = False
) -> Path:
    """Write a run's results.json and return its path."""
    started = datetime(2026, 1, day, tzinfo=timezone.utc)
    cases = {each.nodeid: (each.case_id, each.testbed, each.system, 0) for each in outcomes}
    cases |= {f"{ONE}[late{at}]": (f"late{at}", ONE, "mine", 0) for at in range(missing)}
    testbeds = {nodeid: plan for nodeid, plan in TESTBEDS.items() if any(each.testbed == nodeid for each in outcomes)}
    run = Run(started, Plan(testbeds, cases, [{}], METRICS, part=part), interrupted=interrupted)
    for each in outcomes:
        run.take(encode_outcome(each), None)
    name = started.strftime("%Y%m%dT%H%M%S")
    path = root / ".rageval" / "runs" / name / "results.json"
    write_atomically(path, results_of(run, name, started, MatrixChoice()))
    return path


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["history", *arguments]) == 0
    out, err = capsys.readouterr()
    assert not err
    return out.splitlines()


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["history", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    return err.strip()


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads("\n".join(lines(capsys, *arguments, "--json")))


def test_each_testbed_and_system_has_a_table_with_a_sparkline(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(project, 1, *outcomes_of(ONE, 1.0, 0.0), *outcomes_of(TWO, 0.25))
    write_run(
        project, 2, *outcomes_of(ONE, 1.0, 1.0, None), *outcomes_of(ONE, 0.0, system="other"), *outcomes_of(JUDGE, 1.0)
    )
    write_run(project, 3, *outcomes_of(ONE, 0.0, 0.0, 1.0, 1.0), missing=2, part="1 case left out", interrupted=True)
    output = lines(capsys)
    assert [line.split("  ")[0] for line in output if "system" in line] == [
        "one · accuracy · system mine",
        "one · accuracy · system other",
        "two · token_f1 · system mine",
    ]
    assert output[0] == "one · accuracy · system mine  ▁█"  # a partial run is not a drop
    assert output[2].split() == ["run", "when", "value", "n", "95", "%", "delta", "errors"]
    assert output[4:7] == [
        "20260101T000000  2026-01-01 00:00      0.5    2  [0.09, 0.91]        –         0",
        "20260102T000000  2026-01-02 00:00        1    2  [0.34, 1.00]  +0.5000         1",
        "20260103T000000  2026-01-03 00:00      0.5    4  [0.15, 0.85]        –         0",
    ]
    assert [line.split("  ")[-1] for line in output[8:13]][::4] == ["notes", "interrupted, 2 not run, 1 case left out"]
    assert (
        "errors" not in output[output.index("two · token_f1 · system mine  ▅") + 2]
    )  # the column is left out if no case failed


def test_options_select_one_metric_testbed_and_system(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, 1, *outcomes_of(ONE, 1.0, 0.5), *outcomes_of(ONE, 0.0, system="other"), *outcomes_of(TWO, 0.25))
    output = json_of(capsys, "--metric", "token_f1", "--testbed", "one", "--system", "mine")
    (series,) = output["series"]
    assert (series["testbed"], series["system"], series["metric"]) == (ONE, "mine", "token_f1")
    (point,) = series["points"]
    assert (point["run"], point["value"], point["n"], point["delta"]) == ("20260101T000000", 0.75, 2, None)
    assert output == json_of(capsys, "--metric", "token_f1", "--testbed", ONE, "--system", "mine")
    assert [each["name"] for each in json_of(capsys, "--metric", "token_f1")["series"]] == ["one", "one", "two"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--metric", "acuracy"), "--metric: unknown metric 'acuracy'; did you mean 'accuracy'?"),
        (("--testbed", "three"), "--testbed: unknown testbed 'three'; known: one, two"),
        (("--system", "theirs"), "--system: unknown system 'theirs'; known: mine"),
    ],
)
def test_an_unknown_name_is_reported(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, str], sentence: str
) -> None:
    write_run(project, 1, *outcomes_of(ONE, 1.0), *outcomes_of(TWO, 1.0))
    assert error_of(capsys, *arguments).startswith(f"rageval: {sentence}")


def test_unreadable_runs_are_listed_in_one_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(project, 1, *outcomes_of(ONE, 1.0))
    for day in (2, 3):
        write_run(project, day, *outcomes_of(ONE, 1.0)).unlink()
    broken = write_run(project, 4, *outcomes_of(ONE, 1.0))
    broken.write_text(broken.read_text()[:300])
    newer = write_run(project, 5, *outcomes_of(ONE, 1.0))
    newer.write_text(newer.read_text().replace('"schema": 1', '"schema": 2'))
    output = lines(capsys)
    assert output[-2:] == [
        "not read, because results.json is missing (cut short or still running): 20260102T000000, 20260103T000000",
        "not read, because results.json is truncated or has another version: 20260104T000000, 20260105T000000",
    ]
    assert [each["run"] for each in json_of(capsys)["unread"]] == [f"2026010{day}T000000" for day in (2, 3, 4, 5)]


def test_missing_or_unreadable_runs_are_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no run under" in error_of(capsys)
    write_run(project, 1, *outcomes_of(ONE, 1.0)).unlink()
    assert "no run can be read; the newest, 20260101T000000, is unreadable because results.json is missing" in error_of(
        capsys
    )


@pytest.mark.parametrize("indent", [None, 1])
def test_a_file_without_totals_is_read_as_a_whole(
    project: Path, capsys: pytest.CaptureFixture[str], indent: int | None
) -> None:
    path = write_run(project, 1, *outcomes_of(ONE, 1.0, 0.0, None), *outcomes_of(JUDGE, 1.0))
    before = json_of(capsys)
    results = json.loads(path.read_text())
    assert [total["metric"] for total in results.pop("totals")] == ["accuracy", "token_f1", "token_f1"]
    path.write_text(json.dumps(results, indent=indent))
    assert json_of(capsys) == before


def test_only_the_head_of_a_file_is_read(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_run(project, 1, *outcomes_of(ONE, 1.0))
    before = json_of(capsys)
    path.write_text(path.read_text().partition('"instances"')[0] + '"instances": what is here is not looked at')
    assert json_of(capsys) == before


def commit(root: Path, message: str, text: str | None, name: str = "rag-baseline.json") -> None:
    """Commit a baseline, or remove it if there is no text."""
    path = root / name
    path.unlink() if text is None else path.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


def git(root: Path, *arguments: str) -> int:
    options = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", str(root), *options, *arguments], check=False, capture_output=True).returncode


def baseline(*values: float | None) -> str:
    rows: list[dict[str, Any]] = [
        {"testbed": ONE, "case": f"q{at}", "system": "mine", "facets": {}, "evidence": None, "said": [], "data": ""}
        | ({"scores": {}, "failed": True} if value is None else {"scores": {"accuracy": value}})
        for at, value in enumerate(values)
    ]
    testbeds = {ONE: {"name": "one", "metrics": ["accuracy", "token_f1"]}}
    metrics = {"accuracy": {"binary": True, "higher_is_better": True}}
    run = {"id": "20260101T000000", "started": "2026-01-01T00:00:00+00:00"}
    head = {"schema": 1, "run": run, "fingerprint": "", "versions": {}}
    return json.dumps({**head, "metrics": metrics, "testbeds": testbeds, "cases": rows})


def test_a_baseline_has_a_point_for_each_commit(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    commit(project, "Begin", baseline(1, 0))
    commit(project, "Lose the file", None)
    commit(project, "Leave a conflict", "<<<<<<<")
    commit(project, "Mend\u2028 it", baseline(1, 1, 1, None))
    (project / "other").write_text("unrelated")
    commit(project, "Change another file", baseline(1, 1, 1, None))
    output = json_of(capsys, "--baseline", "rag-baseline.json")
    (series,) = output["series"]
    first, second = series["points"]
    assert (first["subject"], first["value"], first["n"], first["n_errors"]) == ("Begin", 0.5, 2, 0)
    assert (second["subject"], second["value"], second["n"], second["n_errors"]) == ("Mend\u2028 it", 1.0, 3, 1)
    assert second["delta"] == 0.5
    assert len(second["commit"]) == 40
    assert [each["why"] for each in output["unread"]] == [
        "because it removed the file",
        "because the file is not a baseline at this commit, or has another version",
    ]
    table = lines(capsys, "--baseline", str(project / "rag-baseline.json"))
    assert table[0] == "one · accuracy · system mine  ▁█"
    assert table[4].startswith(first["commit"][:12] + " ")


def test_a_baseline_has_the_intervals_of_its_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    old_baseline = json.loads(baseline(1, 0, 1, 1))
    for at, case in enumerate(old_baseline["cases"]):
        case |= {"case": f"q{at // 2}", "facets": {"noise_rate": str(at % 2)}}
    commit(project, "Two cases at two rates", json.dumps(old_baseline))
    [point] = json_of(capsys, "--baseline", "rag-baseline.json")["series"][0]["points"]
    assert point["n"] == 4
    assert point["ci95"] == pytest.approx(clustered_interval([[1.0, 0.0], [1.0, 1.0]], binary=True))


def test_runs_of_the_same_second_are_separate(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(project, 1, *outcomes_of(ONE, 1.0)).parent
    shutil.copytree(folder, folder.with_name(f"{folder.name}-2"))
    assert [line.split()[0] for line in lines(capsys)[4:6]] == ["20260101T000000", "20260101T000000-2"]


def test_a_moved_and_merged_baseline_has_its_whole_history(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(project, "init", "-q", "-b", "main")
    commit(project, "Begin", baseline(1, 0, 0, 0))
    git(project, "checkout", "-qb", "side")
    commit(project, "On one side", baseline(1, 1, 0, 0))
    git(project, "checkout", "-q", "main")
    commit(project, "On the other", baseline(0, 0, 0, 0))
    assert git(project, "merge", "side") == 1  # in conflict
    commit(project, "Merge", baseline(1, 1, 1, 0))
    (project / "tests").mkdir()
    git(project, "mv", "rag-baseline.json", "tests/größe.json")
    commit(project, "Move", baseline(1, 1, 1, 0), "tests/größe.json")
    commit(project, "Change", baseline(1, 1, 1, 1), "tests/größe.json")
    (series,) = json_of(capsys, "--baseline", "tests/größe.json")["series"]
    points = [(point["subject"], point["value"]) for point in series["points"]]
    assert sorted(points[1:3]) == [("On one side", 0.5), ("On the other", 0.0)]
    assert [points[0], *points[3:]] == [("Begin", 0.25), ("Merge", 0.75), ("Move", 0.75), ("Change", 1.0)]


def test_a_baseline_without_a_history_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "rag-baseline.json").write_text(baseline(1))
    message = error_of(capsys, "--baseline", "rag-baseline.json")
    assert message.startswith("rageval: git cannot read the history of rag-baseline.json (fatal: not a git repository")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / "other").write_text("unrelated")
    assert "git cannot read" in error_of(capsys, "--baseline", "rag-baseline.json")  # the repository has no commit
    commit(project, "Begin", baseline(1))
    assert "no commit has nowhere.json; commit it, or leave" in error_of(capsys, "--baseline", "nowhere.json")
