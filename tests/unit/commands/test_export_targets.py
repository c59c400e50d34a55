"""``rageval export``: invalid and missing targets, and targets that are runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.samples.run_samples_stored import write_stored_run

from pytest_rageval.cli import main

NEWEST = "20260102T030405"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".rageval" / "runs" / NEWEST).mkdir(parents=True)
    write_stored_run(tmp_path / ".rageval" / "runs" / NEWEST / "results.json")
    write_stored_run(tmp_path / "results.json")
    return tmp_path


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["export", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err


@pytest.mark.parametrize("name", ["csv", "html", "json", "latex", "markdown", "mlflow", "parquet", "traces"])
def test_a_run_as_a_target_is_not_overwritten(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = (project / "results.json").read_bytes()
    message = error_of(capsys, "--as", name, "--out", "results.json")
    assert "--out would overwrite the results in 'results.json'; name another file" in message
    message = error_of(capsys, "--as", name, "--out", NEWEST)
    assert f"--out names the run '{NEWEST}'; put the run first: rageval export {NEWEST} --as {name} --out" in message
    assert (project / "results.json").read_bytes() == before
    assert not (project / NEWEST).exists()


@pytest.mark.parametrize("name", ["csv", "json"])
def test_the_exported_run_is_not_overwritten(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "link.json").symlink_to("results.json")
    before = (project / "results.json").read_bytes()
    assert "would overwrite" in error_of(capsys, "results.json", "--as", name, "--out", "./results.json")
    assert "would overwrite" in error_of(capsys, "results.json", "--as", name, "--out", "link.json")
    assert (project / "results.json").read_bytes() == before


@pytest.mark.parametrize("name", ["csv", "html", "mlflow"])
def test_a_target_without_a_name_is_refused(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert {"mlflow": "--as mlflow needs --out URI"}.get(name, "--out has no target; name a file") in error_of(
        capsys, "--as", name, "--out", ""
    )
    assert sorted(path.name for path in project.iterdir()) == [".rageval", "pyproject.toml", "results.json"]


def test_mlflow_needs_a_store(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--as mlflow needs --out URI: a server, a database or a folder" in error_of(capsys, "--as", "mlflow")


def test_an_earlier_export_is_overwritten(project: Path) -> None:
    for name in ("csv", "json", "markdown"):
        for _ in range(2):
            assert main(["export", "results.json", "--as", name, "--out", f"out.{name}"]) == 0
            assert (project / f"out.{name}").stat().st_size
