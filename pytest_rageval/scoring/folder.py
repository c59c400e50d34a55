"""The folder of scores: chunks in progress, parts with scored cases, summary and manifest."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_rageval.errors import SettingError, ascii_safe
from pytest_rageval.folders import atomic_files

__all__ = ["MANIFEST", "ScoreFolder", "is_scores", "write_errors"]

MANIFEST, SUMMARY, TEXT = "manifest.json", "summary.json", "summary.txt"
SCHEMA = 1
"""The version of the files."""


class ScoreFolder:
    """The folder that `rageval score --out` names.

    Attributes:
        path: the folder.
        chunks: the folder of the chunks, while they are scored.
        results: the folder of the results of chunks; after an interruption it has those of finished chunks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.chunks = path / "work" / "chunks"
        self.results = path / "work" / "results"

    def prepare(self) -> None:
        """Create the folder, with an empty folder for chunks.

        Raises:
            SettingError: the folder exists and holds something else.
        """
        if self.path.exists() and not self.path.is_dir():
            raise SettingError(f"{self._shown} is a file; name a folder with --out")
        is_ours = is_scores(self.path) or self.chunks.is_dir() or self.results.is_dir()
        if not is_ours and self.path.exists() and any(self.path.iterdir()):
            raise SettingError(f"{self._shown} holds files that are not scores; name a new folder with --out")
        with write_errors(self.path):
            shutil.rmtree(self.chunks, ignore_errors=True)
            for folder in (self.chunks, self.results):
                folder.mkdir(parents=True, exist_ok=True)

    def discard_chunks(self) -> None:
        """Remove the chunks and the empty folders; results of earlier calls stay."""
        shutil.rmtree(self.chunks, ignore_errors=True)
        with suppress(OSError):  # the folder holds something
            for folder in (self.results, self.results.parent, self.path):
                folder.rmdir()

    def check(self, data: str) -> None:
        """If the folder holds finished scores of other data, delete its work in progress and raise.

        Unfinished scores need no check. The results of their chunks are reused only for equal chunks, see `result`.

        Raises:
            SettingError: the folder holds scores of other data.
        """
        if is_scores(self.path) and self.manifest()["data"] != data:
            shutil.rmtree(self.path / "work", ignore_errors=True)
            raise SettingError(f"{self._shown} holds scores of other data; name another folder with --out")

    def result(self, chunk: Path, job: str) -> Path:
        """Return the path of a chunk's result; its name has a digest of the job and the chunk."""
        digest = hashlib.sha256(job.encode())
        digest.update(chunk.read_bytes())
        return self.results / f"{chunk.name}-{digest.hexdigest()[:32]}"

    def store(self, path: Path, result: bytes) -> None:
        """Write a chunk's result."""
        with write_errors(self.path), atomic_files(path) as (temporary,):
            temporary.write_bytes(result)

    def finish(
        self, parts: Iterable[bytes], suffix: str, summary: Mapping[str, Any], text: str, manifest: Mapping[str, Any]
    ) -> None:
        """Write the parts, the summary, and the manifest last; remove the work in progress.

        Args:
            parts: the content of each part; a part has the scored cases of one chunk.
            suffix: the suffix of their file names.
            summary: the content of ``summary.json``.
            text: the content of ``summary.txt``.
            manifest: the content of ``manifest.json``.
        """
        cases = self.path / "cases"
        with write_errors(self.path):
            (self.path / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(cases, ignore_errors=True)
            cases.mkdir()
            for at, part in enumerate(parts):
                (cases / f"part-{at:05d}{suffix}").write_bytes(part)
            _write(self.path / SUMMARY, _json(summary))
            _write(self.path / TEXT, text)
            _write(self.path / MANIFEST, _json({"schema": SCHEMA, **manifest}))
            shutil.rmtree(self.path / "work", ignore_errors=True)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest.

        Raises:
            SettingError: it cannot be read, or another version wrote it.
        """
        path = self.path / MANIFEST
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            if manifest["schema"] == SCHEMA:
                return dict(manifest)
            problem = f"has schema {manifest['schema']!r}, but this version reads schema {SCHEMA}"
        except (OSError, ValueError, KeyError, TypeError):
            problem = "cannot be read"
        raise SettingError(f"{ascii_safe(str(path))} {problem}; score the answers again into a new folder")

    def parts(self) -> list[Path]:
        """Return the paths of the parts, in order."""
        return sorted((self.path / "cases").glob("part-*"))

    @property
    def _shown(self) -> str:
        return ascii_safe(str(self.path))


def is_scores(path: Path) -> bool:
    """Return whether a folder holds finished scores."""
    return (path / MANIFEST).is_file()


@contextmanager
def write_errors(folder: Path) -> Iterator[None]:
    """Turn an `OSError` of a write, for example a full disk, into a `SettingError` about the folder."""
    try:
        yield
    except OSError as error:
        problem = f"{ascii_safe(str(folder))} cannot be written: {error.strerror or error}"
        raise SettingError(f"{problem}; finished chunks stay, so run the command again", code="RAG212") from error


def _write(path: Path, text: str) -> None:
    with atomic_files(path) as (temporary,):
        temporary.write_text(text, encoding="utf-8", newline="")


def _json(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
