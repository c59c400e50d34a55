"""Invalid targets of ``rageval show``: the run itself, and one file for two formats."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.samples.run_samples_stored import stored

from pytest_rageval.cli import main

NEWEST = "20260102T030405"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".rageval" / "runs" / NEWEST).mkdir(parents=True)
    stored(tmp_path / ".rageval" / "runs" / NEWEST / "results.json")
    stored(tmp_path / "results.json")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["show", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err


@pytest.mark.parametrize("name", ["csv", "html", "json", "latex", "markdown", "mlflow", "parquet"])
def test_a_run_after_its_format_is_not_overwritten(
    project: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (project / "results.json").read_bytes()
    message = refused(capsys, f"--{name}", "results.json")
    assert f"put the run first and the target after its format: rageval show results.json --{name} TARGET" in message
    assert f"--{name} names the run '{NEWEST}'" in refused(capsys, f"--{name}", NEWEST)
    assert (project / "results.json").read_bytes() == before
    assert not (project / NEWEST).exists()


@pytest.mark.parametrize("name", ["csv", "json"])
def test_the_shown_run_is_not_overwritten(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "link.json").symlink_to("results.json")
    before = (project / "results.json").read_bytes()
    assert "would overwrite" in refused(capsys, "results.json", f"--{name}", "./results.json")
    assert "would overwrite" in refused(capsys, "results.json", f"--{name}", "link.json")
    assert (project / "results.json").read_bytes() == before


def test_two_formats_do_not_share_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, "--csv", "x", "--markdown", "./x")
    assert "--csv and --markdown both write to './x'; name two files" in message
    assert not (project / "x").exists()


@pytest.mark.parametrize("name", ["csv", "html", "mlflow"])
def test_a_target_without_a_name_is_refused(project: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"--{name} has no target; name a" in refused(capsys, f"--{name}", "")
    assert sorted(path.name for path in project.iterdir()) == [".rageval", "pyproject.toml", "results.json"]


def test_an_earlier_export_is_overwritten(project: Path) -> None:
    for name in ("csv", "json", "markdown"):
        for _ in range(2):
            assert main(["show", "results.json", f"--{name}", f"out.{name}"]) == 0
            assert (project / f"out.{name}").stat().st_size
