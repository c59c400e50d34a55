"""Indexes on disk: built once for a corpus and settings, whoever asks first, and read by all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError

__all__ = ["FACTS", "IndexStore", "StoredIndex"]

FACTS = "index.json"
"""The file that makes a folder an index: what it is of, how it was built, and the sizes of its other files."""

FORMAT = 1


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index on disk, whole.

    Attributes:
        folder: its files.
        made_of: what it is of: what was given to `IndexStore.get`.
        facts: what its builder said of it.
        build_s: seconds that building it took.
        disk_bytes: what its files take.
    """

    folder: Path
    made_of: Mapping[str, Any]
    facts: Mapping[str, Any]
    build_s: float
    disk_bytes: int


class IndexStore:
    """A folder of indexes, each in a folder of its own that is named by what it is of.

    Processes that ask for the same index at a time wait for the one that builds it. A folder gets its name when it is
    whole, so that none that is half built is ever read.

    Args:
        folder: where they are; made when the first is built.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, made_of: Mapping[str, object], build: Callable[[Path], Mapping[str, object]]) -> StoredIndex:
        """Return the index that is made of ``made_of``, built by ``build`` where there is none.

        Args:
            made_of: all that the index depends on, as JSON: "kind", the digest of the corpus, settings, versions.
            build: writes the index's files into the folder that it is given, and returns what there is to tell of it.

        Raises:
            DataError: a file of the index is not as it was written.
        """
        from filelock import FileLock

        key = hashlib.sha256(json.dumps([FORMAT, made_of], sort_keys=True).encode()).hexdigest()[:16]
        target = self.folder / f"{made_of['kind']}-{key}"
        if not target.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{target}.lock"):
                if not target.exists():
                    self._build(target, made_of, build)
        return stored(target)

    def _build(
        self, target: Path, made_of: Mapping[str, object], build: Callable[[Path], Mapping[str, object]]
    ) -> None:
        unfinished = Path(tempfile.mkdtemp(prefix=f"{target.name}.", suffix=".part", dir=self.folder))
        try:
            start = time.perf_counter()
            facts = dict(build(unfinished))
            seconds = time.perf_counter() - start
            sizes = {str(path.relative_to(unfinished)): path.stat().st_size for path in _files(unfinished)}
            told = {"format": FORMAT, "made_of": made_of, "facts": facts, "build_s": seconds, "files": sizes}
            (unfinished / FACTS).write_text(json.dumps(told, indent=1, sort_keys=True), encoding="utf-8")
            os.replace(unfinished, target)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise


def stored(folder: Path) -> StoredIndex:
    """Return the index in a folder; one whose files are not all there in their sizes is a `DataError`."""
    again = f"remove the folder {folder}, and it is built anew"
    try:
        told = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        sizes, facts, made_of, seconds = (told[name] for name in ("files", "facts", "made_of", "build_s"))
    except (OSError, ValueError, LookupError, TypeError):
        raise DataError(str(folder / FACTS), f"cannot be read as what tells of an index; {again}") from None
    for name, size in sizes.items():
        path = folder / name
        there = path.stat().st_size if path.exists() else 0
        if there != size:
            raise DataError(str(path), f"has {there:,} bytes, and was written with {size:,}; {again}")
    return StoredIndex(folder, made_of, facts, seconds, sum(sizes.values()))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
