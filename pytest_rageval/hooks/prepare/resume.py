"""``--rag-resume``: find the run to resume, and drop the cases that it finished."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY, RESUMED
from pytest_rageval.hooks.collect.resumed_run import ResumedRun
from pytest_rageval.hooks.collect.saved_reports import reports_of
from pytest_rageval.hooks.config.shared_folder import RECORDINGS
from pytest_rageval.hooks.prepare.run_fingerprint import ONCE, identity_of
from pytest_rageval.llm.client.earlier_calls import EarlierCalls
from pytest_rageval.model.codec import decode_outcome
from pytest_rageval.report.files.interrupted_run import (
    InterruptedRun,
    mismatch,
    newest_unfinished,
    read_interrupted_run,
)
from pytest_rageval.report.files.run_folder import HEAD, OUTCOMES
from pytest_rageval.report.files.run_names import find_run as find_stored_run
from pytest_rageval.report.files.run_names import stored_runs

if TYPE_CHECKING:
    from pytest_rageval.model.outcome import Outcome

__all__ = ["drop_finished_cases", "find_run", "resume_command", "send_resumed_run"]


@dataclass(frozen=True, slots=True)
class _ResumedRun:
    """The resumed run, reduced to what a process needs to collect its cases.

    Attributes:
        run: its id.
        identity: kind -> name -> value, as `identity_of` returns it.
        cases: node ids of the finished cases.
        turns: node id -> outcome, for dialogue turns that follow the system's own answers.
        paid: calls that were paid for and belong to no reported case, one row each.
    """

    run: str
    identity: Mapping[str, Mapping[str, str]]
    cases: frozenset[str]
    turns: Mapping[str, Outcome]
    paid: tuple[Mapping[str, Any], ...]


def find_run(config: pytest.Config) -> None:
    """Find the run that ``--rag-resume`` names, and store it on the config.

    Without a name, resume the newest run that is unfinished or has errors.

    Raises:
        SettingError: the named run does not exist.
    """
    runs, name = config.rootpath / ".rageval" / "runs", config.option.rag_resume
    shard = "{}/{}".format(*config.option.rag_shard) if config.option.rag_shard else ""
    folder = _folder_of(runs, name) if name else newest_unfinished(runs, shard)
    if folder is None:
        which = f"no run of shard {shard}" if shard else "no run"
        where = f"{which} in .rageval/runs is unfinished or has errors"
        note = f"{where}: --rag-resume takes nothing over, and all cases run"
        config.stash[RESUMED] = ResumedRun(InterruptedRun(""), note)
        return
    stopped = _without_damaged_lines(config, read_interrupted_run(folder))
    nothing = f"the run {folder.name} has nothing that --rag-resume could take over, and all cases run"
    config.stash[RESUMED] = ResumedRun(stopped, "" if stopped.ended or stopped.paid.rows else nothing)
    first_recordings = stopped.identity.get("recordings", {}).get(ONCE)
    if first_recordings is not None:
        config.stash[RECORDINGS] = tuple(first_recordings.splitlines())


def resume_command(config: pytest.Config, run: str) -> str:
    """Return the command line of the session, with ``--rag-resume`` set to a run."""
    args = [str(arg) for arg in config.invocation_params.args]
    if "--rag-resume" in args:
        at = args.index("--rag-resume")
        name = config.option.rag_resume
        del args[at : at + (2 if name and args[at + 1 : at + 2] == [name] else 1)]
    args = [arg for arg in args if not arg.startswith("--rag-resume=")]
    return shlex.join(["pytest", f"--rag-resume={run}", *args])


def send_resumed_run(config: pytest.Config, workerinput: dict[str, Any]) -> None:
    """Add the resumed run to a worker's input."""
    if RESUMED in config.stash:
        stopped = config.stash[RESUMED].stopped
        fields = [stopped.run, stopped.identity, list(stopped.ended), _turns(stopped), list(stopped.paid.rows)]
        workerinput["rag_resumed"] = json.dumps(fields)


def drop_finished_cases(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Remove the cases that the resumed run finished from the tests to run.

    Raises:
        SettingError: data, settings or systems differ from those of the resumed run.
    """
    collected = session.config.stash[COLLECTED]
    collected.identity = identity_of(collected, items)
    resumed = _resumed_run(session.config)
    if resumed is None or not (resumed.cases or resumed.paid):
        return
    problem = mismatch(resumed.identity, collected.identity)
    if problem is not None:
        advice = "undo that, or leave --rag-resume out to run everything again"
        raise SettingError(
            f"--rag-resume: the run {resumed.run} cannot be resumed, because {problem}; {advice}", code="RAG501"
        )
    finished = (item for item in items if ENTRY in item.stash and item.nodeid in resumed.cases)
    collected.earlier = EarlierCalls(resumed.paid)
    collected.resumed_items = {item: resumed.turns.get(item.nodeid) for item in finished}
    items[:] = [item for item in items if item not in collected.resumed_items]


def _folder_of(runs: Path, name: str) -> Path:
    """Return the folder of a named run; raise `SettingError` if there is none."""
    where = "a path of tests stands before --rag-resume, or --rag-resume=RUN is written"
    try:
        folder = find_stored_run(runs, name)
    except SettingError as error:
        raise SettingError(f"--rag-resume: {error} ({where})", code="RAG502") from None
    if (folder / HEAD).is_file() or (folder / OUTCOMES).is_file():
        return folder.resolve()
    known = [path.name for path in stored_runs(runs) if (path / HEAD).is_file()][:3]
    hint = f"name one, such as {', '.join(known)}" if known else "there is none yet"
    raise SettingError(
        f"--rag-resume names {short_repr(name)}, which is not a run in .rageval/runs; {hint} ({where})", code="RAG502"
    )


def _without_damaged_lines(config: pytest.Config, stopped: InterruptedRun) -> InterruptedRun:
    """Return a stopped run without the cases whose stored lines are damaged."""
    ended = {nodeid: line for nodeid, line in stopped.ended.items() if _is_readable(config, line)}
    return replace(stopped, ended=ended, unread=stopped.unread + len(stopped.ended) - len(ended))


def _is_readable(config: pytest.Config, line: Mapping[str, Any]) -> bool:
    """Return whether a stored line holds a scored outcome and the reports of all phases of its test."""
    try:
        reports = list(reports_of(config, deepcopy(dict(line)), {}))  # pytest changes its input
        phases = [report.when for report in reports]
        return decode_outcome(line["outcome"]).status == "scored" and phases == ["setup", "call", "teardown"]
    except Exception:  # pytest and its plugins may raise anything for a damaged line
        return False


def _resumed_run(config: pytest.Config) -> _ResumedRun | None:
    """Return the resumed run, in a worker from the input that the main process sent; None without one."""
    text: str | None = getattr(config, "workerinput", {}).get("rag_resumed")
    if text is not None:
        run, identity, cases, turns, paid = json.loads(text)
    elif RESUMED in config.stash:
        stopped = config.stash[RESUMED].stopped
        run, identity, cases, turns = stopped.run, stopped.identity, stopped.ended, _turns(stopped)
        paid = stopped.paid.rows
    else:
        return None
    outcomes = {nodeid: decode_outcome(plain) for nodeid, plain in turns.items()}
    return _ResumedRun(run, identity, frozenset(cases), outcomes, tuple(paid))


def _turns(stopped: InterruptedRun) -> dict[str, dict[str, Any]]:
    """Return node id -> outcome of dialogue turns that follow the system's own answers; {} if texts are not stored."""
    return {nodeid: line["outcome"] for nodeid, line in stopped.ended.items() if "history" in line["outcome"]}
