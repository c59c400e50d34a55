"""Dataset files: where they are looked up, how often they are read, digests, qrels and skipped lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.datasets import Loader
from pytest_rageval.errors import DataError, SettingError, UnknownNameError
from pytest_rageval.hooks.collect.datasets import Sources
from pytest_rageval.model.case import Case, Instance, Passage
from pytest_rageval.registry import Registry


@pytest.fixture
def loaded_paths() -> list[Path]:
    return []


@pytest.fixture
def sources(tmp_path: Path, loaded_paths: list[Path]) -> Sources:
    def load(path: Path) -> tuple[Instance, ...]:
        loaded_paths.append(path)
        return (Instance("q1", path.name),)

    registry: Registry[Loader] = Registry("dataset format")
    registry.register("counted", load)
    registry.register("other", load)
    registry.register("empty", lambda path: ())
    (tmp_path / "a" / "b").mkdir(parents=True)
    for place in ("data.txt", "a/data.txt", "a/b/deep.txt"):
        (tmp_path / place).write_text(place, encoding="utf-8")
    return Sources(registry, tmp_path)


def test_the_first_folder_with_the_file_wins_then_the_rootdir(sources: Sources, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "a" / "b"
    assert sources.load("counted:data.txt", [a], "here").name == "counted:a/data.txt"
    assert sources.load("counted:data.txt", [b, a], "here").name == "counted:a/data.txt"
    assert sources.load("counted:data.txt", [b], "here").name == "counted:data.txt"
    assert sources.load(f"counted:{b / 'deep.txt'}", [a], "here").name == "counted:a/b/deep.txt"


def test_a_file_is_read_once_for_each_format(sources: Sources, tmp_path: Path, loaded_paths: list[Path]) -> None:
    a = tmp_path / "a"
    (a / "link.txt").symlink_to(a / "data.txt")
    first = sources.load("counted:data.txt", [a], "here")
    for text in ("a/data.txt", "a/b/../data.txt", "a/link.txt", str(a / "data.txt")):
        assert sources.load(f"counted:{text}", [tmp_path], "here") is first
    assert len(loaded_paths) == 1
    assert sources.load("other:data.txt", [a], "here") is not first
    assert [source.name for source in sources] == ["counted:a/data.txt", "other:a/data.txt"]


def test_a_file_outside_of_the_rootdir_keeps_its_whole_path(tmp_path: Path, sources: Sources) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.txt"
    outside.write_text("x", encoding="utf-8")
    assert sources.load(f"counted:{outside}", [tmp_path], "here").name == f"counted:{outside.resolve().as_posix()}"


def test_the_digest_of_a_folder_includes_subfolders(sources: Sources, tmp_path: Path) -> None:
    before = sources.load("counted:a", [tmp_path], "here").digest
    (tmp_path / "a" / "b" / "deep.txt").write_text("other", encoding="utf-8")
    assert sources.load("other:a", [tmp_path], "here").digest != before


class Two:
    """A loader of two files: the path and a second one."""

    def files(self, path: Path) -> tuple[Path, Path]:
        return path, path.with_name("other.txt")

    def __call__(self, path: Path) -> tuple[Instance, ...]:
        return (Instance("q1", path.name), Instance("q2", path.name, qrels={"d": 1}))


@pytest.fixture
def two(tmp_path: Path) -> Sources:
    registry: Registry[Loader] = Registry("dataset format")
    registry.register("two", Two())
    for name in ("data.txt", "other.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    return Sources(registry, tmp_path)


def test_a_loader_lists_the_files_of_the_digest(two: Sources, tmp_path: Path) -> None:
    before = two.load("two:data.txt", [tmp_path], "here").digest
    (tmp_path / "other.txt").write_text("changed", encoding="utf-8")
    again = Sources(two._loaders, tmp_path)
    assert again.load("two:data.txt", [tmp_path], "here").digest != before


def test_a_qrels_file_replaces_the_judgements_of_the_records(two: Sources, tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 2\nq9 0 d1 1\n", encoding="utf-8")
    source = two.load("two:data.txt", [tmp_path], "here")
    with_qrels = two.with_qrels(source, "a.qrels", [tmp_path], "here")
    assert [each.qrels for each in with_qrels.instances] == [{"d1": 2}, {}]
    assert (with_qrels.name, with_qrels.digest != source.digest) == ("two:data.txt+a.qrels", True)
    assert two.with_qrels(source, "a.qrels", [], "there") is with_qrels
    assert [each.qrels for each in two.load("two:data.txt", [tmp_path], "here").instances] == [{}, {"d": 1}]
    assert [each.name for each in two] == ["two:data.txt", "two:data.txt+a.qrels"]


def test_a_record_missing_in_the_qrels_file_has_no_judgement(tmp_path: Path) -> None:
    pool = (Passage("p0", "Text.", role="positive", page="x"),)
    registry: Registry[Loader] = Registry("dataset format")
    registry.register("pool", lambda path: (Instance("q1", "?", passages=pool), Instance("q2", "?", passages=pool)))
    (tmp_path / "a.qrels").write_text("q1 0 d1 2", encoding="utf-8")
    sources = Sources(registry, tmp_path)
    with_qrels = sources.with_qrels(sources.load("pool:a.qrels", [tmp_path], "here"), "a.qrels", [tmp_path], "here")
    assert [Case(each.id, each, None, {}).qrels for each in with_qrels.instances] == [{"d1": 2}, {}]


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        (
            "Q1 0 d 1",
            SettingError,
            "here: qrels 'a.qrels' judges no record of 'two:data.txt'; its ids are like 'Q1', the dataset's like 'q1'",
        ),
        (None, DataError, "here: qrels 'a.qrels' is missing: no "),
    ],
)
def test_unusable_qrels_are_refused(
    two: Sources, tmp_path: Path, text: str | None, kind: type[Exception], sentence: str
) -> None:
    if text is not None:
        (tmp_path / "a.qrels").write_text(text, encoding="utf-8")
    source = two.load("two:data.txt", [tmp_path], "here")
    with pytest.raises(kind) as error:
        two.with_qrels(source, "a.qrels", [tmp_path], "here")
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("dataset", "kind", "sentence"),
    [
        ("data.txt", SettingError, "here: dataset 'data.txt' is not format:path; write for instance 'jsonl:data.txt'"),
        ("cuonted:data.txt", UnknownNameError, "here: unknown dataset format 'cuonted'; did you mean 'counted'?"),
        ("empty:data.txt", DataError, "here: dataset 'empty:a/data.txt' has no record; it needs at least one"),
        ("counted:none\x1b.txt", DataError, "here: dataset 'none\\x1b.txt' is missing: no "),
        ("counted:" + "x" * 300, DataError, "here: dataset "),
        ("counted:a\0b", DataError, "here: dataset "),
    ],
)
def test_an_unloadable_dataset_is_refused(
    sources: Sources, tmp_path: Path, dataset: str, kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind) as error:
        sources.load(dataset, [tmp_path / "a"], "here")
    assert str(error.value).startswith(sentence)
    assert str(error.value).isprintable()


class Partial:
    """A loader that skips lines."""

    def __init__(self, lines: int) -> None:
        self.lines = lines

    def __call__(self, path: Path) -> tuple[Instance, ...]:
        return (Instance("q1", "?"),)

    def left_out(self, path: Path) -> list[tuple[str, str]]:
        return [(f"{path.name}:{line}", "nothing") for line in range(2, 2 + self.lines)]


@pytest.mark.parametrize(
    ("lines", "notes"),
    [
        (0, ()),
        (1, ("partial:data.txt: 1 line is no case: nothing at data.txt:2",)),
        (3, ("partial:data.txt: 3 lines are no cases, the first: nothing at data.txt:2",)),
    ],
)
def test_lines_that_a_loader_skips_are_noted(lines: int, notes: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("x", encoding="utf-8")
    registry: Registry[Loader] = Registry("dataset format")
    registry.register("partial", Partial(lines))
    assert Sources(registry, tmp_path).load("partial:data.txt", [], "here").notes == notes


def test_the_error_for_an_empty_dataset_reports_the_skipped_lines(tmp_path: Path) -> None:
    class Nothing(Partial):
        def __call__(self, path: Path) -> tuple[Instance, ...]:
            return ()

    registry: Registry[Loader] = Registry("dataset format")
    registry.register("none", Nothing(2))
    (tmp_path / "data.txt").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match=r"has no record; .*: 2 lines are no cases, the first: nothing at data.txt:2"):
        Sources(registry, tmp_path).load("none:data.txt", [tmp_path], "here")
