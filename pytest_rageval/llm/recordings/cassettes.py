"""The recordings of a session: a folder with one file for each model and kind of call."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, ModelError, SettingError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.llm.recordings.cassette import Index, append, read, sort_records
from pytest_rageval.llm.recordings.nearest_request import Neighbours
from pytest_rageval.llm.recordings.records import Line, record_of, to_line
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.llm.recordings.stale import differences

__all__ = ["MODES", "STALE_POLICIES", "Cassettes", "check_files", "file_name", "recording_files"]

MODES = ("none", "once", "new_episodes", "all")

STALE_POLICIES = ("error", "warn", "replay")
"""Policies for recordings whose dependencies have changed."""

KIND_NAMES = {"tool": "environment"}
"""Kind of request -> word for it in messages, if it is not the kind itself."""

SUFFIX = ".jsonl"
LONGEST_NAME = 100

_SAFE_NAME = re.compile(r"[a-z0-9._-]+(?:/[a-z0-9._-]+)*")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class Cassettes:
    """The recordings of a session, read on first use; safe to use from threads.

    Args:
        folder: folder of the files to commit; created at the first recording.
        mode: "none" only replays; "new_episodes" replays recorded calls and asks the rest; "once" is "none" for files
            that existed at the start of the session, and "new_episodes" for others; "all" ignores existing files: it
            asks every call once and records it again.
        existing_files: names of the files at the start of the session, from `recording_files` in the main process;
            None in the main process itself.
        root: the folder of the code that recordings of users' functions depend on; the parent of ``folder`` if None.
        stale: one of `STALE_POLICIES`.
        renews: returns whether the running case is recorded again, whatever the mode; None if no case is.
        writes: the folder for new recordings, whose recordings are replayed, too; ``folder`` if None.

    Attributes:
        fault: the error in one sentence if a recording could not be written, so the next session must ask again.

    Raises:
        SettingError: the mode is unknown.
    """

    def __init__(
        self,
        folder: Path,
        mode: str = "none",
        existing_files: Collection[str] | None = None,
        *,
        root: Path | None = None,
        stale: str = "error",
        renews: Callable[[], bool] | None = None,
        writes: Path | None = None,
    ) -> None:
        if mode not in MODES:
            raise SettingError(f"the record mode cannot be {short_repr(mode)}; {did_you_mean(mode, MODES)}")
        self.folder = folder
        self.writes = folder if writes is None else writes
        self.mode = mode
        self.root = folder.parent if root is None else root
        self.fault: str | None = None
        self._stale = stale
        self._renews = renews
        self._renewed_keys: set[str] = set()
        self._stale_files: dict[str, str] = {}
        self._files_without_digest: set[str] = set()
        self._existing_files = frozenset(recording_files(folder) if existing_files is None else existing_files)
        self._lock = threading.Lock()
        self._indices: dict[str, Index] = {}
        self._neighbours: dict[str, Neighbours] = {}
        self._written_files: set[str] = set()

    def may_ask(self, kind: str, model: str) -> bool:
        """Return whether the mode allows calls of a model that are not recorded."""
        return self._renews is not None or self._may_ask(file_name(kind, model))

    def may_replay(self, kind: str, model: str) -> bool:
        """Return whether a model had recordings at the start of the session, and the mode replays them."""
        return self.mode != "all" and file_name(kind, model) in self._existing_files

    def find(self, request: Request, depends: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        """Return the recorded response, or None if the model must be asked.

        Args:
            request: the request.
            depends: the digest of each dependency of the response; None for a model.

        Raises:
            ModelError: of kind "not_recorded", if there is no recording and the mode forbids asking (the message shows
                the difference to the nearest recording), or if it is stale (the message names the changes).
            DataError: the file cannot be read.
        """
        name = file_name(request.kind, request.model)
        renewed = self._is_renewed()
        with self._lock:
            if renewed and request.key not in self._renewed_keys:
                return None
            line = self._index(name).get(request.key)
            if line is not None:
                record = record_of(self.folder / name, line)
                if depends is None or self._may_replay(name, request, record.get("depends"), depends):
                    response: dict[str, Any] = record["response"]
                    return response
            elif not (renewed or self._may_ask(name)):
                raise ModelError("not_recorded", self._not_recorded_message(name, request), attempts=0)
        return None

    def contains(self, request: Request) -> bool:
        """Return whether `find` would return a response."""
        with self._lock:
            return request.key in self._index(file_name(request.kind, request.model))

    def record(self, request: Request, response: Mapping[str, Any], depends: Mapping[str, str] | None = None) -> None:
        """Write a response of plain JSON values immediately, with secrets of the environment masked.

        If that fails, this session still uses the response, and ``fault`` reports it.
        """
        name = file_name(request.kind, request.model)
        text = to_line(request, response, depends)
        with self._lock:
            index = self._index(name)
            self._written_files.add(name)
            self._renewed_keys.add(request.key)
            try:
                append(self.writes / name, text)
            except DataError as error:
                self.fault = self.fault or str(error)
            index[request.key] = Line(0, text)

    def close(self) -> None:
        """Sort the written files: the same recordings give the same bytes, whatever their order.

        A file that can no longer be written stays unsorted, which is also readable.
        """
        with self._lock:
            while self._written_files:
                with suppress(DataError):
                    sort_records(self.writes / self._written_files.pop())

    @property
    def existing_files(self) -> tuple[str, ...]:
        """The sorted names of the files at the start of the session."""
        return tuple(sorted(self._existing_files))

    @property
    def warnings(self) -> list[str]:
        """Warnings about replayed recordings that may be stale; at most one for each reason."""
        again = "record again with --rag-record-mode all"
        warnings = []
        if self._stale_files:
            changed = "; ".join(f"{name}: {what}" for name, what in sorted(self._stale_files.items()))
            warnings.append(f"stale recordings were replayed ({changed}); {again}")
        if self._files_without_digest:
            names = ", ".join(sorted(self._files_without_digest))
            warnings.append(f"recordings without a digest were replayed, whatever has changed since ({names}); {again}")
        return warnings

    def _may_replay(
        self, name: str, request: Request, recorded: Mapping[str, str] | None, depends: Mapping[str, str]
    ) -> bool:
        """Return whether to replay a recording of a user's function; False calls the function again."""
        if recorded is None:
            if self._stale != "replay":
                self._files_without_digest.add(name)
            return True
        changed = differences(recorded, depends)
        if not changed or self._stale == "replay":
            return True
        if self.mode == "all":  # the code changed during this session
            return False
        if self._stale == "warn":
            self._stale_files.setdefault(name, ascii_safe(changed))
            return True
        raise ModelError("not_recorded", self._stale_message(name, request, changed), attempts=0)

    def _stale_message(self, name: str, request: Request, changed: str) -> str:
        return (
            f"stale recording: {ascii_safe(changed)}; record {request.kind} {ascii_safe(request.model)!r} again with "
            f"--rag-record-mode all, or delete {self.folder.name}/{name} and record with --rag-record-mode once"
        )

    def _is_renewed(self) -> bool:
        return self._renews is not None and self._renews()

    def _may_ask(self, name: str) -> bool:
        return self.mode != "none" and not (self.mode == "once" and name in self._existing_files)

    def _index(self, name: str) -> Index:
        if name not in self._indices:
            self._indices[name] = {} if self.mode == "all" else self._read(name)
        return self._indices[name]

    def _read(self, name: str) -> Index:
        """Return the recordings of a file; for the same key, the one in ``folder`` counts."""
        own = {} if self.writes == self.folder else read(self.writes / name)
        return {**own, **read(self.folder / name)}

    def _not_recorded_message(self, name: str, request: Request) -> str:
        index = self._index(name)
        if name not in self._neighbours:
            self._neighbours[name] = Neighbours(self.folder / name, list(index.values()))
        model = ascii_safe(request.model)
        who = model if request.kind == "http" else f"{KIND_NAMES.get(request.kind, request.kind)} {model!r}"
        message = (
            f"no reply of {who} to this request is recorded "
            f"({len(index)} are in {self.folder.name}/{name}); ask and record it with --rag-record-mode new_episodes"
        )
        difference = self._neighbours[name].difference(request)
        return f"{message}\n{difference}" if difference else message


def recording_files(folder: Path) -> tuple[str, ...]:
    """Return the sorted names of the recording files in a folder; () if it is missing."""
    return tuple(sorted(path.name for path in folder.glob(f"[!.]*-*{SUFFIX}")))


def check_files(folder: Path, mode: str) -> None:
    """Read all recording files once, to report malformed lines before anything runs.

    Raises:
        DataError: a line is malformed, or a file cannot be read. The mode "all" ignores names that are not files.
    """
    for name in recording_files(folder):
        if mode != "all" or (folder / name).is_file():
            read(folder / name)


@lru_cache(maxsize=64)
def file_name(kind: str, model: str) -> str:
    """Return the file name for a model: ``model-openai--gpt-4o-mini.jsonl``.

    It is unique, even if the file system ignores case: a name with other characters, or a long one, gets a hash.
    """
    clear = model.replace("/", "--")
    if _SAFE_NAME.fullmatch(model) and len(clear) <= LONGEST_NAME and clear.replace("--", "/") == model:
        return f"{kind}-{clear}{SUFFIX}"
    digest = hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    readable = _UNSAFE.sub("-", clear)[:LONGEST_NAME].strip("-")
    return f"{kind}-{readable}~{digest}{SUFFIX}"
