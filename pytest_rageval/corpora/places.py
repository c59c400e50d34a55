"""Which files a corpus is made of, and who reads them: ``rag_corpus``, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.corpora.beir import CORPUS
from pytest_rageval.errors import DataError, SettingError, found

if TYPE_CHECKING:
    from pytest_rageval.corpora import Reader
    from pytest_rageval.registry import Registry

__all__ = ["Place", "check_form", "places"]

_FORMAT = re.compile(r"([A-Za-z]\w[\w-]*):(.*)", re.DOTALL)
"""``format:path``; one letter before the colon is the drive of a path."""

ENDINGS = {
    ".htm": "html", ".html": "html", ".jsonl": "jsonl", ".markdown": "markdown", ".md": "markdown", ".tsv": "tsv",
    ".txt": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """One file of a corpus, or a folder that its reader takes whole.

    Attributes:
        path: where it is.
        name: the same as the ini has it, with what a glob stands for filled in.
        format: the name of its reader.
    """

    path: Path
    name: str
    format: str


def places(entries: tuple[str, ...], folder: Path, formats: Registry[Reader]) -> Iterator[Place]:
    """Yield the places that the lines of ``rag_corpus`` name, each line's in the order of their names.

    A line is a path or a glob relative to ``folder``, perhaps with ``format:`` before it. A glob takes no hidden files
    and folders, ``**`` stands for any number of folders, and without a format each ending says what a file is.

    Raises:
        SettingError: a format is unknown, or a file's ending says none.
        DataError: there is no such file, or a glob matches none.
    """
    for entry in entries:
        format_name, text = _parted(entry, formats)
        for name in _names(text, folder):
            yield Place(folder / name, name, format_name or _format_of(folder / name, name))


def check_form(entries: tuple[str, ...], formats: Registry[Reader]) -> None:
    """Raise `SettingError` where a line of ``rag_corpus`` names no path or an unknown format; no file is looked for."""
    for entry in entries:
        _parted(entry, formats)


def _parted(entry: str, formats: Registry[Reader]) -> tuple[str, str]:
    """Return the format, or "", and the path."""
    match = _FORMAT.fullmatch(entry)
    if match is None:
        return "", entry
    formats.get(match[1], "rag_corpus")
    if not match[2].strip():
        raise SettingError(f"rag_corpus: {found(entry)} names no path; write for instance {match[1]}:docs/pages")
    return match[1], match[2].strip()


def _names(text: str, folder: Path) -> list[str]:
    try:
        if not has_magic(text) or (folder / text).exists():
            if not (folder / text).exists():
                raise DataError("rag_corpus", f"there is no {found(str(folder / text), 200)}; correct the path")
            return [Path(text).as_posix()]
        matched = glob(text, root_dir=folder, recursive=True)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError("rag_corpus", f"the path {found(text)} cannot be used: {why}") from None
    names = sorted(Path(name).as_posix() for name in matched if (folder / name).is_file())
    if not names:
        raise DataError("rag_corpus", f"{found(text)} matches no file in {found(str(folder), 200)}; correct the glob")
    return names


def _format_of(path: Path, name: str) -> str:
    """Return the format that a path's ending says, or that of a folder."""
    if path.is_dir():
        if (path / CORPUS).exists():
            return "beir"
        hint = f"write a glob of its files, such as {name}/**/*.md"
        raise SettingError(f"rag_corpus: {found(name)} is a folder without {CORPUS}; {hint}")
    known = ENDINGS.get(path.suffix.lower())
    if known is None:
        hint = f"known are {' '.join(sorted(ENDINGS))}; say it as format:path, for instance text:{name}"
        raise SettingError(f"rag_corpus: the ending of {found(name)} does not say its format; {hint}")
    return known
