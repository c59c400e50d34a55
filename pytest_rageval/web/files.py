"""Write files inside the project, and notice what changed on disk meanwhile."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pytest_rageval.errors import DataError, SettingError, ascii_safe
from pytest_rageval.folders import regular, whole_files
from pytest_rageval.llm.recordings.line_file import locked

__all__ = ["FileChangedError", "Seen", "inside", "read_seen", "write_file"]


class FileChangedError(DataError):
    """A file changed on disk since the page read it; nothing was written, nothing is merged."""

    code = "RAG212"


@dataclass(frozen=True)
class Seen:
    """The content of a file when it was read, with its SHA-256 as hex digits; a missing file has an empty digest."""

    content: bytes
    digest: str


def inside(project: Path, path: str | Path) -> Path:
    """Return a path of the project, absolute and without symbolic links.

    Raises:
        SettingError: the path leads out of the project, or no file can have it.
    """
    root = Path(os.path.realpath(project))
    try:
        place = Path(os.path.realpath(root / path))
    except ValueError as error:  # a NUL character
        raise SettingError(f"{ascii_safe(str(path))}: this is no path of a file") from error
    if place == root or not place.is_relative_to(root):
        raise SettingError(f"{ascii_safe(str(path))} is outside the project; a page writes only inside {root}")
    return place


def read_seen(path: Path) -> Seen:
    """Return the content of a file, as `write_file` wants to find it again.

    Raises:
        OSError: the file exists and cannot be read, or is no regular file.
    """
    try:
        content = regular(path).read_bytes()
    except FileNotFoundError:
        return Seen(b"", "")
    return Seen(content, sha256(content).hexdigest())


def write_file(project: Path, path: str | Path, content: bytes, *, seen: str) -> str:
    """Write a whole file of the project, and return its new digest. A kill leaves the old file or the new one.

    Args:
        project: the folder of the project.
        path: the file, absolute or relative to the project; missing folders are created.
        content: the new content.
        seen: the digest of what the person saw before the click that says "write"; empty if the file must be missing.

    Raises:
        FileChangedError: the file on disk is not what the person saw.
        SettingError: the path leads out of the project.
        OSError: the file cannot be written.
    """
    target = inside(project, path)
    with locked(target):
        now = read_seen(target).digest
        if now != seen:
            raise FileChangedError(ascii_safe(str(path)), _change(now, seen))
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_files(target) as (part,), part.open("wb") as stream:
            if now:
                shutil.copymode(target, part)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    return sha256(content).hexdigest()


def _change(now: str, seen: str) -> str:
    if not seen:
        return "the file exists already; nothing was written"
    fate = "changed on disk" if now else "was removed"
    return f"the file {fate} since the page read it, and nothing was written; reload the page"
