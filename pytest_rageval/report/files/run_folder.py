"""Write the folder of a run: outcomes as they arrive, results.json at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from pytest_rageval.folders import make_ignored, whole_files
from pytest_rageval.report.run.json_text import JsonText, json_lines, to_json

__all__ = [
    "ENDED",
    "HEAD",
    "OUTCOMES",
    "RunFolder",
    "fault_of",
    "make_run_folder",
    "run_age",
    "write_atomically",
    "write_text",
]

OUTCOMES = "outcomes.jsonl"

JOURNAL = "journal-"
"""Prefix of the files to which processes write their calls."""

HEAD, ENDED = "run.json", "ended.jsonl"
"""Files for a run that resumes this one."""


class RunFolder:
    """One run's folder: a new one, or the one at ``path``.

    Raises OSError if the folder cannot be written; the caller warns once and continues without it.

    Attributes:
        path: the folder.
        outcomes: number of lines in the file of outcomes.
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
        """Append a line about an instance; return the offset and length of the instance in bytes.

        It is flushed with the end of its case, without which nothing reads it.
        """
        text = instance.encode("utf-8")
        line = b'{"case_id": %b, "instance": %b}\n' % (to_json(case_id).encode("utf-8"), text)
        return self._append(self._ended, line) - len(text) - 2, len(text)

    def append_ended(self, line: str) -> bool:
        """Append a line about the end of a case, and flush it and all lines before it; return True."""
        self._append(self._ended, f"{line}\n".encode())
        self._ended.flush()
        return True

    def _append(self, stream: IO[bytes], line: bytes) -> int:
        """Write a line, and return the size of the file with it; asking the system for it takes longer."""
        stream.write(line)
        self._sizes[stream] += len(line)
        return self._sizes[stream]

    def write_head(self, head: str) -> None:
        """Write the run's head, see `Head`."""
        with whole_files(self.path / HEAD) as (part,):
            part.write_text(head, encoding="utf-8")

    def forget_ended(self) -> None:
        """Remove the file that only a resuming run would need."""
        (self.path / ENDED).unlink(missing_ok=True)

    def forget_journals(self) -> None:
        """Remove the journals, if no later run can use them."""
        for path in self.path.glob(f"{JOURNAL}*"):
            with suppress(OSError):  # a leftover journal does no harm to the next run
                path.unlink()

    def close(self) -> None:
        """Close the files; buffered lines that cannot be written are lost."""
        for stream in (self._stream, self._ended):
            with suppress(OSError):
                stream.close()

    def note_recordings(self, keys: Collection[str], *, complete: bool) -> None:
        """Write the keys of used recordings, and whether the run was whole, for `rageval cassettes`."""
        head = "# complete" if complete else "# partial"
        with whole_files(self.path / "used-recordings.txt") as (part,):  # half a file would prune used recordings
            part.write_text("\n".join([head, *sorted(keys), ""]), encoding="utf-8")

    def finish(self, results: Mapping[str, Any]) -> None:
        """Write results.json and close the folder."""
        self._stream.close()
        self._ended.close()
        write_atomically(self.path / "results.json", results)


def make_run_folder(root: Path, started: datetime) -> Path:
    """Create the folder of a new run, and ``.rageval``, which git ignores by its own .gitignore."""
    base = make_ignored(root / ".rageval")
    return _unused(base / "runs", started.strftime("%Y%m%dT%H%M%S"))


def run_age(folder: Path) -> tuple[str, int]:
    """Return the sort key of a run by its start; runs that started in the same second are numbered."""
    started, _, number = folder.name.partition("-")
    return started, int(number) if number.isdecimal() else 1


def fault_of(path: Path, write: Callable[[], object]) -> str | None:
    """Call ``write``, and return None or a sentence with the reason why ``path`` could not be written."""
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
    with whole_files(path) as (part,), part.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(parts)


def _unused(runs: Path, name: str) -> Path:
    runs.mkdir(exist_ok=True)
    for number in range(1, 10_000):
        path = runs / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise FileExistsError(f"{runs} holds too many runs that started at {name}; remove old ones")
