"""Files are written as a whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from pytest_rageval.folders import atomic_files


def write(*paths: Path, overwrite: bool) -> None:
    with atomic_files(*paths, overwrite=overwrite) as parts:
        for part in parts:
            part.write_text("new")
        assert not any(path.exists() and path.read_text() == "new" for path in paths)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("overwrite", [True, False])
def test_files_exist_at_the_end(overwrite: bool, tmp_path: Path) -> None:
    write(tmp_path / "a", tmp_path / "b", overwrite=overwrite)
    assert contents(tmp_path) == {"a": "new", "b": "new"}


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_failure_leaves_no_files(overwrite: bool, tmp_path: Path) -> None:
    with suppress(KeyboardInterrupt), atomic_files(tmp_path / "a", overwrite=overwrite) as (part,):
        part.write_text("half")
        raise KeyboardInterrupt
    assert contents(tmp_path) == {}


def test_existing_files_are_overwritten_only_if_allowed(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old")
    with pytest.raises(FileExistsError) as error:
        write(tmp_path / "a", tmp_path / "b", overwrite=False)
    assert error.value.filename == str(tmp_path / "b")
    assert contents(tmp_path) == {"b": "old"}
    write(tmp_path / "a", tmp_path / "b", overwrite=True)
    assert contents(tmp_path) == {"a": "new", "b": "new"}


@pytest.mark.parametrize("links", [True, False])
def test_without_overwrite_all_files_are_created_or_none(
    links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link, replace = os.link, Path.replace

    def failing_link(part: Path, path: Path) -> None:
        if path.name == "b" or not links:
            raise OSError("no room for a link")
        link(part, path)

    def failing_replace(part: Path, path: Path) -> Path:
        if path.name == "b":
            raise OSError("the disk is full")
        return replace(part, path)

    monkeypatch.setattr(os, "link", failing_link)
    monkeypatch.setattr(Path, "replace", failing_replace)
    with pytest.raises(OSError, match="full"):
        write(tmp_path / "a", tmp_path / "b", overwrite=False)
    assert contents(tmp_path) == {}


def test_a_file_that_another_process_creates_during_the_write_stays(tmp_path: Path) -> None:
    def race() -> None:
        with atomic_files(tmp_path / "a", overwrite=False) as (part,):
            assert list(tmp_path.iterdir()) == []  # a kill leaves no empty file
            part.write_text("new")
            (tmp_path / "a").write_text("other")

    with pytest.raises(FileExistsError) as error:
        race()
    assert error.value.filename == str(tmp_path / "a")
    assert contents(tmp_path) == {"a": "other"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_a_link(exists: bool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    if exists:
        (tmp_path / "elsewhere/a").write_text("old")
    (tmp_path / "a").symlink_to("elsewhere/a")
    write(tmp_path / "a", overwrite=True)
    assert (tmp_path / "a").readlink() == Path("elsewhere/a")
    assert contents(tmp_path / "elsewhere") == {"a": "new"}


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic_files(pipe) as (part,):
        part.write_text("all of it")
    assert os.read(reader, 100) == b"all of it"
    os.close(reader)
    assert pipe.is_fifo()  # for the same reason /dev/null stays a device
