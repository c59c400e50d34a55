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
    "JournaledCall", "has_cut_calls", "in_flight", "journal_path", "journal_paths", "open_cases",
    "process_of", "read_journal",
]  # fmt: skip

SUFFIX = ".jsonl"

RUNS = b'{"runs": '
"""Start of the line that names the test that a process runs."""

_START_OR_END = re.compile(rb'\{"(?P<word>start|end)": (?P<number>\d+)(?P<cancelled>, "cancelled")?')

State = Literal["waiting", "running", "ended", "failed", "cancelled", "unsent"]


@dataclass(frozen=True, slots=True)
class JournaledCall:
    """A call as it stands in a journal.

    Attributes:
        number: of the call in its process.
        kind: "system", "judging", or the kind of a model.
        nodeid: the test whose case needed it.
        state: "waiting" for a slot, "running" without an end, or how it ended; "unsent" was cancelled while it waited.
        within: the number of the outer call, 0 for none.
        key: key of the request; "" if the test identifies it.
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
    """Return the process that wrote a journal, as `journal_path` takes it."""
    return path.name[len(JOURNAL) : -len(SUFFIX)]


def journal_paths(folder: Path) -> list[Path]:
    """Return the paths of a run's journals, sorted."""
    return sorted(folder.glob(f"{JOURNAL}*{SUFFIX}"))


def read_journal(path: Path) -> list[JournaledCall]:
    """Return the calls of a process in start order.

    Malformed lines are skipped: a kill may cut the last one short.
    """
    calls: dict[int, JournaledCall] = {}
    try:
        with path.open("rb") as stream:
            for text in stream:
                _read_line(text, calls)
    except OSError:
        pass
    return list(calls.values())


def has_cut_calls(path: Path) -> bool:
    """Return whether a journal has a call that did not end, or that was cancelled.

    It reads only the start of each line, which is far faster than `read_journal`.
    """
    opened: set[bytes] = set()
    with suppress(OSError), path.open("rb") as stream:
        for line in stream:
            if (match := _START_OR_END.match(line)) is None:
                continue
            if match["word"] == b"start":
                opened.add(match["number"])
            elif match["cancelled"]:
                return True
            elif line.endswith(b"\n"):
                opened.discard(match["number"])
    return bool(opened)


def open_cases(path: Path) -> tuple[str, ...]:
    """Return the cases in flight when a process ended: of the running test first, then of calls without an end."""
    running = ""
    with suppress(OSError), path.open("rb") as stream:
        for line in stream:
            if line.startswith(RUNS) and line.endswith(b"\n"):
                running = json.loads(line)["runs"]
    waiting = (call.nodeid for call in read_journal(path) if call.state in ("waiting", "running"))
    return tuple(dict.fromkeys(nodeid for nodeid in (running, *waiting) if nodeid))


def in_flight(calls: Iterable[JournaledCall]) -> list[JournaledCall]:
    """Return the calls that were running when their process ended, except those that only waited for an inner call."""
    known = list(calls)
    running = [call for call in known if call.state in ("waiting", "running")]
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
                    state=_end(plain, calls[number]),
                    value=value if isinstance(value, dict) else None,
                    calls=Calls(**usage) + Calls(),
                    recordings=tuple(map(str, plain.get("recordings", ()))),
                )
    except (TypeError, ValueError):
        return


def _end(plain: Mapping[str, Any], call: JournaledCall) -> State:
    if "cancelled" in plain:
        return "unsent" if call.state == "waiting" else "cancelled"
    return "failed" if "failed" in plain else "ended"
