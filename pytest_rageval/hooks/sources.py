"""The session's data files: found where they are named, read once, when the first case needs them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rageval.errors import DataError, SettingError, ascii_safe, found

if TYPE_CHECKING:
    from pytest_rageval.datasets import Loader
    from pytest_rageval.model.case import Instance
    from pytest_rageval.registry import Registry

__all__ = ["Source", "Sources"]


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset that was read.

    Attributes:
        name: ``format:path``, the path from the rootdir on where it lies below it.
        instances: its records.
        digest: sha256 of what was read.
    """

    name: str
    instances: tuple[Instance, ...]
    digest: bytes


class Sources:
    """Every dataset of the session, by format and file."""

    def __init__(self, loaders: Registry[Loader], rootdir: Path) -> None:
        self._loaders = loaders
        self._rootdir = rootdir
        self._read: dict[tuple[str, Path], Source] = {}

    def __iter__(self) -> Iterator[Source]:
        return iter(sorted(self._read.values(), key=lambda source: source.name))

    def load(self, dataset: str, folders: Sequence[Path], where: str) -> Source:
        """Return the dataset ``format:path``; ``where`` is for messages.

        The path is relative to the first of ``folders`` that has it, those of the file that names it, then to the
        rootdir.
        """
        format_name, colon, text = dataset.partition(":")
        if not colon or not text:
            hint = found(f"jsonl:{dataset.strip(':')}")
            raise SettingError(f"{where}: dataset {found(dataset)} is not format:path; write for instance {hint}")
        loader = self._loaders.get(format_name, where)
        path = self._find(text, folders, where)
        key = (format_name, path.resolve())
        if key not in self._read:
            name = f"{format_name}:{self._shown(path)}"
            instances = tuple(loader(path))
            if not instances:
                raise DataError(where, f"dataset {found(name)} has no record; it needs at least one")
            self._read[key] = Source(name, instances, _digest(path))
        return self._read[key]

    def _find(self, text: str, folders: Sequence[Path], where: str) -> Path:
        places = dict.fromkeys(folder / text for folder in (*folders, self._rootdir))
        try:
            there = [path for path in places if path.exists()]
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise DataError(where, f"dataset path {found(text)} cannot be used: {why}") from None
        if there:
            return there[0]
        tried = " nor ".join(ascii_safe(str(path)) for path in places)
        raise DataError(where, f"dataset {found(text)} is not there: no {tried}; correct the path")

    def _shown(self, path: Path) -> str:
        resolved = path.resolve()
        below = resolved.is_relative_to(self._rootdir)
        return resolved.relative_to(self._rootdir).as_posix() if below else resolved.as_posix()


def _digest(path: Path) -> bytes:
    """Return sha256 over a file as it was read, or over the files of a folder."""
    from pytest_rageval.datasets.source import read_bytes

    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(read_bytes(file))
    return digest.digest()
