from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from threading import Barrier

import pytest

from pytest_rageval.report.files.run_folder import RunFolder, write_atomically
from pytest_rageval.report.run.json_text import to_json

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path, STARTED)


def test_a_run_folder_is_named_by_its_start_and_has_a_gitignore(folder: RunFolder, tmp_path: Path) -> None:
    assert folder.path == tmp_path / ".rageval" / "runs" / "20260102T030405"
    assert folder.id == "20260102T030405"
    assert (tmp_path / ".rageval" / ".gitignore").read_text().splitlines()[-1] == "*"
    folder.finish({})


def test_git_ignores_the_folder(folder: RunFolder, tmp_path: Path) -> None:
    folder.finish({"schema": 1})
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True, text=True).stdout == ""


def test_the_user_s_gitignore_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / ".rageval").mkdir()
    (tmp_path / ".rageval" / ".gitignore").write_text("runs/\n")
    RunFolder(tmp_path, STARTED).finish({})
    assert (tmp_path / ".rageval" / ".gitignore").read_text() == "runs/\n"


def test_runs_started_in_the_same_second_are_numbered(tmp_path: Path) -> None:
    folders = [RunFolder(tmp_path, STARTED) for _ in range(3)]
    assert [folder.id for folder in folders] == ["20260102T030405", "20260102T030405-2", "20260102T030405-3"]
    for folder in folders:
        folder.finish({})


def test_runs_that_start_together_never_share_a_folder(tmp_path: Path) -> None:
    gate = Barrier(8)

    def start(number: int) -> RunFolder:
        gate.wait()
        folder = RunFolder(tmp_path, STARTED)
        folder.append(to_json({"number": number}))
        folder.finish({"number": number})
        return folder

    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(start, range(8)))
    assert {folder.id for folder in folders} == {"20260102T030405", *(f"20260102T030405-{n}" for n in range(2, 9))}
    for number, folder in enumerate(folders):
        assert json.loads((folder.path / "outcomes.jsonl").read_text()) == {"number": number}
        assert json.loads((folder.path / "results.json").read_text()) == {"number": number}


def test_an_outcome_is_on_disk_as_soon_as_it_is_appended(folder: RunFolder) -> None:
    records = [{"nodeid": "a", "text": "基金\nnext"}, {"nodeid": "b"}]
    for count, record in enumerate(records, 1):
        folder.append(to_json(record))
        lines = (folder.path / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == records[:count]
    assert not (folder.path / "results.json").exists()
    folder.finish({"schema": 1})
    assert json.loads((folder.path / "results.json").read_text()) == {"schema": 1}


@pytest.mark.skipif(os.name == "nt" or getattr(os, "geteuid", int)() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_raises_an_os_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="ermission"):
        RunFolder(tmp_path, STARTED)


def test_a_file_with_the_name_of_the_folder_raises_an_os_error(tmp_path: Path) -> None:
    (tmp_path / ".rageval").write_text("mine")
    with pytest.raises(OSError, match=r"exists|irectory"):
        RunFolder(tmp_path, STARTED)
    assert (tmp_path / ".rageval").read_text() == "mine"


def test_the_list_of_recordings_is_written_atomically(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_half_way(path: Path, text: str, **_: object) -> None:
        path.write_bytes(text[: len(text) // 2].encode())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail_half_way)
    with pytest.raises(OSError, match="No space"):
        folder.note_recordings(["a", "b"], complete=True)
    assert sorted(os.listdir(folder.path)) == [
        "ended.jsonl",
        "outcomes.jsonl",
    ]  # with half a list, pruning would delete used recordings
    folder.close()


RESULTS = {
    "schema": 1,
    "none": None,
    "empty": [],
    "bare": {},
    "texts": ["基金", "a\nb"],
    "by": {"q1": {"x": [1, 2]}, "é": 0.1},
}


def test_results_are_json_with_one_line_per_entry(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "r.json"
    write_atomically(path, RESULTS)
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == RESULTS
    assert list(json.loads(text)) == list(RESULTS)
    assert '"基金",\n' in text
    assert '"q1": {"x": [1, 2]},\n' in text
    assert text.endswith("}\n")


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("x" * 100_000)
    write_atomically(path, {"schema": 1})
    assert json.loads(path.read_text()) == {"schema": 1}
    assert os.listdir(tmp_path) == ["r.json"]


@pytest.mark.parametrize("bad", [{"a": object()}, {"a": float("nan")}, {"a": {"b": "\ud83d"}}])
def test_a_failure_leaves_the_existing_file_and_nothing_else(tmp_path: Path, bad: dict[str, object]) -> None:
    path = tmp_path / "r.json"
    path.write_text("before")
    with pytest.raises((TypeError, ValueError)):
        write_atomically(path, {"schema": 1, **bad})
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_folder_with_the_name_of_the_file_raises_an_os_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "r.json").mkdir()
    with pytest.raises(OSError, match=r"irectory|denied"):
        write_atomically(tmp_path / "r.json", {"schema": 1})
    assert os.listdir(tmp_path) == ["r.json"]
    assert os.listdir(tmp_path / "r.json") == []


def test_an_interrupt_leaves_no_file(tmp_path: Path) -> None:
    class Interrupting(dict[str, object]):
        def items(self) -> object:  # type: ignore[override]
            yield "schema", 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "r.json", Interrupting())
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no umask")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_umask_is_respected_and_unchanged(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "r.json", {"schema": 1})
    finally:
        after = os.umask(before)
    assert after == mask
    assert (tmp_path / "r.json").stat().st_mode & 0o777 == 0o666 & ~mask
