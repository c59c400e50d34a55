"""Read the journals of a run: the model calls that its processes made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pytest_rageval.model.calls import Calls
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.run_folder import JOURNAL

__all__ = [
    "JournaledCall",
    "calls_in_flight",
    "cases_in_flight",
    "has_unfinished_calls",
    "journal_path",
    "journal_paths",
    "process_of",
    "read_journal",
]  # fmt: skip

SUFFIX = ".jsonl"

RUNS = b'{"runs": '
"""Start of a line with the node id of the test that a process runs."""

_START_OR_END = re.compile(rb'\{"(?P<word>start|end)": (?P<number>\d+)(?P<cancelled>, "cancelled")?')

State = Literal["waiting", "running", "ended", "failed", "cancelled", "unsent"]


@dataclass(frozen=True, slots=True)
class JournaledCall:
    """A model call in a journal.

    Attributes:
        number: serial number of the call in its process.
        kind: "system", "judging", or the kind of a model.
        nodeid: node id of the case that made it.
        state: "waiting" for a slot, "running", or how it ended; "unsent" if it was cancelled while it waited.
        within: number of the outer call that made this call; 0 without one.
        key: key of the request; "" if the node id identifies the call.
        value: the returned value, as builtins; None if it is not stored.
        calls: requests, tokens and cost of the call.
        recordings: keys of the recordings that it used.
    """

    number: int
    kind: str
    nodeid: str
    state: State
    within: int = 0
    key: str = ""
    value: Mapping[str, Any] | None = None
    calls: Calls = field(default_factory=Calls)
    recordings: tuple[str, ...] = ()


def journal_path(folder: Path, process: str) -> Path:
    """Return the path of a process's journal; ``process`` is "main" or the name of an xdist worker."""
    return folder / f"{JOURNAL}{process}{SUFFIX}"


def process_of(path: Path) -> str:
    """Return the name of the process that wrote a journal: "main" or an xdist worker."""
    return path.name[len(JOURNAL) : -len(SUFFIX)]


def journal_paths(folder: Path) -> list[Path]:
    """Return the paths of a run's journals, sorted."""
    return sorted(folder.glob(f"{JOURNAL}*{SUFFIX}"))


def read_journal(path: Path) -> list[JournaledCall]:
    """Return the calls of a process in the order of their start.

    It skips malformed lines, because a kill may cut the last one short.
    """
    calls: dict[int, JournaledCall] = {}
    try:
        with path.open("rb") as stream:
            for text in stream:
                _read_line(text, calls)
    except OSError:
        pass
    return list(calls.values())


def has_unfinished_calls(path: Path) -> bool:
    """Return whether a journal has a call that did not end or was cancelled.

    It reads only the start of each line, which is far faster than `read_journal`.
    """
    unfinished: set[bytes] = set()
    with suppress(OSError), path.open("rb") as stream:
        for line in stream:
            if (match := _START_OR_END.match(line)) is None:
                continue
            if match["word"] == b"start":
                unfinished.add(match["number"])
            elif match["cancelled"]:
                return True
            elif line.endswith(b"\n"):
                unfinished.discard(match["number"])
    return bool(unfinished)


def cases_in_flight(path: Path) -> tuple[str, ...]:
    """Return the cases in flight when a process ended: first the running test, then cases of unfinished calls."""
    running = ""
    with suppress(OSError), path.open("rb") as stream:
        for line in stream:
            if line.startswith(RUNS) and line.endswith(b"\n"):
                running = json.loads(line)["runs"]
    waiting = (call.nodeid for call in read_journal(path) if call.state in ("waiting", "running"))
    return tuple(dict.fromkeys(nodeid for nodeid in (running, *waiting) if nodeid))


def calls_in_flight(calls: Iterable[JournaledCall]) -> list[JournaledCall]:
    """Return the calls that ran when their process ended, without those that only waited for an inner call."""
    all_calls = list(calls)
    running = [call for call in all_calls if call.state in ("waiting", "running")]
    inner = {call.within for call in running}
    return [call for call in running if call.state == "running" and call.number not in inner]


def _read_line(text: bytes, calls: dict[int, JournaledCall]) -> None:
    try:
        plain = parse_json(text)
        match plain:
            case {"start": int(number), "kind": str(kind), "nodeid": str(nodeid)}:
                state: State = "waiting" if plain.get("waits") else "running"
                within, key = int(plain.get("within", 0)), str(plain.get("key", ""))
                calls[number] = JournaledCall(number, kind, nodeid, state, within, key)
            case {"sent": int(number)} if number in calls:
                calls[number] = replace(calls[number], state="running")
            case {"end": int(number), "calls": dict(usage)} if number in calls:
                value = plain.get("value")
                calls[number] = replace(
                    calls[number],
                    state=_end_state(plain, calls[number]),
                    value=value if isinstance(value, dict) else None,
                    calls=Calls(**usage) + Calls(),
                    recordings=tuple(map(str, plain.get("recordings", ()))),
                )
    except (TypeError, ValueError):
        return


def _end_state(plain: Mapping[str, Any], call: JournaledCall) -> State:
    if "cancelled" in plain:
        return "unsent" if call.state == "waiting" else "cancelled"
    return "failed" if "failed" in plain else "ended"
