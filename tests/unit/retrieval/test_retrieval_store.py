"""Indexes on disk: built once, never read half built, refused when damaged."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.samples import index_building
from support.samples.index_building import MADE_OF

from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.retrieval.index_store import FACTS, IndexStore, name_of, read_index


class Builder:
    """Builds an index of two files and records the folder of each build."""

    def __init__(self) -> None:
        self.folders: list[Path] = []

    def __call__(self, folder: Path) -> Mapping[str, object]:
        self.folders.append(folder)
        (folder / "deep").mkdir()
        (folder / "numbers.bin").write_bytes(b"123")
        (folder / "deep/names.json").write_text("[]")
        return {"passages": 3}


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "indexes")


@pytest.fixture
def build() -> Builder:
    return Builder()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".gitignore"}


def process(folder: Path, how: str = "quick") -> subprocess.Popen[str]:
    command = [sys.executable, index_building.__file__, str(folder), how, str(folder.parent / "count.txt")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_an_index_is_built_once_and_listed(store: IndexStore, build: Builder) -> None:
    first = store.get(MADE_OF, build)
    second = IndexStore(store.folder).get(dict(reversed([*MADE_OF.items()])), build)
    assert first.folder == second.folder == store.folder / name_of(MADE_OF)
    assert (first.built, second.built, len(build.folders)) == (True, False, 1)
    assert (second.key, second.facts, second.disk_bytes) == (MADE_OF, {"passages": 3}, 5)
    assert first.build_s == second.build_s > 0
    assert store.requested_indexes == [first]


def test_another_index_has_another_folder(store: IndexStore, build: Builder) -> None:
    folders = {store.get({**MADE_OF, "size": size}, build).folder for size in (3, 4)}
    assert len(folders) == len(build.folders) == 2


def test_the_folder_of_indexes_is_ignored_by_git(store: IndexStore, build: Builder) -> None:
    store.get(MADE_OF, build)
    assert (store.folder / ".gitignore").read_text().splitlines()[-1] == "*"


def test_a_failed_build_leaves_no_files(store: IndexStore, build: Builder) -> None:
    def raising(folder: Path) -> Mapping[str, object]:
        build(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.get(MADE_OF, raising)
    assert names(store.folder) <= {f"{name_of(MADE_OF)}.lock"}
    assert store.requested_indexes == []
    assert store.get(MADE_OF, build).facts == {"passages": 3}


def test_a_full_disk_is_reported_in_one_sentence_and_leaves_no_files(store: IndexStore) -> None:
    def full(folder: Path) -> Mapping[str, object]:
        (folder / "numbers.bin").write_bytes(b"1")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(SettingError, match=r"no space is left for the index toy-.* in .*indexes; free some"):
        store.get(MADE_OF, full)
    assert names(store.folder) <= {f"{name_of(MADE_OF)}.lock"}


def test_an_error_of_the_builder_passes_through(store: IndexStore) -> None:
    def offline(folder: Path) -> Mapping[str, object]:
        raise OSError("no such model")

    with pytest.raises(OSError, match="no such model"):
        store.get(MADE_OF, offline)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_leftovers_of_a_killed_process_are_removed_by_the_next_build(store: IndexStore, build: Builder) -> None:
    with process(store.folder, "hang") as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "half\n"
        (partial,) = store.folder.glob("*.part")
        assert (partial / "numbers.bin").exists()
        store.get({**MADE_OF, "size": 4}, build)
        assert partial.exists()  # another process may still build it
        os.kill(killed.pid, signal.SIGKILL)
    assert store.get(MADE_OF, build).built
    assert list(store.folder.glob("*.part")) == []


def test_eight_concurrent_processes_build_once(store: IndexStore) -> None:
    processes = [process(store.folder) for _ in range(8)]
    outputs = sorted(each.communicate()[0] for each in processes)
    assert outputs == ["123 False\n"] * 7 + ["123 True\n"]
    assert (store.folder.parent / "count.txt").read_text() == "built\n"


@pytest.mark.parametrize("content", [b"1", b"1234", None])
def test_a_missing_or_resized_file_is_refused(store: IndexStore, build: Builder, content: bytes | None) -> None:
    path = store.get(MADE_OF, build).folder / "numbers.bin"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    sizes = f"has {len(content or b'')} bytes, but was written with 3"
    with pytest.raises(DataError, match=f"numbers.bin: {sizes}; remove the folder .* to rebuild the index"):
        IndexStore(store.folder).get(MADE_OF, build)
    assert len(build.folders) == 1


@pytest.mark.parametrize("length", [0, 1, 40, -3])
def test_truncated_facts_are_refused(store: IndexStore, build: Builder, length: int) -> None:
    path = store.get(MADE_OF, build).folder / FACTS
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(
        DataError, match=r"index\.json: cannot be read as the description of an index; remove the folder"
    ):
        store.get(MADE_OF, build)


def test_another_format_is_refused(store: IndexStore, build: Builder) -> None:
    path = store.get(MADE_OF, build).folder / FACTS
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(
        DataError, match=r"index\.json: has format 99, but only format 1 is supported; remove the folder"
    ):
        read_index(path.parent)


def test_a_deleted_index_is_rebuilt(store: IndexStore, build: Builder) -> None:
    import shutil

    shutil.rmtree(store.get(MADE_OF, build).folder)
    assert store.get(MADE_OF, build).built


def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> IndexStore:
    """Return a store that cannot be written, not even by root."""
    if how == "a file in the way":
        (tmp_path / ".rageval").write_text("")
    else:
        (tmp_path / ".rageval/indexes").mkdir(parents=True)
        (tmp_path / ".rageval/indexes/.gitignore").write_text("*\n")
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    return IndexStore(tmp_path / ".rageval/indexes")


@pytest.mark.parametrize("how", ["a file in the way", "read-only"])
def test_an_unwritable_folder_is_replaced_by_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Builder, how: str
) -> None:
    store = unwritable(tmp_path, monkeypatch, how)
    first, second = store.get(MADE_OF, build), store.get(MADE_OF, build)
    assert first.folder == second.folder
    assert tmp_path not in first.folder.parents
    assert (first.folder / "numbers.bin").read_bytes() == b"123"
    assert len(build.folders) == 1


def test_an_index_in_a_read_only_folder_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, build: Builder, store: IndexStore
) -> None:
    index = store.get(MADE_OF, build)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert IndexStore(store.folder).get(MADE_OF, build).folder == index.folder
    assert len(build.folders) == 1


def test_an_index_is_rebuilt_after_its_removal(store: IndexStore, build: Builder) -> None:
    folder = store.get(MADE_OF, build).folder
    (folder / "note.json").write_text("12")
    size = 5 + 2 + (folder / FACTS).stat().st_size
    assert store.remove(folder.name) == size
    assert names(store.folder) <= {f"{folder.name}.lock"}
    assert store.get(MADE_OF, build).built


def test_a_failed_removal_keeps_the_index_and_is_reported_in_one_sentence(
    store: IndexStore, build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = store.get(MADE_OF, build).folder

    def raise_error(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", raise_error)
        with pytest.raises(SettingError, match=r"cannot be removed: Permission denied; remove it by hand$"):
            store.remove(folder.name)
    assert read_index(folder).facts == {"passages": 3}


def test_a_measurement_that_cannot_be_cached_is_repeated(
    store: IndexStore, build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, values = store.get(MADE_OF, build), iter((0.5, 0.75, None))

    def measure() -> float | None:
        return next(values)

    def raise_error(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        patch.setattr(Path, "write_text", raise_error)
        assert [store.measurement(index, "recall", {"n": 1}, measure) for _ in range(2)] == [0.5, 0.75]
    assert [store.measurement(index, "recall", {"n": 1}, measure) for _ in range(2)] == [None, None]
    assert read_index(index.folder) == replace(index, built=False)
