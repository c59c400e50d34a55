"""The committed cases of the example match its plan, and `rageval lint` accepts them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.projects.readme_blocks import ROOT

from pytest_rageval.cli import main

EXAMPLE = ROOT / "example_project"
RENEW = "cd example_project && rageval generate plan.toml --out data/generated --force"
FORBIDDEN_CHECKS = {"gold_in_negative", "gold_in_fake", "near_duplicate_question"}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the plan and its data, without generated cases, into a folder and change to it."""
    copy = tmp_path / "desk"
    for name in ("plan.toml", "data/stops.csv", "data/lines.csv"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLE / name, copy / name)
    shutil.copytree(EXAMPLE / "data" / "notices", copy / "data" / "notices")
    monkeypatch.chdir(copy)
    return copy


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def generate(out: str) -> Path:
    assert main(["generate", "plan.toml", "--out", out]) == 0
    return Path(out)


def lint_findings(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[tuple[str, str]]]:
    """Return the exit status of lint for the sets of a folder, and origin and check of forbidden findings."""
    sets = [path for path in sorted(folder.glob("*_t*.jsonl")) if path.name.startswith(("auto_", "human_"))]
    assert len(sets) >= 2
    capsys.readouterr()
    status = main(["lint", "--json", "--corpus", str(folder / "corpus.jsonl"), *(f"jsonl:{path}" for path in sets)])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return status, [
        (str(each["origin"]), str(each["check"]))
        for each in findings
        if each["check"] in FORBIDDEN_CHECKS or each["severity"] == "error"
    ]


def test_the_committed_cases_equal_freshly_generated_ones(desk: Path) -> None:
    committed, fresh = files_in(EXAMPLE / "data" / "generated"), files_in(generate("data/generated"))
    differ = sorted(name for name in committed | fresh if committed.get(name) != fresh.get(name))
    assert differ == [], f"renew them: {RENEW}"


def test_lint_finds_no_fault_in_the_committed_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint_findings(EXAMPLE / "data" / "generated", capsys) == (0, [])


def test_lint_finds_no_fault_in_any_kind_of_generated_case(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The plan covers all abilities, all text tasks, every row and two sets: 300 drafts."""
    plan = (desk / "plan.toml").read_text(encoding="utf-8")
    everything = [
        line
        for line in plan.splitlines()
        if not line.startswith(("counterfactuals", "integration", "auto_test", "n = ", "tasks", "negatives"))
    ]
    (desk / "plan.toml").write_text("\n".join(everything) + "\n", encoding="utf-8")
    folder = generate("all")
    kinds = {"auto_test.counterfactual.jsonl", "auto_test.integration.jsonl", "auto_test.jsonl", "human_test.jsonl"}
    assert kinds <= set(files_in(folder))
    assert lint_findings(folder, capsys) == (0, [])
