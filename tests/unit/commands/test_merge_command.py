"""``rageval merge``: errors, exit status and written files."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.cli import main
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Instance
from pytest_rageval.model.codec import encode_instance, encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.results_json import results_of, schema
from pytest_rageval.report.files.run_folder import write_atomically
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.plan import Plan, Shard, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
TESTBED = "t.py::t"
BASELINE: dict[str, Any] = {
    "schema": 2,
    "run": {"id": "20260101T000000", "started": "2026-01-01T00:00:00+00:00"},
    "fingerprint": "sha256:0",
    "versions": {},
    "metrics": {},
    "testbeds": {},
    "cases": [],
    "path": "rag-baseline.json",
}
Change = Callable[[dict[str, Any]], object]


def shard(number: int, of: int = 3, *, gate: str = "accuracy >= 0.5", cases: int = 6, ended: int = 6) -> dict[str, Any]:
    """Return the results of a shard of cases c0, c1 ...: every third is missed; cases from ``ended`` did not run."""
    indices = range(number - 1, cases, of)
    planned = {f"{TESTBED}[c{at}]": (f"c{at}", TESTBED, "mine", 0) for at in indices}
    testbeds = {TESTBED: TestbedPlan(TESTBED, "t", ("accuracy",), (gate,), cases)}
    plan = Plan(testbeds, planned, [{}], {"accuracy": MetricInfo(binary=True)}, fingerprint="sha256:1")
    plan.shard = Shard(number, of, cases, "whole", tuple(indices))
    plan.identity = {
        "settings": {"rag_rejection_markers": "sha256:1"},
        "systems": {"rag_top_k": "5", "rag_model": ""},
        "files": {"t.py": "sha256:1"},
    }
    run = Run(STARTED + timedelta(seconds=number), plan)
    for at in indices:
        if at < ended:
            scores = {"accuracy": Score(float(at % 3 > 0))}
            outcome = Outcome(
                f"{TESTBED}[c{at}]", f"c{at}", TESTBED, {"topic": "A"}, "mine", "scored", Answer("x"), scores
            )
            run.take(encode_outcome(outcome), encode_instance(Instance(f"c{at}", "?", ())))
    run.evaluate_gates()
    return decode_results(results_of(run, f"r{number}", STARTED + timedelta(seconds=10 * number), MatrixChoice()))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*results: dict[str, Any]) -> list[str]:
    names = [f"{at}.json" for at in range(1, len(results) + 1)]
    for name, each in zip(names, results, strict=True):
        write_atomically(Path(name), each)
    return names


def changed(change: Change, number: int = 2) -> list[dict[str, Any]]:
    shards = [shard(at) for at in (1, 2, 3)]
    change(shards[number - 1])
    return shards


def joined_results(project: Path) -> dict[str, Any]:
    """Return the results of the joined run, after validating them."""
    (path,) = project.glob(".rageval/runs/*/results.json")
    results: dict[str, Any] = json.loads(path.read_text())
    Draft202012Validator(schema()).validate(results)
    assert len((path.parent / "outcomes.jsonl").read_text().splitlines()) == len(results["outcomes"])
    assert results["run"]["id"] == path.parent.name
    return results


def test_it_writes_a_run_and_prints_the_summary(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", *write(*(shard(at) for at in (3, 1, 2)))]) == 0
    results = joined_results(project)
    assert [outcome["case_id"] for outcome in results["outcomes"]] == [f"c{at}" for at in range(6)]
    assert "shard" not in results["run"]
    assert results["run"]["started"] == "2026-01-02T03:04:06+00:00"
    assert results["run"]["duration_s"] == 29
    (gate,) = results["gates"]
    assert (gate["status"], gate["n"], gate["value"]) == ("passed", 6, 4 / 6)
    head, *lines, verdict = capsys.readouterr().out.splitlines()
    assert head == f"run {results['run']['id']} of 3 shards, started 2026-01-02T03:04:06+00:00"
    assert verdict.split("  ")[0] == "rag: the gate holds"
    assert verdict.endswith(" 6 cases, 0 errors, cost unknown")
    assert not [line for line in lines if "FAILED" in line]


def set_in_run(results: dict[str, Any], **more: object) -> None:
    results["run"].update(more)


ENDS: dict[str, tuple[list[dict[str, Any]], int, list[str]]] = {
    "a gate": (
        [shard(at, gate="accuracy >= 0.9") for at in (1, 2, 3)],
        1,
        ["0.67 < 0.90 (n 6)", f"FAILED {TESTBED}[gate: accuracy >= 0.9]"],
    ),
    "a test": (
        changed(lambda results: set_in_run(results, failed=["t.py::other"], exitstatus=1)),
        1,
        ["FAILED t.py::other"],
    ),
    "no test": (
        changed(lambda results: set_in_run(results, exitstatus=1)),
        1,
        ["2.json ended with exit status 1, but no test failed"],
    ),
    "interrupted": (
        changed(lambda results: set_in_run(results, exitstatus=2, interrupted=True)),
        2,
        ["rag: interrupted                                 6 cases, 0 errors, cost unknown"],
    ),
    "cut short": (
        [shard(1), shard(2, ended=3), shard(3)],
        0,
        [
            "rag: no gate was judged               5 cases, 0 errors, 1 not run, cost unknown",
        ],
    ),
}


@pytest.mark.parametrize("ending", ENDS)
def test_the_exit_status_is_the_one_that_pytest_would_return(
    ending: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards, status, lines = ENDS[ending]
    assert main(["merge", *write(*shards)]) == status
    out = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line not in out] == []
    assert joined_results(project)["run"]["exitstatus"] == status


def identity_of(results: dict[str, Any]) -> dict[str, dict[str, str]]:
    identity: dict[str, dict[str, str]] = results["plan"]["dealt"]["identity"]
    return identity


def remove_shard(results: dict[str, Any]) -> None:
    del results["run"]["shard"], results["plan"]["dealt"]


INVALID_SHARDS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a gap": (
        [shard(1), shard(3)],
        "the results of shard 2 are missing (1.json is shard 1 of 3, 2.json is shard 3 of 3); name all shards",
    ),
    "an overlap": (
        [shard(1), shard(2), shard(2), shard(3)],
        "2.json and 3.json are both shard 2 of 3; merge each shard once",
    ),
    "a duplicate case": (
        changed(lambda results: results["outcomes"][0].update(nodeid=f"{TESTBED}[c0]")),
        f"2.json holds the case {TESTBED}[c0], which another shard has too; merge each case once",
    ),
    "a whole run": (
        changed(remove_shard),
        "2.json is not a shard; name the results of runs with --rag-shard",
    ),
    "other shards": (
        [shard(1), shard(2, of=2)],
        "1.json and 2.json differ in the number of shards; merge the shards of one run",
    ),
    "other data": (
        changed(lambda results: set_in_run(results, fingerprint="sha256:2")),
        "1.json and 2.json differ in the data or the settings that cases are made with; merge the shards of one run",
    ),
    "another version": (
        changed(lambda results: results["run"]["versions"].update({"rjieba": "9"}), 3),
        "differ in the version of rjieba (",
    ),
    "other cases": (
        changed(lambda results: results["plan"]["dealt"].update(selection="less")),
        "1.json and 2.json differ in the cases that were selected, the systems or the repeats; merge",
    ),
    "another setting": (
        changed(lambda results: identity_of(results)["settings"].update(rag_rejection_markers="sha256:2")),
        "1.json and 2.json differ in rag_rejection_markers; merge the shards of one run",
    ),
    "another system": (
        changed(lambda results: identity_of(results)["systems"].update(rag_top_k="7")),
        "1.json and 2.json differ in rag_top_k (5, 7); merge the shards of one run",
    ),
    "a model in one shard only": (
        changed(lambda results: identity_of(results)["systems"].update(rag_model="m")),
        "1.json and 2.json differ in rag_model (not given, m); merge the shards of one run",
    ),
    "another policy": (
        changed(lambda results: results["plan"].update(inconclusive="fail")),
        "1.json and 2.json differ in rag_alpha, rag_alpha_per or rag_inconclusive; merge the shards of one run",
    ),
    "another share to compare": (
        changed(lambda results: results["plan"].update(min_compared=0.9)),
        "1.json and 2.json differ in rag_min_compared; merge the shards of one run",
    ),
    "another policy for parts": (
        changed(lambda results: results["plan"].update(partial_gates="fail")),
        "1.json and 2.json differ in rag_partial_gates; merge the shards of one run",
    ),
    "other gates": (
        changed(lambda results: results["testbeds"][TESTBED].update(gates=[])),
        "1.json and 2.json differ in their testbeds or gates; merge the shards of one run",
    ),
    "another baseline": (
        changed(lambda results: results.update(baseline=BASELINE)),
        "1.json and 2.json differ in the baseline; merge the shards of one run",
    ),
    "too few places": (
        changed(lambda results: results["plan"]["dealt"]["places"].pop()),
        "2.json is not a results.json that this version can read",
    ),
}


@pytest.mark.parametrize("why", INVALID_SHARDS)
def test_an_incomplete_set_of_shards_is_one_sentence(
    why: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards, sentence = INVALID_SHARDS[why]
    assert main(["merge", *write(*shards)]) == 4
    out, err = capsys.readouterr()
    assert not out
    (line,) = err.splitlines()
    assert line.startswith("rageval: ")
    assert sentence in line
    assert not (project / ".rageval").exists()


def test_bad_arguments_are_a_usage_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["merge"])
    assert error.value.code == 4
    assert main(["merge", "none.json"]) == 4
    (name, *_) = write(shard(1, 1))
    assert main(["merge", name, name]) == 4
    assert capsys.readouterr().err.endswith("1.json is named twice; name each shard once [RAG503]\n")


def test_merge_accepts_different_machines_and_keeps_the_baseline(project: Path) -> None:
    def change(results: dict[str, Any]) -> None:
        results["run"]["versions"] |= {"python": "3.99", "pytest": "99"}

    shards = changed(change)
    for each in shards:
        each["baseline"] = BASELINE
    assert main(["merge", *write(*shards), "--out", "all.json"]) == 0
    merged = json.loads(Path("all.json").read_text())
    assert merged["baseline"] == BASELINE
    assert merged["comparison"]["cases"]["compared"] == 0


def test_merge_accepts_run_ids_folders_and_files(project: Path) -> None:
    for at, path in enumerate([".rageval/runs/r1", "downloaded/shard-2"], 1):
        write_atomically(Path(path, "results.json"), shard(at))
    write_atomically(Path("three.json"), shard(3))
    assert main(["merge", "r1", "downloaded/shard-2", "three.json"]) == 0


def test_it_prints_the_written_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--out", "all.json", "--markdown", "all.md")
    assert main(["merge", *write(*(shard(at) for at in (1, 2, 3))), *options]) == 0
    (path,) = Path().glob(".rageval/runs/*/results.json")
    lines = capsys.readouterr().out.splitlines()
    files = ", ".join(line.removeprefix("written: ") for line in lines if line.startswith("written: "))
    assert files == f"{path}, all.json, all.md"


def test_an_unwritable_file_fails_the_command(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("folder").mkdir()
    Path(".rageval").write_text("in the way")
    assert main(["merge", *write(*(shard(at) for at in (1, 2, 3))), "--out", "folder"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("run - of 3 shards, ")
    assert "warning: folder could not be written: " in out
    assert f"warning: nothing is stored in {project / '.rageval'}: " in out


def test_an_interrupt_leaves_no_run_without_results(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = write(shard(1, 2), shard(2, 2))
    runs = project / ".rageval" / "runs"
    run_names: list[str] = []

    def interrupt(*_: object) -> None:
        run_names.extend(path.name for path in runs.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_rageval.report.files.run_folder.write_atomically", interrupt)
    assert main(["merge", *names]) == 130
    assert len(run_names) == 1
    assert list(runs.iterdir()) == []
    assert capsys.readouterr().err == "rageval: interrupted\n"
