"""Indexes on disk: built once for a corpus and settings, whoever asks first, and read by all."""

from __future__ import annotations

import atexit
import errno
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.folders import make_ignored

__all__ = ["FACTS", "Build", "IndexStore", "StoredIndex", "name_of", "stored", "temporary"]

FACTS = "index.json"
"""The file that makes a folder an index: what it is of, how it was built, and the sizes of its other files."""

FORMAT = 1

UNFINISHED = ".part"

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Build = Callable[[Path], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index on disk, whole.

    Attributes:
        folder: its files.
        made_of: what it is of: what was given to `IndexStore.get`.
        facts: what its builder said of it.
        build_s: seconds that building it took.
        disk_bytes: what its files take.
        built: whether it was built for the one who asks; False where it was there.
    """

    folder: Path
    made_of: Mapping[str, Any]
    facts: Mapping[str, Any]
    build_s: float
    disk_bytes: int
    built: bool = False


class IndexStore:
    """A folder of indexes, each in a folder of its own that is named by what it is of.

    Processes that ask for the same index at a time wait for the one that builds it. A folder gets its name when it is
    whole, so that none that is half built is ever read; what a killed process leaves is removed by the next that
    builds. Where the folder cannot be written, an index is built for this process alone, in a temporary one.

    Args:
        folder: where they are; made when the first is built.

    Attributes:
        given: what was asked for, in order.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.given: list[StoredIndex] = []

    def get(self, made_of: Mapping[str, object], build: Build) -> StoredIndex:
        """Return the index that is made of ``made_of``, built by ``build`` where there is none.

        Args:
            made_of: all that the index depends on, as JSON: "kind", the digest of the corpus, settings, versions.
            build: writes the index's files into the folder that it is given, and returns what there is to tell of it.

        Raises:
            DataError: a file of the index is not as it was written.
            SettingError: there is no room for the index.
        """
        from filelock import FileLock

        name = name_of(made_of)
        target, built = self.folder / name, False
        if not target.exists():
            target = self._writable() / name
            _clear(target.parent)
            with FileLock(f"{target}.lock"):
                if not target.exists():
                    _build(target, made_of, build)
                    built = True
        self.given.append(replace(stored(target), built=built))
        return self.given[-1]

    def measured(
        self, index: StoredIndex, what: str, settings: Mapping[str, object], measure: Callable[[], float | None]
    ) -> float | None:
        """Return what is measured of an index under settings; it is noted in the index's folder, where that can be."""
        from filelock import FileLock

        note = index.folder / f"{name_of({'kind': what, **settings})}.json"
        with FileLock(f"{index.folder}.lock") if os.access(index.folder.parent, os.W_OK) else nullcontext():
            with suppress(OSError, ValueError, LookupError, TypeError):
                noted: float | None = json.loads(note.read_text(encoding="utf-8"))[what]
                return noted
            value = measure()
            with suppress(OSError):
                note.write_text(json.dumps({**settings, what: value}), encoding="utf-8")
        return value

    def remove(self, name: str) -> int:
        """Remove an index, and return the bytes that it took; one that cannot be removed is a `SettingError`."""
        from filelock import FileLock

        folder, unfinished = self.folder / name, self.folder / f"{name}{UNFINISHED}"
        size = sum(path.stat().st_size for path in _files(folder))
        try:
            with FileLock(f"{folder}.lock"):
                shutil.rmtree(unfinished, ignore_errors=True)
                os.replace(folder, unfinished)  # so that none that is half removed is ever read
                shutil.rmtree(unfinished)
        except OSError as error:
            raise SettingError(f"the index {folder} cannot be removed: {error.strerror}; remove it by hand") from error
        return size

    def folders(self) -> list[Path]:
        """Return the folders of the indexes that are there, by name."""
        return sorted(path for path in self.folder.glob("*") if path.is_dir() and path.suffix != UNFINISHED)

    def _writable(self) -> Path:
        try:
            make_ignored(self.folder)
        except OSError:
            return self._temporary
        return self.folder if os.access(self.folder, os.W_OK) else self._temporary

    @cached_property
    def _temporary(self) -> Path:
        return temporary()


def temporary() -> Path:
    """Return a new folder that is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="rageval-indexes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def name_of(made_of: Mapping[str, object]) -> str:
    """Return the name of an index's folder."""
    key = hashlib.sha256(json.dumps([FORMAT, made_of], sort_keys=True).encode()).hexdigest()[:16]
    return f"{made_of['kind']}-{key}"


def stored(folder: Path) -> StoredIndex:
    """Return the index in a folder; one whose files are not all there in their sizes is a `DataError`."""
    again = f"remove the folder {folder}, and it is built anew"
    try:
        told = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        form, sizes, facts, made_of, seconds = (
            told[name] for name in ("format", "files", "facts", "made_of", "build_s")
        )
    except (OSError, ValueError, LookupError, TypeError):
        raise DataError(str(folder / FACTS), f"cannot be read as what tells of an index; {again}") from None
    if form != FORMAT:
        raise DataError(str(folder / FACTS), f"has the format {form}, and {FORMAT} is read; {again}")
    for name, size in sizes.items():
        path = folder / name
        there = path.stat().st_size if path.exists() else 0
        if there != size:
            raise DataError(str(path), f"has {there:,} bytes, and was written with {size:,}; {again}")
    return StoredIndex(folder, made_of, facts, seconds, sum(sizes.values()))


def _build(target: Path, made_of: Mapping[str, object], build: Build) -> None:
    unfinished = target.with_name(target.name + UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        start = time.perf_counter()
        facts = dict(build(unfinished))
        seconds = time.perf_counter() - start
        sizes = {str(path.relative_to(unfinished)): path.stat().st_size for path in _files(unfinished)}
        told = {"format": FORMAT, "made_of": made_of, "facts": facts, "build_s": seconds, "files": sizes}
        (unfinished / FACTS).write_text(json.dumps(told, indent=1, sort_keys=True), encoding="utf-8")
        os.replace(unfinished, target)
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise SettingError(f"there is no room for the index {target.name} in {target.parent}; make some") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _clear(folder: Path) -> None:
    """Remove what is unfinished and that nobody builds: whose lock is free."""
    from filelock import FileLock, Timeout

    for left in folder.glob(f"*{UNFINISHED}"):
        with suppress(Timeout), FileLock(left.with_suffix(".lock"), timeout=0):
            shutil.rmtree(left, ignore_errors=True)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
