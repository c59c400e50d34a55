"""Files of a corpus: globs, paths and formats in ``rag_corpus``."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rageval.corpora import BUILTIN, Reader
from pytest_rageval.corpora.places import check_form, places
from pytest_rageval.errors import DataError, SettingError, UnknownNameError
from pytest_rageval.registry import Registry

FORMATS: Registry[Reader] = Registry("corpus format", BUILTIN)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "docs/b.md", "docs/a.md", "docs/deep/c.html", "docs/.hidden/d.md", "docs/.e.md", "notes.txt", "data/x.tsv",
        "scifact/corpus.jsonl", "[odd].md", "logo.png",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    (tmp_path / "docs/folder.md").mkdir()
    return tmp_path


def formats_and_names(folder: Path, *entries: str) -> list[tuple[str, str]]:
    return [(place.format, place.name) for place in places(entries, folder, FORMATS)]


def test_a_glob_matches_visible_files_sorted_by_name(folder: Path) -> None:
    assert formats_and_names(folder, "docs/*") == [("markdown", "docs/a.md"), ("markdown", "docs/b.md")]
    assert formats_and_names(folder, "docs/**/*.*") == [
        ("markdown", "docs/a.md"),
        ("markdown", "docs/b.md"),
        ("html", "docs/deep/c.html"),
    ]
    assert formats_and_names(folder, "docs/.hidden/*.md") == [("markdown", "docs/.hidden/d.md")]


def test_the_format_is_the_prefix_or_the_ending(folder: Path) -> None:
    assert formats_and_names(
        folder, "notes.txt", "lines:notes.txt", "data/x.tsv", "scifact", "beir:scifact", "text:docs/a.md"
    ) == [
        ("text", "notes.txt"),
        ("lines", "notes.txt"),
        ("tsv", "data/x.tsv"),
        ("beir", "scifact"),
        ("beir", "scifact"),
        ("text", "docs/a.md"),
    ]
    assert formats_and_names(folder, "[odd].md") == [("markdown", "[odd].md")]
    assert formats_and_names(folder, str(folder / "notes.txt")) == [("text", (folder / "notes.txt").as_posix())]
    assert formats_and_names(folder / "data", "../docs/*.md")[0] == ("markdown", "../docs/a.md")


@pytest.mark.parametrize(
    ("entry", "kind", "message"),
    [
        ("jsnl:x", UnknownNameError, "rag_corpus: unknown corpus format 'jsnl'; did you mean 'jsonl'?"),
        ("docs/*.rst", DataError, "rag_corpus: 'docs/*.rst' matches no file in '"),
        ("gone.md", DataError, "rag_corpus: no such file: '"),
        ("jsonl:gone/x.jsonl", DataError, "rag_corpus: no such file: '"),
        (
            "docs",
            SettingError,
            "rag_corpus: 'docs' is a folder without corpus.jsonl; write a glob of its files, such as",
        ),
        ("logo.png", SettingError, "rag_corpus: the ending of 'logo.png' has no known format; known are .htm "),
        ("*.*", SettingError, "rag_corpus: the ending of 'logo.png' has no known format"),
        ("jsonl: ", SettingError, "rag_corpus: 'jsonl: ' has no path; write for example jsonl:docs/pages"),
        ("a\0b.md", DataError, "rag_corpus: no such file: '"),
        ("a" * 5000, DataError, "rag_corpus: the path 'aaaaa"),
    ],
)
def test_an_invalid_entry_is_one_sentence(folder: Path, entry: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        formats_and_names(folder, entry)
    assert str(caught.value).startswith(message)


def test_the_syntax_of_entries_is_checked_without_reading_files() -> None:
    check_form(("jsonl:gone.jsonl", "gone/*.md", "C:\\docs\\a.md"), FORMATS)
    with pytest.raises(UnknownNameError):
        check_form(("gone.md", "bair:gone"), FORMATS)
