"""The journals of a run: which calls its processes made, read back from the run's folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pytest_rageval.model.calls import Calls
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.run_folder import JOURNAL

__all__ = ["JournaledCall", "in_flight", "journal_path", "journal_paths", "journals_of", "open_cases", "read_journal"]

SUFFIX = ".jsonl"

RUNS = b'{"runs": '
"""How the line begins that says which test a process runs."""

State = Literal["waiting", "running", "ended", "failed", "cancelled", "unsent"]


@dataclass(frozen=True, slots=True)
class JournaledCall:
    """A call as a journal has it.

    Attributes:
        number: of the call in its process.
        kind: "system", "judging", or the kind of a model.
        nodeid: the test whose case needed it.
        state: "waiting" for a slot, "running" without an end, or how it ended; "unsent" was cancelled while it waited.
        within: the call that made it, 0 for none.
        key: what was asked; "" if the test says it.
        value: what it returned, as builtins; None if that is not stored.
        calls: what it took.
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
    """Return the path of a process's journal: "main", or the name of an xdist worker."""
    return folder / f"{JOURNAL}{process}{SUFFIX}"


def journals_of(folder: Path) -> dict[str, list[JournaledCall]]:
    """Return process -> its calls, of each process of a run that wrote a journal."""
    return {path.name[len(JOURNAL) : -len(SUFFIX)]: read_journal(path) for path in journal_paths(folder)}


def journal_paths(folder: Path) -> list[Path]:
    """Return the journals of a run."""
    return sorted(folder.glob(f"{JOURNAL}*{SUFFIX}"))


def read_journal(path: Path) -> list[JournaledCall]:
    """Return the calls of a process in the order they started.

    A malformed line is left out: a kill may cut the last one short.
    """
    calls: dict[int, JournaledCall] = {}
    try:
        with path.open("rb") as stream:
            for text in stream:
                _read_line(text, calls)
    except OSError:
        pass
    return list(calls.values())


def open_cases(path: Path) -> tuple[str, ...]:
    """Return what a process had in flight when it ended: the test that it ran, then those whose calls have no end."""
    running = ""
    with suppress(OSError), path.open("rb") as stream:
        for line in stream:
            if line.startswith(RUNS) and line.endswith(b"\n"):
                running = json.loads(line)["runs"]
    unended = (call.nodeid for call in read_journal(path) if call.state in ("waiting", "running"))
    return tuple(dict.fromkeys(nodeid for nodeid in (running, *unended) if nodeid))


def in_flight(calls: Iterable[JournaledCall]) -> list[JournaledCall]:
    """Return the calls that were running when their process ended: not those that only waited for another call."""
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
            case {"end": int(number), "calls": dict(taken)} if number in calls:
                value = plain.get("value")
                calls[number] = replace(
                    calls[number],
                    state=_end(plain, calls[number]),
                    value=value if isinstance(value, dict) else None,
                    calls=Calls(**taken) + Calls(),
                    recordings=tuple(map(str, plain.get("recordings", ()))),
                )
    except (TypeError, ValueError):
        return


def _end(plain: Mapping[str, Any], call: JournaledCall) -> State:
    if "cancelled" in plain:
        return "unsent" if call.state == "waiting" else "cancelled"
    return "failed" if "failed" in plain else "ended"
