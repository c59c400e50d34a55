"""Store indexes on disk, built once per corpus and settings and shared by all processes."""

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

__all__ = ["FACTS", "Build", "IndexStore", "StoredIndex", "name_of", "read_index", "temporary_folder"]

FACTS = "index.json"
"""The file in the folder of an index with its key, facts, build time and the sizes of its other files."""

FORMAT = 1
"""The version of the format of that file."""

UNFINISHED = ".part"
"""The suffix of the folder of an index during its build or removal."""

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Build = Callable[[Path], Mapping[str, object]]
"""Writes the files of an index into a folder and returns facts about the index."""


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """A complete index on disk.

    Attributes:
        folder: the folder with its files.
        key: what it was built from, as passed to `IndexStore.get`.
        facts: the facts that its builder returned.
        build_s: duration of the build in seconds.
        disk_bytes: total size of its files.
        built: whether this call built it; False if it was already stored.
    """

    folder: Path
    key: Mapping[str, Any]
    facts: Mapping[str, Any]
    build_s: float
    disk_bytes: int
    built: bool = False


class IndexStore:
    """A folder of indexes, each in a subfolder named by a hash of its key.

    Processes that need the same index wait for the one that builds it. A subfolder gets its final name
    only after the build, so an incomplete index is never read. The next build removes the leftovers of a killed
    process. If the folder is not writable, each process builds its own index in a temporary folder.

    Args:
        folder: the folder of all indexes; the first build creates it.

    Attributes:
        requested_indexes: the indexes that `get` returned so far, in order.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requested_indexes: list[StoredIndex] = []

    def get(self, key: Mapping[str, object], build: Build) -> StoredIndex:
        """Return the index with this key; call ``build`` if it is not stored.

        Args:
            key: everything that the index depends on, as JSON values: "kind", corpus digest, settings, versions.
            build: builds the index.

        Raises:
            DataError: a file of the index is damaged.
            SettingError: no space is left for the index.
        """
        from filelock import FileLock

        name = name_of(key)
        target, built = self.folder / name, False
        if not target.exists():
            target = self._writable() / name
            _remove_unfinished(target.parent)
            with FileLock(f"{target}.lock"):
                if not target.exists():
                    _build(target, key, build)
                    built = True
        self.requested_indexes.append(replace(read_index(target), built=built))
        return self.requested_indexes[-1]

    def measurement(
        self, index: StoredIndex, what: str, settings: Mapping[str, object], measure: Callable[[], float | None]
    ) -> float | None:
        """Return a measurement of an index with these search settings; cache it in the folder of the index if possible.

        Args:
            index: the index.
            what: the name of the measurement, such as recall.
            settings: the search settings.
            measure: computes the value if it is not cached.
        """
        from filelock import FileLock

        cache_file = index.folder / f"{name_of({'kind': what, **settings})}.json"
        with FileLock(f"{index.folder}.lock") if os.access(index.folder.parent, os.W_OK) else nullcontext():
            with suppress(OSError, ValueError, LookupError, TypeError):
                cached: float | None = json.loads(cache_file.read_text(encoding="utf-8"))[what]
                return cached
            value = measure()
            with suppress(OSError):
                cache_file.write_text(json.dumps({**settings, what: value}), encoding="utf-8")
        return value

    def remove(self, name: str) -> int:
        """Remove an index and return its size in bytes; raise `SettingError` if that fails."""
        from filelock import FileLock

        folder, unfinished = self.folder / name, self.folder / f"{name}{UNFINISHED}"
        size = sum(path.stat().st_size for path in _files(folder))
        try:
            with FileLock(f"{folder}.lock"):
                shutil.rmtree(unfinished, ignore_errors=True)
                os.replace(folder, unfinished)  # a half-removed index is never read
                shutil.rmtree(unfinished)
        except OSError as error:
            raise SettingError(f"the index {folder} cannot be removed: {error.strerror}; remove it by hand") from error
        return size

    def folders(self) -> list[Path]:
        """Return the folders of all stored indexes, sorted by name."""
        return sorted(path for path in self.folder.glob("*") if path.is_dir() and path.suffix != UNFINISHED)

    def _writable(self) -> Path:
        """Return the folder of all indexes, or a temporary one if it is not writable."""
        try:
            make_ignored(self.folder)
        except OSError:
            return self._temporary
        return self.folder if os.access(self.folder, os.W_OK) else self._temporary

    @cached_property
    def _temporary(self) -> Path:
        return temporary_folder()


def temporary_folder() -> Path:
    """Return a new folder, which is removed at the end of the process."""
    folder = Path(tempfile.mkdtemp(prefix="rageval-indexes-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def name_of(key: Mapping[str, object]) -> str:
    """Return the name of an index's folder."""
    digest = hashlib.sha256(json.dumps([FORMAT, key], sort_keys=True).encode()).hexdigest()[:16]
    return f"{key['kind']}-{digest}"


def read_index(folder: Path) -> StoredIndex:
    """Return the index in a folder; raise `DataError` if a file is missing or has another size."""
    advice = f"remove the folder {folder} to rebuild the index"
    try:
        description = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        form, sizes, facts, key, seconds = (
            description[name] for name in ("format", "files", "facts", "made_of", "build_s")
        )
    except (OSError, ValueError, LookupError, TypeError):
        raise DataError(str(folder / FACTS), f"cannot be read as the description of an index; {advice}") from None
    if form != FORMAT:
        raise DataError(str(folder / FACTS), f"has format {form}, but only format {FORMAT} is supported; {advice}")
    for name, size in sizes.items():
        path = folder / name
        actual = path.stat().st_size if path.exists() else 0
        if actual != size:
            raise DataError(str(path), f"has {actual:,} bytes, but was written with {size:,}; {advice}")
    return StoredIndex(folder, key, facts, seconds, sum(sizes.values()))


def _build(target: Path, key: Mapping[str, object], build: Build) -> None:
    unfinished = target.with_name(target.name + UNFINISHED)
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        start = time.perf_counter()
        facts = dict(build(unfinished))
        seconds = time.perf_counter() - start
        sizes = {str(path.relative_to(unfinished)): path.stat().st_size for path in _files(unfinished)}
        description = {"format": FORMAT, "made_of": key, "facts": facts, "build_s": seconds, "files": sizes}
        (unfinished / FACTS).write_text(json.dumps(description, indent=1, sort_keys=True), encoding="utf-8")
        os.replace(unfinished, target)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        problem = f"no space is left for the index {target.name} in {target.parent}; free some disk space"
        raise SettingError(problem) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _remove_unfinished(folder: Path) -> None:
    """Remove unfinished indexes whose lock is free: no process is building them."""
    from filelock import FileLock, Timeout

    for leftover in folder.glob(f"*{UNFINISHED}"):
        with suppress(Timeout), FileLock(leftover.with_suffix(".lock"), timeout=0):
            shutil.rmtree(leftover, ignore_errors=True)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
