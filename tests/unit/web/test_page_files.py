"""A local page writes only inside the project and overwrites no unseen version."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pytest_rageval.errors import SettingError
from pytest_rageval.web.files import FileChangedError, inside, read_snapshot, write_file


def test_the_version_that_the_user_saw_is_overwritten(tmp_path: Path) -> None:
    first = write_file(tmp_path, "cases/new.jsonl", b"one\n", seen="")
    path = tmp_path / "cases" / "new.jsonl"
    path.chmod(0o640)
    snapshot = read_snapshot(path)
    assert (snapshot.content, snapshot.digest) == (b"one\n", first)
    assert write_file(tmp_path, path, b"two\n", seen=snapshot.digest) == read_snapshot(path).digest
    assert path.read_bytes() == b"two\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in path.parent.iterdir()] == ["new.jsonl"]


@pytest.mark.parametrize(
    ("before", "seen_digest", "problem"),
    [
        (b"", "", "the file exists already; nothing was written"),
        (b"other", "", "the file exists already; nothing was written"),
        (
            b"other",
            "0" * 64,
            "the file changed on disk since the page read it, and nothing was written; reload the page",
        ),
        (None, "0" * 64, "the file was removed since the page read it, and nothing was written; reload the page"),
    ],
)
def test_a_version_that_the_user_did_not_see_is_not_overwritten(
    tmp_path: Path, before: bytes | None, seen_digest: str, problem: str
) -> None:
    path = tmp_path / "cases.jsonl"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(FileChangedError) as raised:
        write_file(tmp_path, "cases.jsonl", b"mine", seen=seen_digest)
    assert str(raised.value) == f"cases.jsonl: {problem}"
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize("path", ["../out.jsonl", "/etc/passwd", "", ".", "link/new.jsonl", "outside.jsonl", "a\0b"])
def test_nothing_is_written_outside_of_the_project(tmp_path: Path, path: str) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    for each in (project, outside):
        each.mkdir()
    (project / "link").symlink_to(outside)
    (project / "outside.jsonl").symlink_to(outside / "cases.jsonl")
    with pytest.raises(SettingError, match=r"writes only inside|not a valid file path"):
        write_file(project, path, b"mine", seen="")
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "out.jsonl").exists()


def test_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert inside(tmp_path, "link/a.jsonl") == tmp_path / "data" / "a.jsonl"
    assert inside(tmp_path, tmp_path / "data" / ".." / "b") == tmp_path / "b"


def test_a_folder_or_a_named_pipe_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(OSError, match=r"directory|named pipe"):
            write_file(tmp_path, name, b"mine", seen="")


def test_an_error_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = write_file(tmp_path, "cases.jsonl", b"old", seen="")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(tmp_path, "cases.jsonl", b"new", seen=digest)
    assert [each.name for each in tmp_path.iterdir()] == ["cases.jsonl"]
    assert (tmp_path / "cases.jsonl").read_bytes() == b"old"
