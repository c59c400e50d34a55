"""The folder ``.rageval/runs/<run>/``: outcomes as they happen, results.json at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from pytest_rageval.folders import make_ignored, whole_files
from pytest_rageval.report.run.json_text import JsonText, json_lines

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
"""What the names of the files begin with that processes write their calls to."""

HEAD, ENDED = "run.json", "ended.jsonl"
"""What a run writes beside its outcomes for another that goes on where it stopped."""


class RunFolder:
    """One run's folder, made unless ``path`` names one that was.

    Raises OSError when the folder cannot be written; the caller says so once and goes on without.

    Attributes:
        path: the folder.
        outcomes: how many lines the outcomes have.
    """

    def __init__(self, root: Path, started: datetime, path: Path | None = None) -> None:
        self.path = path or make_run_folder(root, started)
        self._stream: IO[str] = (self.path / OUTCOMES).open("a", encoding="utf-8")
        self._ended: IO[str] = (self.path / ENDED).open("a", encoding="utf-8")
        self.outcomes = 0

    @property
    def id(self) -> str:
        """The run's name: when it started, with a number behind it if that second was taken."""
        return self.path.name

    def append(self, record: JsonText) -> None:
        """Write one outcome as a line of its own and hand it to the operating system."""
        self._stream.write(f"{record}\n")
        self._stream.flush()
        self.outcomes += 1

    def append_ended(self, line: str) -> None:
        """Write a line on how a case ended, or of an instance, likewise."""
        self._ended.write(f"{line}\n")
        self._ended.flush()

    def write_head(self, head: str) -> None:
        """Write what the run says of itself."""
        with whole_files(self.path / HEAD) as (part,):
            part.write_text(head, encoding="utf-8")

    def forget_ended(self) -> None:
        """Remove what only a run that goes on with this one would need."""
        (self.path / ENDED).unlink(missing_ok=True)

    def forget_journals(self) -> None:
        """Remove the journals of the run's processes, which nothing can be taken over from."""
        for path in self.path.glob(f"{JOURNAL}*"):
            with suppress(OSError):  # the next run does not mind
                path.unlink()

    def close(self) -> None:
        """Keep no more; what is still held back is lost where it cannot be written."""
        for stream in (self._stream, self._ended):
            with suppress(OSError):
                stream.close()

    def note_recordings(self, keys: Collection[str], *, complete: bool) -> None:
        """Write which recordings the run used, and whether it was a whole run; `rageval cassettes` reads it."""
        head = "# complete" if complete else "# partial"
        with whole_files(self.path / "used-recordings.txt") as (part,):  # half of it would have the rest pruned
            part.write_text("\n".join([head, *sorted(keys), ""]), encoding="utf-8")

    def finish(self, results: Mapping[str, Any]) -> None:
        """Write results.json and close the folder."""
        self._stream.close()
        self._ended.close()
        write_atomically(self.path / "results.json", results)


def make_run_folder(root: Path, started: datetime) -> Path:
    """Make the folder of a new run, and ``.rageval``, which ignores itself in git."""
    base = make_ignored(root / ".rageval")
    return _unused(base / "runs", started.strftime("%Y%m%dT%H%M%S"))


def run_age(folder: Path) -> tuple[str, int]:
    """Return what sorts runs by their start: those of one second are numbered."""
    started, _, number = folder.name.partition("-")
    return started, int(number) if number.isdecimal() else 1


def fault_of(path: Path, write: Callable[[], object]) -> str | None:
    """Write to a path and return None, or why it could not be written, as a sentence."""
    try:
        write()
    except OSError as error:
        return f"{path} could not be written: {error.strerror or error}"
    return None


def write_atomically(path: Path, results: Mapping[str, Any]) -> None:
    """Write ``results`` as JSON beside ``path`` and move it there, so that no reader sees half a file."""
    write_text(path, json_lines(results))


def write_text(path: Path, parts: Iterable[str]) -> None:
    """Write a text beside ``path`` and move it there, so that no reader sees half a file."""
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
