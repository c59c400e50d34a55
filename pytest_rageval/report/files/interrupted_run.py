"""Read an unfinished run from its folder, so that a later run can resume it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pytest_rageval.folders import regular_path
from pytest_rageval.model.stored_json import parse_json
from pytest_rageval.report.files.journals import cases_in_flight, journal_paths
from pytest_rageval.report.files.paid_calls import PaidCalls, join_paid, paid_by_run
from pytest_rageval.report.files.pruning import is_active
from pytest_rageval.report.files.run_folder import ENDED, HEAD, OUTCOMES
from pytest_rageval.report.files.run_names import stored_runs
from pytest_rageval.report.run.plan import DIGEST

__all__ = ["Head", "InterruptedRun", "mismatch", "newest_unfinished", "read_head", "read_interrupted_run"]

_DIFFER = {"data": "its data differ", "settings": "its settings differ", "systems": "its system differs"}


@dataclass(frozen=True, slots=True)
class Head:
    """The content of run.json, which a run writes before its first case.

    Attributes:
        identity: what decides scores: "data", "settings", "systems", "versions", "files" or "recordings" -> name ->
            value or digest.
        cases: node ids of all cases of the run, including those of the resumed run.
        resumed: the name of the resumed run, or "".
        left: number of unfinished cases; None until the run ends.
        shard: the share of the session's cases that it runs, as ``2/3``; "" for all cases.
        errors: number of cases that ended in an error.
    """

    identity: Mapping[str, Mapping[str, str]]
    cases: tuple[str, ...]
    resumed: str = ""
    left: int | None = None
    shard: str = ""
    errors: int = 0

    def dumps(self) -> str:
        """Return the head as JSON."""
        return json.dumps({each.name: getattr(self, each.name) for each in fields(self)})


@dataclass(frozen=True, slots=True)
class InterruptedRun:
    """The cases and answers of a run, and of the runs that it resumed, that a later run can take over.

    Attributes:
        run: its name.
        identity: the same as in `Head`.
        cases: node ids of all cases of the run.
        ended: node id -> the line about the end of the case, with its outcome under "outcome".
        instances: case id -> the instance, encoded like in results.json.
        unread: number of malformed lines; a last line that was cut short does not count.
        outcomes: node id -> the last outcome of each case that ended or is in error.
        paid: paid calls that belong to none of these cases.
        in_flight: node ids of the cases that ran when the process was killed.
    """

    run: str
    identity: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cases: frozenset[str] = frozenset()
    ended: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    instances: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    unread: int = 0
    outcomes: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    paid: PaidCalls = field(default_factory=PaidCalls)
    in_flight: tuple[str, ...] = ()


def read_head(folder: Path) -> Head | None:
    """Read run.json; return None if the run ended before its first case or another version wrote the file."""
    try:
        plain = parse_json(regular_path(folder / HEAD).read_bytes())
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
    """Return the folder of the newest run that has unfinished cases or ended with errors.

    It skips active runs, and runs that a later run resumed. It also skips a run with errors if later runs ended all
    its cases without an error.

    Args:
        runs: the folder of all runs.
        shard: the shard that wants to resume a run, as ``2/3``; runs of other shards are skipped because only their
            own shard can use their cases. "" for a run of all cases.
    """
    resumed: set[str] = set()
    clean_cases: set[str] = set()
    for folder in stored_runs(runs):
        head = read_head(folder)
        if head is None or (shard and head.shard not in ("", shard)):
            continue
        is_unfinished = head.left != 0 or (head.errors and not clean_cases.issuperset(head.cases))
        if is_unfinished and folder.name not in resumed and not is_active(folder):
            return folder
        if head.left == head.errors == 0:
            clean_cases.update(head.cases)
        if head.resumed:
            resumed.add(head.resumed)
    return None


def read_interrupted_run(folder: Path) -> InterruptedRun:
    """Read what a later run can take over from a run and from the runs that it resumed."""
    head = read_head(folder)
    if head is None:
        return InterruptedRun(folder.name)
    earlier = read_interrupted_run(folder.parent / head.resumed) if head.resumed else InterruptedRun("")
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
    paid = join_paid(earlier.paid, paid_by_run(folder, reported), reported)
    unfinished = (
        (nodeid for path in journal_paths(folder) for nodeid in cases_in_flight(path)) if head.left is None else ()
    )
    in_flight = tuple(nodeid for nodeid in unfinished if nodeid in head.cases and nodeid not in reported)
    kinds = {*earlier.identity, *head.identity}
    identity = {kind: {**earlier.identity.get(kind, {}), **head.identity.get(kind, {})} for kind in kinds}
    reported = {**earlier.outcomes, **reported}
    return InterruptedRun(
        folder.name, identity, frozenset(head.cases), ended, instances, unread, reported, paid, in_flight
    )


def _is_reported(line: Mapping[str, Any], ended: Mapping[str, object]) -> bool:
    """Return whether a case is reported: it was torn down or ended in an error.

    The next run can use the answer of any other case, such as one that a budget skipped.
    """
    nodeid, status = line.get("nodeid"), line.get("status")
    return isinstance(nodeid, str) and (status == "error" or (status == "scored" and nodeid in ended))


def mismatch(
    earlier_identity: Mapping[str, Mapping[str, str]], later_identity: Mapping[str, Mapping[str, str]]
) -> str | None:
    """Describe the first difference between two runs in data, settings, systems or versions; None if equal."""
    for kind in ("data", "settings", "systems", "versions"):
        before, after = earlier_identity.get(kind, {}), later_identity.get(kind, {})
        for name in (name for name in before if name in after and before[name] != after[name]):
            differ = _DIFFER.get(kind, "its versions differ")
            if before[name].startswith(DIGEST) or after[name].startswith(DIGEST):
                return f"{differ}: {name} has changed"
            return f"{differ}: {name} was {before[name] or 'not given'} and is {after[name] or 'not given'}"
    return None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file: {} for a malformed line; skip a last line that a kill cut short."""
    if path.is_file():
        with path.open("rb") as stream:
            yield from (line for text in stream if (line := _line(text)) or text.endswith(b"\n"))


def _line(text: bytes) -> dict[str, Any]:
    try:
        plain = parse_json(text)
    except ValueError:
        return {}
    return plain if isinstance(plain, dict) else {}
