"""Copy recordings from one folder to another."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pytest_rageval.llm.recordings.cassette import append, read, sort_records
from pytest_rageval.llm.recordings.cassettes import recording_files

__all__ = ["copy_recordings"]


def copy_recordings(keys: Collection[str], source: Path, target: Path) -> list[str]:
    """Copy the recordings with these keys that ``target`` lacks; return the names of the changed files.

    Raises:
        DataError: a file is malformed, or cannot be read or written.
    """
    changed = []
    for name in recording_files(source):
        index = read(source / name)
        target_index = read(target / name)
        lines = [index[key].text for key in keys if key in index and key not in target_index]
        for line in lines:
            append(target / name, line)
        if lines:
            sort_records(target / name)
            changed.append(name)
    return changed
