"""The journal of a process: its calls and their results, written to disk as they happen."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from types import TracebackType

from pytest_rageval.llm.client.earlier_calls import EarlierCalls, PaidCall
from pytest_rageval.llm.secrets import to_redacted_json
from pytest_rageval.model.calls import NO_CALLS, Calls
from pytest_rageval.model.codec import encode_calls
from pytest_rageval.model.plain import Plain, encoder_of

__all__ = ["CaseJournal", "Journal", "JournaledCall"]


_to_json = encoder_of(json.JSONEncoder())


class Journal:
    """An append-only file with a line before each call and a line after it. Threads may share it.

    Each line goes to the operating system in one write, so it survives a kill of the process. It is not synced to the
    disk, so it may be lost if the machine stops.

    Args:
        path: the file, in an existing folder; None writes nothing.
        earlier: paid calls of an earlier run that this run reuses.
        texts: False omits the results of calls, because reports contain no texts.

    Attributes:
        fault: the error in one sentence if a line could not be written; then no more lines are written.
    """

    def __init__(self, path: Path | None = None, earlier: EarlierCalls | None = None, *, texts: bool = True) -> None:
        self.fault: str | None = None
        self.earlier = earlier or EarlierCalls()
        self._path = path
        self._texts = texts
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._file: int | None = None

    def mark_running(self, nodeid: str) -> None:
        """Write the node id of the test that starts now."""
        self._write(f'{{"runs": {_to_json(nodeid)}}}\n')

    def start(self, nodeid: str, kind: str, *, within: int = 0, key: str = "", waits: bool = False) -> int:
        """Write that a call starts, and return its number.

        Args:
            nodeid: the test of the case.
            kind: "system", "judging", or the kind of a model ("model", "judge", "embedding").
            within: number of the enclosing call, 0 for none.
            key: key of the request; "" if the test identifies the call.
            waits: whether the call first waits for a slot; `mark_sent` then marks its end.
        """
        number = next(self._numbers)
        extras = f', "within": {within}' * bool(within) + f', "key": {_to_json(key)}' * bool(key)
        waiting = ', "waits": true' if waits else ""
        self._write(f'{{"start": {number}, "kind": "{kind}", "nodeid": {_to_json(nodeid)}{extras}{waiting}}}\n')
        return number

    def mark_sent(self, number: int) -> None:
        """Write that a waiting call was sent."""
        self._write(f'{{"sent": {number}}}\n')

    def end(self, number: int, value: Plain | None, calls: Calls, recordings: Sequence[str] = ()) -> None:
        """Write that a call succeeded.

        Args:
            number: number of the call.
            value: its result, as plain JSON values; None if no later run can reuse it.
            calls: its usage.
            recordings: keys of the recordings that it read or wrote.
        """
        parts: Plain = {"end": number, "calls": _stored(calls)}
        if recordings:
            parts["recordings"] = list(recordings)
        if value is not None and self._texts:
            parts["value"] = value
        self._write(to_redacted_json(parts) + "\n")

    def fail(self, number: int, *, cancelled: bool, calls: Calls) -> None:
        """Write that a call failed, or was cancelled after it was sent."""
        word = "cancelled" if cancelled else "failed"
        self._write(f'{{"end": {number}, "{word}": true, "calls": {_to_json(_stored(calls))}}}\n')

    def close(self) -> None:
        """Close the file. Later calls are not written."""
        with self._lock:
            self._close()

    def _write(self, line: str) -> None:
        with self._lock:
            if self._path is None:
                return
            try:
                if self._file is None:
                    self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                written = os.write(self._file, data := line.encode("utf-8", "backslashreplace"))
                if written < len(data):
                    raise OSError(None, "the disk is full")
            except OSError as error:
                why = error.strerror or error
                self.fault = f"answers that no test has taken yet are not stored in {self._path.parent}: {why}"
                self._close()

    def _close(self) -> None:
        self._path = None
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _stored(calls: Calls) -> Plain:
    """Return calls as plain JSON values, with the number of calls that were cancelled in flight."""
    if not calls.on_their_way:
        return encode_calls(calls)
    return encode_calls(replace(calls, on_their_way=0)) | {"on_their_way": calls.on_their_way}


@dataclass(frozen=True, slots=True)
class CaseJournal:
    """The journal of one case.

    Attributes:
        journal: this process's journal.
        nodeid: the case's test.
        within: number of the running call, 0 for none.
        key: key of a question whose answer several cases may share; "" for the case's own question.
    """

    journal: Journal
    nodeid: str
    within: int = 0
    key: str = ""

    def start(self, kind: str, *, key: str = "", waits: bool = False) -> int:
        """Write that a call starts, and return its number."""
        return self.journal.start(self.nodeid, kind, within=self.within, key=key or self.key, waits=waits)

    def for_calls_within(self, number: int) -> CaseJournal:
        """Return the journal for the calls that another call makes."""
        return CaseJournal(self.journal, self.nodeid, number)

    def with_key(self, key: str) -> CaseJournal:
        """Return the journal for a question whose answer several cases may share."""
        return replace(self, key=key)

    def take(self, kind: str, key: str = "") -> PaidCall | None:
        """Return the result of the same call in an earlier run, and remove it; None if the call must be made."""
        return self.journal.earlier.take(self.nodeid, kind, key or self.key)


class JournaledCall:
    """Writes the lines of one call. As a context manager it writes a failure if the call raises.

    Args:
        journal: the journal of the calling case; None writes nothing.
        kind: kind of the call, as in `Journal.start`.
        key: key of the request, as in `Journal.start`.
    """

    def __init__(self, journal: CaseJournal | None, kind: str, key: str = "") -> None:
        self._journal = journal
        self._kind = kind
        self._key = key
        self._number = 0
        self._waits = False
        self._calls = NO_CALLS

    def __enter__(self) -> JournaledCall:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._number and self._journal is not None and error is not None:
            cut = not isinstance(error, Exception) or getattr(error, "kind", "") == "cancelled"
            self._journal.journal.fail(self._number, cancelled=cut, calls=self._calls)

    def start(self, *, waits: bool = False) -> CaseJournal | None:
        """Write that the call starts; return the journal for the calls that it makes."""
        if self._journal is None:
            return None
        self._waits = waits
        self._number = self._journal.start(self._kind, key=self._key, waits=waits)
        return self._journal.for_calls_within(self._number)

    def mark_sent(self) -> None:
        """Write that the call was sent and no longer waits for a slot."""
        if self._waits and self._journal is not None:
            self._waits = False
            self._journal.journal.mark_sent(self._number)

    def charge(self, calls: Calls) -> None:
        """Set the usage of the call, which `end` or a failure writes."""
        self._calls = calls

    def end(self, value: Plain | None, recordings: Sequence[str] = ()) -> None:
        """Write that the call succeeded, and its result."""
        if self._number and self._journal is not None:
            self._journal.journal.end(self._number, value, self._calls, recordings)
            self._number = 0
