"""GitLab's Code Quality report: entries for failed gates, errors and broken cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.cli import main
from pytest_rageval.report.export.code_quality import code_quality_of
from pytest_rageval.report.files.read_results import run_of

Results = dict[str, Any]


@pytest.fixture
def museum(fixtures_dir: Path) -> Results:
    results: Results = json.loads((fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8"))
    return results


def entries_of(results: Results) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(code_quality_of(*run_of(results)))
    return entries


def test_failed_gates_errors_and_broken_cases_have_entries(museum: Results) -> None:
    entries = entries_of(museum)
    kinds = [(entry["check_name"], entry["severity"]) for entry in entries]
    assert kinds == [("rag-gate", "major")] * 4 + [("rag-error", "major")] + [("rag-broken", "minor")] * 6
    assert [entry["description"] for entry in entries[1:6:2]] == [
        "gate accuracy[topic=*, min_n=2] >= 0.3 of desk failed: accuracy is 0.1667 at topic=Loans, system=careful",
        "gate accuracy[noise_rate=0.8] >= 0.5 of test_noise failed: accuracy is 0.3333 at system=careful",
        "tests/museum.rag.toml::desk[ex10-careful] broke: accuracy was 1 and is 0; cause: generation",
    ]
    assert {entry["location"]["path"] for entry in entries} == {"tests/museum.rag.toml", "tests/test_museum.py"}
    for entry in entries:
        assert entry.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["location"]["lines"] == {"begin": 1}
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)


def test_a_fingerprint_identifies_the_problem_without_its_values(museum: Results) -> None:
    before = {entry["description"]: entry["fingerprint"] for entry in entries_of(museum)}
    for outcome in museum["outcomes"]:
        outcome["scores"] = {}
        outcome |= {"status": "error", "error": "no such model", "error_type": "not_found"}
    after = {entry["description"]: entry["fingerprint"] for entry in entries_of(museum)}
    gate = "gate accuracy[noise_rate=0.8] >= 0.5 of test_noise failed"
    [(old_text, old_fingerprint)] = [
        (text, fingerprint) for text, fingerprint in before.items() if text.startswith(gate)
    ]
    [(new_text, new_fingerprint)] = [
        (text, fingerprint) for text, fingerprint in after.items() if text.startswith(gate)
    ]
    assert (old_text != new_text, old_fingerprint == new_fingerprint) == (True, True)
    assert "no such model" not in json.dumps(sorted(after))


def test_a_session_gate_is_located_at_the_first_testbed_and_a_passed_run_has_no_entry(museum: Results) -> None:
    for outcome in museum["outcomes"]:
        outcome["scores"]["accuracy"] = {"value": 1.0}
    museum["outcomes"] = [outcome for outcome in museum["outcomes"] if outcome["status"] == "scored"]
    assert entries_of(museum) == []
    museum["plan"]["session_gates"] = ["error_rate < 0"]
    [entry] = entries_of(museum)
    assert entry["location"]["path"] == next(iter(museum["testbeds"])).partition("::")[0]
    assert entry["description"].startswith("gate error_rate < 0 of session failed")


def test_the_command_writes_the_report(museum: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.json").write_text(json.dumps(museum), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "r.json", "--as", "codequality", "--out", "codequality.json"]) == 0
    assert json.loads((tmp_path / "codequality.json").read_text(encoding="utf-8")) == entries_of(museum)
