"""Runs are named by a path, a name, the start of one, ``latest`` or ``latest~1``."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.codes import without_code

from pytest_rageval.cli import main

OLD, TWIN, TENTH, NEW = "20260101T000000", "20260102T030405-2", "20260102T030405-10", "20260103T000000"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a project with four runs, each with a file of used recordings."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "cassettes").mkdir()
    for name in (OLD, TWIN, TENTH, NEW):
        create_run(tmp_path / ".rageval" / "runs" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def create_run(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "used-recordings.txt").write_text("# complete\n")


def run_of(capsys: pytest.CaptureFixture[str], name: str) -> str:
    """Return the run whose recordings `rageval cassettes --run NAME` reads."""
    assert main(["cassettes", "--run", name]) == 0
    return capsys.readouterr().out.splitlines()[-1].removeprefix("Used by run ").removesuffix(".")


def error_of(capsys: pytest.CaptureFixture[str], name: str) -> str:
    assert main(["cassettes", "--run", name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return without_code(line).removeprefix("rageval: ")


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("latest", NEW), ("latest~0", NEW), ("latest~", TENTH), ("latest~1", TENTH), ("latest~2", TWIN),
        ("latest~3", OLD), ("20260103", NEW), ("20260102T030405-1", TENTH), (TWIN, TWIN),
        (f".rageval/runs/{OLD}", OLD),
    ],
)  # fmt: skip
def test_a_run_can_be_named_in_several_ways(
    name: str, run: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_of(capsys, name) == run


def test_a_whole_name_is_not_the_start_of_others(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_run(project / ".rageval" / "runs" / "20260102T030405")
    assert run_of(capsys, "20260102T030405") == "20260102T030405"


def test_an_ambiguous_start_lists_the_newest_five(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys, "20260102") == (
        f"several runs begin with '20260102': {TENTH}, {TWIN}; write more of the name"
    )
    for second in range(3):
        create_run(project / ".rageval" / "runs" / f"20260104T00000{second}")
    assert error_of(capsys, "2026").startswith("several runs begin with '2026': 20260104T000002, 20260104T000001, ")
    assert error_of(capsys, "2026").endswith(f"{NEW}, {TENTH} and 2 more; write more of the name")


def test_an_unknown_name_lists_runs(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = project / ".rageval" / "runs"
    suggestion = f"name one, such as {NEW}, {TENTH}, {TWIN}, {OLD}, or a file"
    for name in ("2027", "Latest", "latest~x", "*", ""):
        assert error_of(capsys, name) == f"the run {name} is not under {runs}; {suggestion}"
    assert error_of(capsys, "latest~4") == f"there is no run latest~4 under {runs}; {suggestion}"
    assert "is not under" in error_of(capsys, "x" * 300)


def test_the_error_without_runs_asks_to_run_the_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "cassettes").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert error_of(capsys, "latest").startswith("there is no run latest under ")
        assert error_of(capsys, "x").endswith("; run the tests first, or name a file")
