"""A run that stopped before its end, read from its folder so that another can go on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pytest_rageval.folders import regular
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.journals import journal_paths, open_cases
from pytest_rageval.report.files.paid_answers import Paid, paid_of, paid_since
from pytest_rageval.report.files.pruning import goes_on
from pytest_rageval.report.files.run_folder import ENDED, HEAD, OUTCOMES, run_age
from pytest_rageval.report.run.plan import DIGEST

__all__ = ["Head", "Stopped", "mismatch", "newest_unfinished", "read_head", "stopped_run"]

_DIFFER = {"data": "its data differ", "settings": "its settings differ", "systems": "its system differs"}


@dataclass(frozen=True, slots=True)
class Head:
    """What a run says of itself before its first case.

    Attributes:
        identity: "data", "settings", "systems", "versions" or "files" -> name -> value or digest: what decides scores.
        cases: node ids of all cases it has to end, with those of the run that it goes on with.
        resumed: the name of that run, or "".
        left: how many cases it left undone; None as long as it has not come to its end.
        shard: which share of a session's cases they are, as ``2/3``, or "".
        errors: how many cases ended in an error.
    """

    identity: Mapping[str, Mapping[str, str]]
    cases: tuple[str, ...]
    resumed: str = ""
    left: int | None = None
    shard: str = ""
    errors: int = 0

    def dumps(self) -> str:
        """Return the head as JSON."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Stopped:
    """What can be taken over from a run, and from those that it goes on with.

    Attributes:
        run: its name.
        identity: as in `Head`.
        cases: node ids of all cases it had to end.
        ended: node id -> how a case ended, with its outcome under "outcome".
        instances: case id -> the instance, as it is reported.
        unread: how many lines are malformed; the last one may be cut short, and does not count.
        outcomes: node id -> the last outcome of each case that ended or is an error.
        paid: what else was paid for.
        in_flight: node ids of the cases that were in flight if its process ended without notice.
    """

    run: str
    identity: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cases: frozenset[str] = frozenset()
    ended: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    instances: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    unread: int = 0
    outcomes: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    paid: Paid = field(default_factory=Paid)
    in_flight: tuple[str, ...] = ()


def read_head(folder: Path) -> Head | None:
    """Return what a run says of itself; None if it ended before its first case, or if another version wrote it."""
    try:
        plain = parse_json(regular(folder / HEAD).read_bytes())
    except (OSError, ValueError):
        return None
    match plain:
        case {
            "identity": dict(identity),
            "cases": list(cases),
            "resumed": str(resumed),
            "left": int() | None as left,
            "shard": str(shard),
        }:
            texts = [text for each in identity.values() for text in (each.values() if isinstance(each, dict) else [0])]
            errors = plain.get("errors", 0)  # earlier versions did not count them
            if all(isinstance(text, str) for text in (*texts, *cases)) and isinstance(errors, int):
                return Head(identity, tuple(cases), resumed, left, shard, errors)
    return None


def newest_unfinished(runs: Path, shard: str = "") -> Path | None:
    """Return the folder of the newest run that left cases undone, or that ended with errors.

    It is none that still goes on, and none that a later run went on with; and where a shard is wanted, as ``2/3``,
    none of another: what that has done this cannot use, and it is still to be gone on with.
    A run with errors does not count if later runs ended all its cases without an error.
    """
    gone_on: set[str] = set()
    ended: set[str] = set()
    for folder in sorted((path for path in runs.glob("*") if path.is_dir()), key=run_age, reverse=True):
        head = read_head(folder)
        if head is None or (shard and head.shard not in ("", shard)):
            continue
        wanted = head.left != 0 or (head.errors and not ended.issuperset(head.cases))
        if wanted and folder.name not in gone_on and not goes_on(folder):
            return folder
        if head.left == head.errors == 0:
            ended.update(head.cases)
        if head.resumed:
            gone_on.add(head.resumed)
    return None


def stopped_run(folder: Path) -> Stopped:
    """Return what can be taken over from a run; what it had not yet taken over itself is read where it is."""
    head = read_head(folder)
    if head is None:
        return Stopped(folder.name)
    earlier = stopped_run(folder.parent / head.resumed) if head.resumed else Stopped("")
    ended, instances = dict(earlier.ended), dict(earlier.instances)
    outcomes = list(_lines(folder / OUTCOMES))
    unread = earlier.unread + outcomes.count({})
    for line in _lines(folder / ENDED):
        match line:
            case {"case_id": str(case_id), "instance": dict(instance)}:
                instances[case_id] = instance
            case {"nodeid": str(nodeid), "line": int(at)}:
                if 0 <= at < len(outcomes) and outcomes[at]:
                    ended[nodeid] = {**line, "outcome": outcomes[at]}
            case _:
                unread += 1
    reported = {line["nodeid"]: line for line in outcomes if _is_reported(line, ended)}
    paid = paid_since(earlier.paid, paid_of(folder, reported), reported)
    opened = (nodeid for path in journal_paths(folder) for nodeid in open_cases(path)) if head.left is None else ()
    in_flight = tuple(nodeid for nodeid in opened if nodeid in head.cases and nodeid not in reported)
    kinds = {*earlier.identity, *head.identity}
    identity = {kind: {**earlier.identity.get(kind, {}), **head.identity.get(kind, {})} for kind in kinds}
    reported = {**earlier.outcomes, **reported}
    return Stopped(folder.name, identity, frozenset(head.cases), ended, instances, unread, reported, paid, in_flight)


def _is_reported(line: Mapping[str, Any], ended: Mapping[str, object]) -> bool:
    """Return whether a case is taken over or asked anew, because it ended or is an error.

    What it was answered is taken over if it was skipped, as for lack of money, or if its test was not torn down.
    """
    nodeid, status = line.get("nodeid"), line.get("status")
    return isinstance(nodeid, str) and (status == "error" or (status == "scored" and nodeid in ended))


def mismatch(then: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return in which of data, settings, system and versions two runs differ, in what both have; None in none."""
    for kind in ("data", "settings", "systems", "versions"):
        told, here = then.get(kind, {}), now.get(kind, {})
        for name in (name for name in told if name in here and told[name] != here[name]):
            differ = _DIFFER.get(kind, "its versions differ")
            if told[name].startswith(DIGEST) or here[name].startswith(DIGEST):
                return f"{differ}: {name} has changed"
            return f"{differ}: {name} was {told[name] or 'not given'} and is {here[name] or 'not given'}"
    return None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file, a malformed one as an empty object; a last one that a kill cut short is left out."""
    if path.is_file():
        with path.open("rb") as stream:
            yield from (line for text in stream if (line := _line(text)) or text.endswith(b"\n"))


def _line(text: bytes) -> dict[str, Any]:
    try:
        plain = parse_json(text)
    except ValueError:
        return {}
    return plain if isinstance(plain, dict) else {}
