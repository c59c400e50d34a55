"""Copy recordings from one folder to another."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pytest_rageval.llm.recordings.cassette import append, read, settle
from pytest_rageval.llm.recordings.cassettes import existing

__all__ = ["keep_recordings"]


def keep_recordings(keys: Collection[str], source: Path, target: Path) -> list[str]:
    """Copy the recordings of some keys that a folder lacks, and return the names of the files that changed.

    Raises:
        DataError: a file is malformed, or cannot be read or written.
    """
    changed = []
    for name in existing(source):
        own = read(source / name)
        known = read(target / name)
        lines = [own[key].text for key in keys if key in own and key not in known]
        for line in lines:
            append(target / name, line)
        if lines:
            settle(target / name)
            changed.append(name)
    return changed
