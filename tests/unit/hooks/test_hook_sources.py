from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.datasets import Loader
from pytest_rageval.errors import DataError, SettingError, UnknownNameError
from pytest_rageval.hooks.sources import Sources
from pytest_rageval.model.case import Instance
from pytest_rageval.registry import Registry


@pytest.fixture
def read() -> list[Path]:
    return []


@pytest.fixture
def sources(tmp_path: Path, read: list[Path]) -> Sources:
    def load(path: Path) -> tuple[Instance, ...]:
        read.append(path)
        return (Instance("q1", path.name),)

    registry: Registry[Loader] = Registry("dataset format")
    registry.register("counted", load)
    registry.register("other", load)
    registry.register("empty", lambda path: ())
    (tmp_path / "a" / "b").mkdir(parents=True)
    for place in ("data.txt", "a/data.txt", "a/b/deep.txt"):
        (tmp_path / place).write_text(place, encoding="utf-8")
    return Sources(registry, tmp_path)


def test_the_first_folder_that_has_it_then_the_rootdir(sources: Sources, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "a" / "b"
    assert sources.load("counted:data.txt", [a], "here").name == "counted:a/data.txt"
    assert sources.load("counted:data.txt", [b, a], "here").name == "counted:a/data.txt"
    assert sources.load("counted:data.txt", [b], "here").name == "counted:data.txt"
    assert sources.load(f"counted:{b / 'deep.txt'}", [a], "here").name == "counted:a/b/deep.txt"


def test_one_file_is_read_once_a_format(sources: Sources, tmp_path: Path, read: list[Path]) -> None:
    a = tmp_path / "a"
    (a / "link.txt").symlink_to(a / "data.txt")
    first = sources.load("counted:data.txt", [a], "here")
    for text in ("a/data.txt", "a/b/../data.txt", "a/link.txt", str(a / "data.txt")):
        assert sources.load(f"counted:{text}", [tmp_path], "here") is first
    assert len(read) == 1
    assert sources.load("other:data.txt", [a], "here") is not first
    assert [source.name for source in sources] == ["counted:a/data.txt", "other:a/data.txt"]


def test_a_file_outside_of_the_rootdir_keeps_its_whole_path(tmp_path: Path, sources: Sources) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text("x", encoding="utf-8")
    assert sources.load(f"counted:{outside}", [tmp_path], "here").name == f"counted:{outside.resolve().as_posix()}"


def test_a_folder_is_digested_with_all_below_it(sources: Sources, tmp_path: Path) -> None:
    before = sources.load("counted:a", [tmp_path], "here").digest
    (tmp_path / "a" / "b" / "deep.txt").write_text("other", encoding="utf-8")
    assert sources.load("other:a", [tmp_path], "here").digest != before


@pytest.mark.parametrize(
    ("dataset", "kind", "sentence"),
    [
        ("data.txt", SettingError, "here: dataset 'data.txt' is not format:path; write for instance 'jsonl:data.txt'"),
        ("cuonted:data.txt", UnknownNameError, "here: unknown dataset format 'cuonted'; did you mean 'counted'?"),
        ("empty:data.txt", DataError, "here: dataset 'empty:a/data.txt' has no record; it needs at least one"),
        ("counted:none\x1b.txt", DataError, "here: dataset 'none\\x1b.txt' is not there: no "),
        ("counted:" + "x" * 300, DataError, "here: dataset "),
        ("counted:a\0b", DataError, "here: dataset "),
    ],
)
def test_what_cannot_be_loaded_is_refused(
    sources: Sources, tmp_path: Path, dataset: str, kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind) as caught:
        sources.load(dataset, [tmp_path / "a"], "here")
    assert str(caught.value).startswith(sentence)
    assert str(caught.value).isprintable()
