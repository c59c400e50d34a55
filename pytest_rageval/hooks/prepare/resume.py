"""``--rag-resume``: find the run to resume, and drop the cases taken over from it."""

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

__all__ = ["find_run", "leave_out", "resume_command", "tell_resumed"]


@dataclass(frozen=True, slots=True)
class _ResumedRun:
    """The resumed run, reduced to the fields that a collecting process needs."""

    run: str
    identity: Mapping[str, Mapping[str, str]]
    cases: frozenset[str]
    turns: Mapping[str, Outcome]
    paid: tuple[Mapping[str, Any], ...]


def find_run(config: pytest.Config) -> None:
    """Store the run of ``--rag-resume`` on the config; raise `SettingError` if it names a missing run.

    Without a name, the newest run that is unfinished or has errors is resumed.
    """
    runs, name = config.rootpath / ".rageval" / "runs", config.option.rag_resume
    shard = "{}/{}".format(*config.option.rag_shard) if config.option.rag_shard else ""
    folder = _folder_of(runs, name) if name else newest_unfinished(runs, shard)
    if folder is None:
        which = f"no run of shard {shard}" if shard else "no run"
        where = f"{which} in .rageval/runs is unfinished or has errors"
        note = f"{where}, so that --rag-resume takes nothing over and all cases run"
        config.stash[RESUMED] = ResumedRun(InterruptedRun(""), note)
        return
    stopped = _readable(config, read_interrupted_run(folder))
    nothing = f"the run {folder.name} has nothing that --rag-resume could take over, and all cases run"
    config.stash[RESUMED] = ResumedRun(stopped, "" if stopped.ended or stopped.paid.rows else nothing)
    began_with = stopped.identity.get("recordings", {}).get(ONCE)
    if began_with is not None:
        config.stash[RECORDINGS] = tuple(began_with.splitlines())


def resume_command(config: pytest.Config, run: str) -> str:
    """Return the session's command line with ``--rag-resume`` set to a run."""
    args = [str(arg) for arg in config.invocation_params.args]
    if "--rag-resume" in args:
        at = args.index("--rag-resume")
        name = config.option.rag_resume
        del args[at : at + (2 if name and args[at + 1 : at + 2] == [name] else 1)]
    args = [arg for arg in args if not arg.startswith("--rag-resume=")]
    return shlex.join(["pytest", f"--rag-resume={run}", *args])


def tell_resumed(config: pytest.Config, workerinput: dict[str, Any]) -> None:
    """Add the resumed run to a worker's input."""
    if RESUMED in config.stash:
        stopped = config.stash[RESUMED].stopped
        fields = [stopped.run, stopped.identity, list(stopped.ended), _turns(stopped), list(stopped.paid.rows)]
        workerinput["rag_resumed"] = json.dumps(fields)


def leave_out(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Remove the cases taken over from the resumed run from the tests that run.

    Raises:
        SettingError: data, settings or system differ from those of the resumed run.
    """
    collected = session.config.stash[COLLECTED]
    collected.identity = identity_of(collected, items)
    resumed = _resumed_run(session.config)
    if resumed is None or not (resumed.cases or resumed.paid):
        return
    problem = mismatch(resumed.identity, collected.identity)
    if problem is not None:
        wish = "undo that, or leave --rag-resume out to run everything again"
        raise SettingError(
            f"--rag-resume: the run {resumed.run} cannot be resumed, because {problem}; {wish}", code="RAG501"
        )
    finished = (item for item in items if ENTRY in item.stash and item.nodeid in resumed.cases)
    collected.earlier = EarlierCalls(resumed.paid)
    collected.resumed_items = {item: resumed.turns.get(item.nodeid) for item in finished}
    items[:] = [item for item in items if item not in collected.resumed_items]


def _folder_of(runs: Path, name: str) -> Path:
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


def _readable(config: pytest.Config, stopped: InterruptedRun) -> InterruptedRun:
    """Return a run without the cases whose lines are damaged."""
    ended = {nodeid: line for nodeid, line in stopped.ended.items() if _is_readable(config, line)}
    return replace(stopped, ended=ended, unread=stopped.unread + len(stopped.ended) - len(ended))


def _is_readable(config: pytest.Config, line: Mapping[str, Any]) -> bool:
    try:
        reports = list(reports_of(config, deepcopy(dict(line)), {}))  # pytest changes its input
        phases = [report.when for report in reports]
        return decode_outcome(line["outcome"]).status == "scored" and phases == ["setup", "call", "teardown"]
    except Exception:  # pytest and its plugins may raise anything for a damaged line
        return False


def _resumed_run(config: pytest.Config) -> _ResumedRun | None:
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
    """Return node id -> outcome of turns that follow the system's own answers; empty if reports hold no texts."""
    return {nodeid: line["outcome"] for nodeid, line in stopped.ended.items() if "history" in line["outcome"]}
