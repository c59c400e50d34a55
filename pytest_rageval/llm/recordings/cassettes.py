"""Recordings of model calls: a folder with one file for each model and kind of call."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_rageval.errors import DataError, ModelError, SettingError, ascii_safe, did_you_mean, found
from pytest_rageval.llm.recordings.cassette import Index, append, read, settle
from pytest_rageval.llm.recordings.nearest_request import Neighbours
from pytest_rageval.llm.recordings.records import Line, record_of, to_line
from pytest_rageval.llm.recordings.request import Request
from pytest_rageval.llm.recordings.stale import differences

__all__ = ["MODES", "STALE_POLICIES", "Cassettes", "check_files", "existing", "file_name"]

MODES = ("none", "once", "new_episodes", "all")

STALE_POLICIES = ("error", "warn", "replay")
"""What happens to a recording when something that it depends on has changed."""

SUFFIX = ".jsonl"
LONGEST_NAME = 100

_CLEAR = re.compile(r"[a-z0-9._-]+(?:/[a-z0-9._-]+)*")
_UNCLEAR = re.compile(r"[^A-Za-z0-9._-]+")


class Cassettes:
    """The recordings of a session, read when first asked for; safe to use from threads.

    Args:
        folder: holds the files to commit; made when something is recorded.
        mode: "none" replays and never lets a model be asked; "new_episodes" replays what is recorded and lets the rest
            be asked; "once" is "new_episodes" for files that the session began and "none" for those it found there;
            "all" is "new_episodes" as if there had been no files: everything is asked, once, and recorded over.
        there: names of the files that were there when the session began, as its main process saw them with `existing`;
            None in that process itself.
        root: the folder whose code recordings of users' functions depend on; the parent of ``folder`` if None.
        stale: one of `STALE_POLICIES`.

    Attributes:
        fault: one sentence on what could not be written, so that the next session has to ask again; None if nothing.

    Raises:
        SettingError: there is no such mode.
    """

    def __init__(
        self,
        folder: Path,
        mode: str = "none",
        there: Collection[str] | None = None,
        *,
        root: Path | None = None,
        stale: str = "error",
    ) -> None:
        if mode not in MODES:
            raise SettingError(f"the record mode cannot be {found(mode)}; {did_you_mean(mode, MODES)}")
        self.folder = folder
        self.mode = mode
        self.root = folder.parent if root is None else root
        self.fault: str | None = None
        self._stale = stale
        self._replayed_stale: dict[str, str] = {}
        self._without_digest: set[str] = set()
        self._there = frozenset(existing(folder) if there is None else there)
        self._lock = threading.Lock()
        self._indices: dict[str, Index] = {}
        self._neighbours: dict[str, Neighbours] = {}
        self._written: set[str] = set()

    def asks(self, kind: str, model: str) -> bool:
        """Return whether the mode lets a model be asked what is not recorded."""
        return self._asks(file_name(kind, model))

    def may_replay(self, kind: str, model: str) -> bool:
        """Return whether the session began with recordings of a model, and the mode replays them."""
        return self.mode != "all" and file_name(kind, model) in self._there

    def find(self, request: Request, depends: Mapping[str, str] | None = None) -> dict[str, Any] | None:
        """Return the recorded response, or None when the model is to be asked.

        Args:
            request: what is asked.
            depends: the digest of each thing that the response depends on besides; None for a model.

        Raises:
            ModelError: of kind "not_recorded", when there is none and the mode forbids to ask; the message shows how
                the nearest recording differs. Also when the recording is stale; the message names what has changed.
            DataError: the file cannot be read.
        """
        name = file_name(request.kind, request.model)
        with self._lock:
            line = self._index(name).get(request.key)
            if line is not None:
                record = record_of(self.folder / name, line)
                if depends is None or self._may_replay(name, request, record.get("depends"), depends):
                    response: dict[str, Any] = record["response"]
                    return response
            elif not self._asks(name):
                raise ModelError("not_recorded", self._miss(name, request), attempts=0)
        return None

    def holds(self, request: Request) -> bool:
        """Return whether `find` would return a response: one that is recorded, in a mode that replays."""
        with self._lock:
            return request.key in self._index(file_name(request.kind, request.model))

    def record(self, request: Request, response: Mapping[str, Any], depends: Mapping[str, str] | None = None) -> None:
        """Write down the response, builtins of JSON, at once. Secrets of the environment are masked in it.

        Where that fails, the response is no worse for it: this session has it, and ``fault`` tells.
        """
        name = file_name(request.kind, request.model)
        text = to_line(request, response, depends)
        with self._lock:
            index = self._index(name)
            self._written.add(name)
            try:
                append(self.folder / name, text)
            except DataError as error:
                self.fault = self.fault or str(error)
            index[request.key] = Line(0, text)

    def close(self) -> None:
        """Sort what was written, so that the same recordings are the same bytes in whatever order they were made.

        A file that cannot be written any more stays as it is, and is read as well.
        """
        with self._lock:
            while self._written:
                with suppress(DataError):
                    settle(self.folder / self._written.pop())

    @property
    def warnings(self) -> list[str]:
        """What was replayed although it may be stale: at most one sentence for each reason."""
        again = "record again with --rag-record-mode all"
        told = []
        if self._replayed_stale:
            changed = "; ".join(f"{name}: {what}" for name, what in sorted(self._replayed_stale.items()))
            told.append(f"stale recordings were replayed ({changed}); {again}")
        if self._without_digest:
            names = ", ".join(sorted(self._without_digest))
            told.append(f"recordings without a digest were replayed, whatever has changed since ({names}); {again}")
        return told

    def _may_replay(
        self, name: str, request: Request, recorded: Mapping[str, str] | None, depends: Mapping[str, str]
    ) -> bool:
        """Return whether a recording of a user's function is replayed; False if the function is to be called again."""
        if recorded is None:
            if self._stale != "replay":
                self._without_digest.add(name)
            return True
        changed = differences(recorded, depends)
        if not changed or self._stale == "replay":
            return True
        if self.mode == "all":  # it changed during this session
            return False
        if self._stale == "warn":
            self._replayed_stale.setdefault(name, ascii_safe(changed))
            return True
        raise ModelError("not_recorded", self._stale_message(name, request, changed), attempts=0)

    def _stale_message(self, name: str, request: Request, changed: str) -> str:
        return (
            f"stale recording: {ascii_safe(changed)}; record {request.kind} {ascii_safe(request.model)!r} again with "
            f"--rag-record-mode all, or delete {self.folder.name}/{name} and record with --rag-record-mode once"
        )

    def _asks(self, name: str) -> bool:
        return self.mode != "none" and not (self.mode == "once" and name in self._there)

    def _index(self, name: str) -> Index:
        if name not in self._indices:
            self._indices[name] = {} if self.mode == "all" else read(self.folder / name)
        return self._indices[name]

    def _miss(self, name: str, request: Request) -> str:
        index = self._index(name)
        if name not in self._neighbours:
            self._neighbours[name] = Neighbours(self.folder / name, list(index.values()))
        message = (
            f"no reply of {request.kind} {ascii_safe(request.model)!r} to this request is recorded "
            f"({len(index)} are in {self.folder.name}/{name}); ask and record it with --rag-record-mode new_episodes"
        )
        difference = self._neighbours[name].difference(request)
        return f"{message}\n{difference}" if difference else message


def existing(folder: Path) -> tuple[str, ...]:
    """Return the names of the files of recordings in a folder, sorted; none where there is no folder."""
    return tuple(sorted(path.name for path in folder.glob(f"[!.]*-*{SUFFIX}")))


def check_files(folder: Path, mode: str) -> None:
    """Read all files of recordings once, so that a malformed line is found before anything runs.

    Raises:
        DataError: a line is no recording, or a file cannot be read. In the mode "all" only a malformed line counts.
    """
    for name in existing(folder):
        if mode != "all" or (folder / name).is_file():
            read(folder / name)


@lru_cache(maxsize=64)
def file_name(kind: str, model: str) -> str:
    """Return the name of the file for a model: ``model-openai--gpt-4o-mini.jsonl``.

    No two models share one, also where case does not count: whatever the name does not spell out has a hash behind it.
    """
    clear = model.replace("/", "--")
    if _CLEAR.fullmatch(model) and len(clear) <= LONGEST_NAME and clear.replace("--", "/") == model:
        return f"{kind}-{clear}{SUFFIX}"
    digest = hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    readable = _UNCLEAR.sub("-", clear)[:LONGEST_NAME].strip("-")
    return f"{kind}-{readable}~{digest}{SUFFIX}"
