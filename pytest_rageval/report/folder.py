"""The folder ``.rageval/runs/<run>/``: outcomes as they happen, results.json at the end."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any

__all__ = ["RunFolder", "write_atomically"]


class RunFolder:
    """One run's folder. Making it creates ``.rageval``, which ignores itself in git.

    Raises OSError when the folder cannot be written; the caller says so once and goes on without.
    """

    def __init__(self, root: Path, started: datetime) -> None:
        base = root / ".rageval"
        base.mkdir(exist_ok=True)
        ignore = base / ".gitignore"
        if not ignore.exists():
            ignore.write_text("# Created by pytest-rageval.\n*\n", encoding="utf-8")
        self.path = _unused(base / "runs", started.strftime("%Y%m%dT%H%M%S"))
        self._stream: IO[str] = (self.path / "outcomes.jsonl").open("a", encoding="utf-8")

    @property
    def id(self) -> str:
        """The run's name: when it started, with a number behind it if that second was taken."""
        return self.path.name

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one outcome as a line of its own and hand it to the operating system."""
        self._stream.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._stream.flush()

    def finish(self, results: Mapping[str, Any]) -> None:
        """Write results.json and close the folder."""
        self._stream.close()
        write_atomically(self.path / "results.json", results)


def write_atomically(path: Path, results: Mapping[str, Any]) -> None:
    """Write ``results`` as JSON beside ``path`` and move it there, so that no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.writelines(_lines(results))
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _lines(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield the JSON text, one line an outcome and an instance: as quick as on one line, and to be read."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    mark = "{\n"
    for key, value in results.items():
        yield f"{mark}{encode(key)}: "
        if isinstance(value, list) and value:
            yield "[\n" + ",\n".join(map(encode, value)) + "\n]"
        elif isinstance(value, dict) and value:
            yield "{\n" + ",\n".join(f"{encode(k)}: {encode(v)}" for k, v in value.items()) + "\n}"
        else:
            yield encode(value)
        mark = ",\n"
    yield "\n}\n"


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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
