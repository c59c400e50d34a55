"""Resolve the lines of ``rag_corpus`` to files and formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.corpora.beir import CORPUS
from pytest_rageval.errors import DataError, SettingError, short_repr

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.registry import Registry

__all__ = ["Place", "check_form", "places"]

_FORMAT = re.compile(r"([A-Za-z]\w[\w-]*):(.*)", re.DOTALL)
"""``format:path``; a single letter before the colon is a drive."""

ENDINGS = {
    ".htm": "html", ".html": "html", ".jsonl": "jsonl", ".markdown": "markdown", ".md": "markdown", ".tsv": "tsv",
    ".txt": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """One file of a corpus, or a folder whose format is read as a whole.

    Attributes:
        path: the absolute path.
        name: the path as in the ini, with globs expanded.
        format: the name of its format.
    """

    path: Path
    name: str
    format: str


def places(entries: tuple[str, ...], folder: Path, formats: Registry[Reader]) -> Iterator[Place]:
    """Yield the files of each line of ``rag_corpus``; the files of a line are sorted by name.

    A line is a path or a glob relative to ``folder``, with an optional ``format:`` before it. A glob skips hidden files
    and folders; ``**`` matches any number of folders. If a line has no format, the ending of a file decides.

    Raises:
        SettingError: a format or a file's ending is unknown.
        DataError: a file is missing, or a glob matches no file.
    """
    for entry in entries:
        format_name, text = _split(entry, formats)
        for name in _names(text, folder):
            yield Place(folder / name, name, format_name or _format_of(folder / name, name))


def check_form(entries: tuple[str, ...], formats: Registry[Reader]) -> None:
    """Raise `SettingError` for a line of ``rag_corpus`` without path or with an unknown format; read no files."""
    for entry in entries:
        _split(entry, formats)


def _split(entry: str, formats: Registry[Reader]) -> tuple[str, str]:
    """Split a line into its format, or "", and its path."""
    match = _FORMAT.fullmatch(entry)
    if match is None:
        return "", entry
    formats.get(match[1], "rag_corpus")
    if not match[2].strip():
        raise SettingError(f"rag_corpus: {short_repr(entry)} has no path; write for example {match[1]}:docs/pages")
    return match[1], match[2].strip()


def _names(text: str, folder: Path) -> list[str]:
    try:
        if not has_magic(text) or (folder / text).exists():
            if not (folder / text).exists():
                raise DataError("rag_corpus", f"no such file: {short_repr(str(folder / text), 200)}; correct the path")
            return [Path(text).as_posix()]
        matched = glob(text, root_dir=folder, recursive=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError("rag_corpus", f"the path {short_repr(text)} cannot be used: {why}") from None
    names = sorted(Path(name).as_posix() for name in matched if (folder / name).is_file())
    if not names:
        raise DataError(
            "rag_corpus", f"{short_repr(text)} matches no file in {short_repr(str(folder), 200)}; correct the glob"
        )
    return names


def _format_of(path: Path, name: str) -> str:
    """Return the format of a file by its ending, or the format of a folder by its content."""
    if path.is_dir():
        if (path / CORPUS).exists():
            return "beir"
        hint = f"write a glob of its files, such as {name}/**/*.md"
        raise SettingError(f"rag_corpus: {short_repr(name)} is a folder without {CORPUS}; {hint}")
    format_name = ENDINGS.get(path.suffix.lower())
    if format_name is None:
        hint = f"known are {' '.join(sorted(ENDINGS))}; write format:path, for example text:{name}"
        raise SettingError(f"rag_corpus: the ending of {short_repr(name)} has no known format; {hint}")
    return format_name
