"""Write files inside the project, and notice what changed on disk meanwhile."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pytest_rageval.errors import DataError, SettingError
from pytest_rageval.folders import regular, whole_files

__all__ = ["FileChangedError", "Seen", "append_line", "digest_of", "inside", "read_seen", "write_file"]


class FileChangedError(DataError):
    """A file changed on disk since it was read; nothing was written."""

    code = "RAG212"


@dataclass(frozen=True)
class Seen:
    """The content of a file when it was read; ``digest`` is empty if the file was missing."""

    content: bytes
    digest: str


def inside(project: Path, path: str | Path) -> Path:
    """Return a path of the project, absolute and without symbolic links.

    Raises:
        SettingError: the path leads out of the project.
    """
    root = Path(os.path.realpath(project))
    found = Path(os.path.realpath(root / path))
    if not found.is_relative_to(root) or found == root:
        raise SettingError(f"{path}: a page writes only inside the project {root}")
    return found


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits; empty if the file is missing.

    Raises:
        OSError: the file cannot be read.
    """
    return read_seen(path).digest


def read_seen(path: Path) -> Seen:
    """Return a file's content with its digest.

    Raises:
        OSError: the file exists and cannot be read.
    """
    try:
        content = regular(path).read_bytes()
    except FileNotFoundError:
        return Seen(b"", "")
    return Seen(content, sha256(content).hexdigest())


def write_file(project: Path, path: str | Path, content: bytes, *, seen: str) -> str:
    """Write a whole file of the project, and return its new digest.

    Args:
        project: the folder of the project.
        path: the file, relative to the project; missing folders are created.
        content: the new content.
        seen: the digest of what the person saw before the click; empty for a file that must not exist yet.

    Raises:
        FileChangedError: the file on disk is not what the person saw; nothing is written.
        SettingError: the path leads out of the project.
        OSError: the file cannot be written.
    """
    target = inside(project, path)
    if digest_of(target) != seen:
        raise FileChangedError(str(path), "it changed on disk since the page read it; reload the page")
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_files(target) as (part,):
        part.write_bytes(content)
    return sha256(content).hexdigest()


def append_line(project: Path, path: str | Path, line: str) -> None:
    """Append a line to a log of the project, and wait until it is on disk.

    Raises:
        SettingError: the path leads out of the project.
        OSError: the file cannot be written.
    """
    target = inside(project, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    data = f"{line}\n".encode()
    with target.open("ab", buffering=0) as stream:
        stream.write(data)
        os.fsync(stream.fileno())
