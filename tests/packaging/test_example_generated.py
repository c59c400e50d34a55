"""The generated cases of the example are what its plan makes, and `rageval lint` finds no fault in generated sets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.projects.readme_blocks import ROOT

from pytest_rageval.cli import main

EXAMPLE = ROOT / "example_project"
RENEW = "cd example_project && rageval generate plan.toml --out data/generated --force"
NEVER = {"gold_in_negative", "gold_in_fake", "near_duplicate_question"}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the plan and its data, without what the plan has made; the current folder of the test."""
    copy = tmp_path / "desk"
    for name in ("plan.toml", "data/stops.csv", "data/lines.csv"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLE / name, copy / name)
    shutil.copytree(EXAMPLE / "data" / "notices", copy / "data" / "notices")
    monkeypatch.chdir(copy)
    return copy


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def generated(out: str) -> Path:
    assert main(["generate", "plan.toml", "--out", out]) == 0
    return Path(out)


def lint_counts(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[tuple[str, str]]]:
    """Return the status of lint over all sets of a folder, and place and check of each finding that may not be."""
    sets = [path for path in sorted(folder.glob("*_t*.jsonl")) if path.name.startswith(("auto_", "human_"))]
    assert len(sets) >= 2
    capsys.readouterr()
    status = main(["lint", "--json", "--corpus", str(folder / "corpus.jsonl"), *(f"jsonl:{path}" for path in sets)])
    found = json.loads(capsys.readouterr().out)["findings"]
    return status, [
        (str(each["origin"]), str(each["check"]))
        for each in found
        if each["check"] in NEVER or each["severity"] == "error"
    ]


def test_the_committed_cases_are_those_of_the_plan(desk: Path) -> None:
    committed, fresh = files_in(EXAMPLE / "data" / "generated"), files_in(generated("data/generated"))
    differ = sorted(name for name in committed | fresh if committed.get(name) != fresh.get(name))
    assert differ == [], f"renew them: {RENEW}"


def test_lint_finds_no_fault_in_the_committed_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint_counts(EXAMPLE / "data" / "generated", capsys) == (0, [])


def test_lint_finds_no_fault_in_all_that_the_plan_can_make(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All abilities, all tasks of texts, every row, and two sets: 300 drafts."""
    plan = (desk / "plan.toml").read_text(encoding="utf-8")
    everything = [
        line
        for line in plan.splitlines()
        if not line.startswith(("counterfactuals", "integration", "auto_test", "n = ", "tasks", "negatives"))
    ]
    (desk / "plan.toml").write_text("\n".join(everything) + "\n", encoding="utf-8")
    folder = generated("all")
    kinds = {"auto_test.counterfactual.jsonl", "auto_test.integration.jsonl", "auto_test.jsonl", "human_test.jsonl"}
    assert kinds <= set(files_in(folder))
    assert lint_counts(folder, capsys) == (0, [])
