"""``rageval runs`` lists stored runs, and ``rageval view`` opens the page of one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.projects.rag_project import Project, cases

from pytest_rageval.cli import main


@pytest.fixture
def one_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project with one run of two cases, whose first gate failed; it is the current folder."""
    project.says(cases("say Paris", "say Rome"), 'gates=["accuracy >= 0.9", "error_rate <= 0.1"]')
    assert project.run().status == 1
    monkeypatch.chdir(project.path)
    return project


def runs_of(project: Project) -> list[Path]:
    return sorted((project.path / ".rageval" / "runs").iterdir(), reverse=True)


def list_runs(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    assert main(["runs", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def as_json(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads("\n".join(list_runs(capsys, "--json")))
    return rows


def test_runs_are_listed_newest_first(one_run: Project, capsys: pytest.CaptureFixture[str]) -> None:
    one_run.says(cases("say Paris"), 'gates=["error_rate <= 0.1"]')
    assert one_run.run(fresh=False).status == 0
    newest, oldest = runs_of(one_run)
    head, *lines = list_runs(capsys)
    assert head.split() == ["run", "started", "cases", "errors", "gates", "failed", "size", "verdict"]
    expected = ((newest.name, "1 0 0 of 1 passed"), (oldest.name, "2 0 1 of 2 failed"))
    for line, (name, rest) in zip(lines, expected, strict=True):
        words = line.split()
        assert words[0] == name
        assert " ".join([*words[3:-3], words[-1]]) == rest
    assert as_json(capsys)[1] | {"size": 0, "started": ""} == {
        "name": oldest.name, "size": 0, "started": "", "cases": 2, "errors": 0, "gates": 2, "gates_failed": 1,
        "verdict": "failed", "sentence": "1 of 2 gates failed",
    }  # fmt: skip


def test_a_list_agrees_with_the_whole_results(one_run: Project, capsys: pytest.CaptureFixture[str]) -> None:
    one_run.says(cases("say Paris", "fail", "say Paris"), 'gates=["error_rate <= 0.1"]')
    one_run.run(fresh=False)
    (row, before), path = as_json(capsys), runs_of(one_run)[0] / "results.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    assert row["cases"] == len(results["outcomes"]) == 3
    assert row["errors"] == sum(outcome["status"] == "error" for outcome in results["outcomes"])
    path.write_text(json.dumps(results), encoding="utf-8")  # in the layout of another program
    assert [each | {"size": 0} for each in as_json(capsys)] == [each | {"size": 0} for each in (row, before)]


def test_a_run_without_results_is_listed_with_the_reason(one_run: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (folder,) = runs_of(one_run)
    for name, content in (("20990101T000000", None), ("20990101T000001", "{}"), ("20990101T000002", "")):
        (folder.parent / name).mkdir()
        if content is not None:
            (folder.parent / name / "results.json").write_text(content)
    assert [each["verdict"] for each in as_json(capsys)] == ["unreadable", "unreadable", "cut short", "failed"]
    assert list_runs(capsys)[3].split()[:4] == ["20990101T000000", "?", "?", "?"]


def test_no_run_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert list_runs(capsys) == [f"No run is stored under {tmp_path / '.rageval' / 'runs'} yet; pytest stores one."]
    assert as_json(capsys) == []


def test_a_hundred_runs_are_listed_at_once(one_run: Project, capsys: pytest.CaptureFixture[str]) -> None:
    (folder,) = runs_of(one_run)
    for number in range(100):
        shutil.copytree(folder, folder.with_name(f"20250101T000{number:03}"))
    before = time.perf_counter()
    assert len(list_runs(capsys)) == 102
    assert time.perf_counter() - before < 2


def test_the_page_is_opened_in_the_browser(
    one_run: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    browser = one_run.path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {one_run.path / "opened"}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    (folder,) = runs_of(one_run)
    command = "from pytest_rageval.cli import main; raise SystemExit(main())"
    view = [sys.executable, "-c", command, "view", folder.name[:8]]
    process = subprocess.run(view, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (0, f"{folder / 'report.html'}\n")
    assert (one_run.path / "opened").read_text() == f"{(folder / 'report.html').as_uri()}\n"
    assert "1 of 2 gates failed" in (folder / "report.html").read_text(encoding="utf-8")
    (one_run.path / "opened").unlink()
    capsys.readouterr()
    assert main(["view", "--no-browser", "--out", "mine.html"]) == 0
    assert capsys.readouterr().out == "mine.html\n"
    assert (one_run.path / "mine.html").is_file()
    assert not (one_run.path / "opened").exists()


def test_the_page_of_a_foreign_run_is_a_temporary_file(
    one_run: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    capsys.readouterr()
    assert main(["view", "results.json"]) == 0
    page, note = capsys.readouterr().out.splitlines()
    assert (os.path.basename(page), Path(page).is_relative_to(tmp_path)) == ("report.html", True)
    assert note == "No browser was found; open this file in one."
    assert not (runs_of(one_run)[0] / "report.html").exists()


def test_the_page_needs_jinja2(
    one_run: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["view", "--out", "results.json"]) == 2
    assert "--out would overwrite the results in 'results.json'" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["view", "--no-browser"]) == 2
    assert "pip install 'pytest-rageval[html]'" in capsys.readouterr().err
