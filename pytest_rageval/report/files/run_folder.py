"""Write the folder of a run: each outcome when it arrives, results.json at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from pytest_rageval.folders import atomic_files, make_ignored
from pytest_rageval.report.run.json_text import JsonText, json_lines, to_json

__all__ = [
    "ENDED",
    "HEAD",
    "OUTCOMES",
    "RunFolder",
    "make_run_folder",
    "run_age",
    "try_to_write",
    "write_atomically",
    "write_text",
]

OUTCOMES = "outcomes.jsonl"

JOURNAL = "journal-"
"""Prefix of the files in which processes record their model calls."""

HEAD, ENDED = "run.json", "ended.jsonl"
"""Files that a run needs to resume this one."""


class RunFolder:
    """The folder of one run.

    Methods raise OSError if the folder cannot be written; the caller warns once and continues without it.

    Args:
        root: the project's root folder.
        started: when the run started; it names a new folder.
        path: an existing folder to use; None creates a new one.

    Attributes:
        path: the folder.
        outcomes: number of lines that this object appended to outcomes.jsonl.
    """

    def __init__(self, root: Path, started: datetime, path: Path | None = None) -> None:
        self.path = path or make_run_folder(root, started)
        self._stream: IO[bytes] = (self.path / OUTCOMES).open("ab")
        self._ended: IO[bytes] = (self.path / ENDED).open("ab")
        self._sizes: dict[IO[bytes], int] = {stream: stream.tell() for stream in (self._stream, self._ended)}
        self.outcomes = 0

    @property
    def id(self) -> str:
        """The run's name: its start time, with a number if another run started in the same second."""
        return self.path.name

    def append(self, record: JsonText) -> tuple[int, int]:
        """Append one outcome as a line and flush it to the operating system; return its offset and length in bytes."""
        text = record.encode("utf-8")
        end = self._append(self._stream, text + b"\n")
        self._stream.flush()
        self.outcomes += 1
        return end - len(text) - 1, len(text)

    def append_instance(self, case_id: str, instance: JsonText) -> tuple[int, int]:
        """Append a line with an instance; return the offset and length of the instance in bytes.

        `append_ended` flushes it at the end of its case; nothing reads it before.
        """
        text = instance.encode("utf-8")
        line = b'{"case_id": %b, "instance": %b}\n' % (to_json(case_id).encode("utf-8"), text)
        return self._append(self._ended, line) - len(text) - 2, len(text)

    def append_ended(self, line: str) -> bool:
        """Append a line about the end of a case, flush it and all earlier lines, and return True."""
        self._append(self._ended, f"{line}\n".encode())
        self._ended.flush()
        return True

    def _append(self, stream: IO[bytes], line: bytes) -> int:
        """Write a line and return the new size of the file; it is counted because ``tell`` is slower."""
        stream.write(line)
        self._sizes[stream] += len(line)
        return self._sizes[stream]

    def write_head(self, head: str) -> None:
        """Write the run's head, see `Head`."""
        with atomic_files(self.path / HEAD) as (temporary,):
            temporary.write_text(head, encoding="utf-8")

    def forget_ended(self) -> None:
        """Remove ended.jsonl, which only a run that resumes this one needs."""
        (self.path / ENDED).unlink(missing_ok=True)

    def forget_journals(self) -> None:
        """Remove the journals; call it if no later run can use them."""
        for path in self.path.glob(f"{JOURNAL}*"):
            with suppress(OSError):  # a leftover journal does no harm to the next run
                path.unlink()

    def close(self) -> None:
        """Close the files; buffered lines that cannot be written are lost."""
        for stream in (self._stream, self._ended):
            with suppress(OSError):
                stream.close()

    def note_recordings(self, keys: Collection[str], *, complete: bool) -> None:
        """Write the keys of used recordings, and whether all cases ran, for `rageval cassettes`."""
        head = "# complete" if complete else "# partial"
        with atomic_files(self.path / "used-recordings.txt") as (
            temporary,
        ):  # a truncated list would let used recordings be pruned
            temporary.write_text("\n".join([head, *sorted(keys), ""]), encoding="utf-8")

    def finish(self, results: Mapping[str, Any]) -> None:
        """Write results.json and close the folder."""
        self._stream.close()
        self._ended.close()
        write_atomically(self.path / "results.json", results)


def make_run_folder(root: Path, started: datetime) -> Path:
    """Create the folder of a new run in ``.rageval``, which has its own .gitignore."""
    base = make_ignored(root / ".rageval")
    return _make_numbered(base / "runs", started.strftime("%Y%m%dT%H%M%S"))


def run_age(folder: Path) -> tuple[str, int]:
    """Return the start and the number of a run, to sort runs by age; runs of the same second are numbered."""
    started, _, number = folder.name.partition("-")
    return started, int(number) if number.isdecimal() else 1


def try_to_write(path: Path, write: Callable[[], object]) -> str | None:
    """Call ``write``; return None, or a sentence that says why ``path`` could not be written."""
    try:
        write()
    except OSError as error:
        return f"{path} could not be written: {error.strerror or error}"
    return None


def write_atomically(path: Path, results: Mapping[str, Any]) -> None:
    """Write results as JSON, atomically: no reader sees half a file."""
    write_text(path, json_lines(results))


def write_text(path: Path, parts: Iterable[str]) -> None:
    """Write a text atomically: no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_files(path) as (temporary,), temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(parts)


def _make_numbered(runs: Path, name: str) -> Path:
    runs.mkdir(exist_ok=True)
    for number in range(1, 10_000):
        path = runs / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{runs} holds too many runs that started at {name}; remove old ones")
