"""Write files inside the project, and detect files that changed on disk meanwhile."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pytest_rageval.errors import DataError, SettingError, ascii_safe
from pytest_rageval.folders import atomic_files, regular_path
from pytest_rageval.llm.recordings.line_file import locked

__all__ = ["FileChangedError", "FileSnapshot", "inside", "read_snapshot", "write_file"]


class FileChangedError(DataError):
    """A file changed on disk since the page read it; nothing was written or merged."""

    code = "RAG212"


@dataclass(frozen=True)
class FileSnapshot:
    """The content of a file when it was read, with its SHA-256 as hex digits; a missing file has an empty digest."""

    content: bytes
    digest: str


def inside(project: Path, path: str | Path) -> Path:
    """Return the absolute path of a file of the project, with symbolic links resolved.

    Raises:
        SettingError: the path leads out of the project, or is not a valid file path.
    """
    root = Path(os.path.realpath(project))
    try:
        target = Path(os.path.realpath(root / path))
    except ValueError as error:  # a NUL character
        raise SettingError(f"{ascii_safe(str(path))}: this is not a valid file path") from error
    if target == root or not target.is_relative_to(root):
        raise SettingError(f"{ascii_safe(str(path))} is outside the project; a page writes only inside {root}")
    return target


def read_snapshot(path: Path) -> FileSnapshot:
    """Return the content and the digest of a file; `write_file` takes the digest to detect changes.

    Raises:
        OSError: the file exists and cannot be read, or is not a regular file.
    """
    try:
        content = regular_path(path).read_bytes()
    except FileNotFoundError:
        return FileSnapshot(b"", "")
    return FileSnapshot(content, sha256(content).hexdigest())


def write_file(project: Path, path: str | Path, content: bytes, *, seen: str) -> str:
    """Write a whole file of the project, and return its new digest.

    If the process is killed, the complete old file or the complete new file remains.

    Args:
        project: the folder of the project.
        path: the file, absolute or relative to the project; missing folders are created.
        content: the new content.
        seen: the digest of the content that the person saw before saving; empty if the file must not exist.

    Raises:
        FileChangedError: the file on disk differs from what the person saw.
        SettingError: the path leads out of the project.
        OSError: the file cannot be written.
    """
    target = inside(project, path)
    with locked(target):
        now = read_snapshot(target).digest
        if now != seen:
            raise FileChangedError(ascii_safe(str(path)), _conflict(now, seen))
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_files(target) as (part,), part.open("wb") as stream:
            if now:
                shutil.copymode(target, part)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    return sha256(content).hexdigest()


def _conflict(now: str, seen: str) -> str:
    """Return how a file with the digest ``now`` differs from the one that the person saw."""
    if not seen:
        return "the file exists already; nothing was written"
    change = "changed on disk" if now else "was removed"
    return f"the file {change} since the page read it, and nothing was written; reload the page"
