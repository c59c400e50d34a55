"""``--rag-resume``: which run a session goes on with, and which of its cases are taken over from it, not run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.missed import missed
from pytest_rageval.analysis.usage import calls_of
from pytest_rageval.errors import SettingError, found
from pytest_rageval.hooks.endings import reports_of
from pytest_rageval.hooks.identity import identity_of
from pytest_rageval.hooks.keys import COLLECTED, ENTRY, RESUMED
from pytest_rageval.llm.client.earlier_calls import SYSTEM, EarlierCalls
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import decode_outcome
from pytest_rageval.report.files.interrupted_run import Stopped, mismatch, newest_unfinished, stopped_run
from pytest_rageval.report.files.results_json import encode_usage
from pytest_rageval.report.files.run_folder import HEAD, OUTCOMES
from pytest_rageval.report.sections.model_usage import spent_text
from pytest_rageval.report.text.lines import counted

if TYPE_CHECKING:
    from pytest_rageval.model.outcome import Outcome
    from pytest_rageval.report.run.plan import Plan

__all__ = ["Resumed", "find_run", "leave_out", "resume_command", "tell_resumed"]


_FEW = 3
"""How many cases a sentence names."""


@dataclass(frozen=True, slots=True)
class Resumed:
    """What the reporting process knows of the run that it goes on with.

    Attributes:
        stopped: the run; one without cases where there is none to go on with.
        note: why nothing can be taken over, or "".
    """

    stopped: Stopped
    note: str = ""

    def taken(self, plan: Plan) -> list[str]:
        """Return the node ids of the planned cases that are taken over, in data order."""
        return [nodeid for nodeid in plan.cases if nodeid in self.stopped.ended]

    def payload(self, nodeid: str, plan: Plan) -> dict[str, Any]:
        """Return what the report of a case that is taken over brings along."""
        line = self.stopped.ended[nodeid]
        outcome, testbed = decode_outcome(line["outcome"]), plan.testbeds[plan.cases[nodeid][1]]
        better = plan.metrics[testbed.primary].higher_is_better
        return {
            "outcome": line["outcome"],
            "instance": self.stopped.instances.get(outcome.case_id),
            "recordings": line.get("recordings", ()),
            "retrievers": line.get("retrievers", ()),
            "versions": line.get("versions", {}),
            "missed": missed(outcome, testbed.primary, better, [parse_gate(gate) for gate in testbed.gates]),
        }

    def told(self, plan: Plan) -> str:
        """Return what the summary says of it, or ""."""
        taken, answers = len(self.taken(plan)), len(self.answers(plan))
        if not taken and not answers:
            return ""
        cases = f"{taken} of {counted(len(plan.cases), 'case')}"
        more = f", and {counted(answers, 'answer')} that no test had taken" if answers else ""
        spent = spent_text(self.spent)
        return f"{cases} taken over from the run {self.stopped.run}{more}" + (f"; that run {spent}" if spent else "")

    def described(self, plan: Plan) -> dict[str, Any]:
        """Return what results.json says of it; nothing where nothing is taken over."""
        if not self.told(plan):
            return {}
        counts = {"cases": len(self.taken(plan)), "answers": len(self.answers(plan))}
        return {"run": self.stopped.run, **counts, "usage": encode_usage(self.spent)}

    def answers(self, plan: Plan) -> set[str]:
        """Return the node ids of the planned cases that a system answered, and that no test reported."""
        rows = self.stopped.paid.rows
        return {row["nodeid"] for row in rows if row["kind"] == SYSTEM and not row["key"]} & plan.cases.keys()

    @property
    def spent(self) -> Calls:
        """What the run took, with the runs that it resumed; what the last ones of its cases took is known."""
        outcomes = []
        for line in self.stopped.outcomes.values():
            with suppress(Exception):  # a line that anything may have changed
                outcomes.append(decode_outcome(line))
        return calls_of(outcomes, self.stopped.paid.calls)

    def mixed(self, plan: Plan) -> tuple[str, ...]:
        """Return the files of the user's own code that changed since the cases ended that are taken over."""
        then, now = (identity.get("files", {}) for identity in (self.stopped.identity, plan.identity))
        taken = self.taken(plan) or self.answers(plan)
        return tuple(name for name in now if name in then and then[name] != now[name]) if taken else ()

    def warnings(self, plan: Plan) -> Iterator[str]:
        """Yield what the summary warns of."""
        if self.note:
            yield self.note
        if unread := self.stopped.unread:
            again = "its case runs again" if unread == 1 else "their cases run again"
            yield f"{counted(unread, 'line')} in the folder of the run {self.stopped.run} cannot be read, and {again}"
        if opened := self.stopped.in_flight:
            cases = ", ".join(opened[:_FEW]) + (", ..." if len(opened) > _FEW else "")
            wish = "if it ends so again, -n 2 runs them alone, and only the culprit is an error"
            yield f"the run {self.stopped.run} ended without notice while it ran {cases}; {wish}"
        if changed := self.mixed(plan):
            yield f"{', '.join(changed)} changed since the run {self.stopped.run}; its cases count as they ended there"


@dataclass(frozen=True, slots=True)
class _Told:
    """The same, as far as a process that collects has to know it."""

    run: str
    identity: Mapping[str, Mapping[str, str]]
    cases: frozenset[str]
    turns: Mapping[str, Outcome]
    paid: tuple[Mapping[str, Any], ...]


def find_run(config: pytest.Config) -> None:
    """Put the run that ``--rag-resume`` means on the config; where it names none that is there, it is a `SettingError`.

    Where it names none, the newest run is meant that is unfinished or has errors.
    """
    runs, named = config.rootpath / ".rageval" / "runs", config.option.rag_resume
    shard = "{}/{}".format(*config.option.rag_shard) if config.option.rag_shard else ""
    folder = _named(config, runs, named) if named else newest_unfinished(runs, shard)
    if folder is None:
        which = f"no run of shard {shard}" if shard else "no run"
        where = f"{which} in .rageval/runs is unfinished or has errors"
        note = f"{where}, so that --rag-resume takes nothing over and all cases run"
        config.stash[RESUMED] = Resumed(Stopped(""), note)
        return
    stopped = _readable(config, stopped_run(folder))
    nothing = f"the run {folder.name} has nothing that --rag-resume could take over, and all cases run"
    config.stash[RESUMED] = Resumed(stopped, "" if stopped.ended or stopped.paid.rows else nothing)


def resume_command(config: pytest.Config, run: str) -> str:
    """Return the session's own command line with ``--rag-resume`` of a run."""
    args = [str(arg) for arg in config.invocation_params.args]
    if "--rag-resume" in args:
        at = args.index("--rag-resume")
        named = config.option.rag_resume
        del args[at : at + (2 if named and args[at + 1 : at + 2] == [named] else 1)]
    args = [arg for arg in args if not arg.startswith("--rag-resume=")]
    return shlex.join(["pytest", f"--rag-resume={run}", *args])


def tell_resumed(config: pytest.Config, workerinput: dict[str, Any]) -> None:
    """Put into a worker's input what it has to know."""
    if RESUMED in config.stash:
        stopped = config.stash[RESUMED].stopped
        told = [stopped.run, stopped.identity, list(stopped.ended), _turns(stopped), list(stopped.paid.rows)]
        workerinput["rag_resumed"] = json.dumps(told)


def leave_out(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Take the tests of cases that are taken over from among those that run.

    Raises:
        SettingError: data, settings or system are not those of the run that the session goes on with.
    """
    collected = session.config.stash[COLLECTED]
    collected.identity = identity_of(collected, items)
    told = _told(session.config)
    if told is None or not (told.cases or told.paid):
        return
    problem = mismatch(told.identity, collected.identity)
    if problem is not None:
        wish = "undo that, or leave --rag-resume out to run all anew"
        raise SettingError(f"--rag-resume: the run {told.run} cannot be resumed, as {problem}; {wish}")
    taken = (item for item in items if ENTRY in item.stash and item.nodeid in told.cases)
    collected.earlier = EarlierCalls(told.paid)
    collected.taken = {item: told.turns.get(item.nodeid) for item in taken}
    items[:] = [item for item in items if item not in collected.taken]


def _named(config: pytest.Config, runs: Path, named: str) -> Path:
    for folder in (runs / named, config.invocation_params.dir / named):
        if (folder / HEAD).is_file() or (folder / OUTCOMES).is_file():
            return folder.resolve()
    known = sorted(path.name for path in runs.glob("*") if (path / HEAD).is_file())[-3:]
    hint = f"name one as {', '.join(known)}" if known else "there is none yet"
    where = "a path of tests stands before --rag-resume, or --rag-resume=RUN is written"
    raise SettingError(f"--rag-resume names {found(named)}, which is no run in .rageval/runs; {hint} ({where})")


def _readable(config: pytest.Config, stopped: Stopped) -> Stopped:
    """Return a run without the cases whose lines are not as they were written."""
    ended = {nodeid: line for nodeid, line in stopped.ended.items() if _is_readable(config, line)}
    return replace(stopped, ended=ended, unread=stopped.unread + len(stopped.ended) - len(ended))


def _is_readable(config: pytest.Config, line: Mapping[str, Any]) -> bool:
    try:
        reports = list(reports_of(config, deepcopy(dict(line)), {}))  # pytest changes what it reads
        phases = [report.when for report in reports]
        return decode_outcome(line["outcome"]).status == "scored" and phases == ["setup", "call", "teardown"]
    except Exception:  # pytest and its plugins read what they wrote, and raise anything if it has changed
        return False


def _told(config: pytest.Config) -> _Told | None:
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
    return _Told(run, identity, frozenset(cases), outcomes, tuple(paid))


def _turns(stopped: Stopped) -> dict[str, dict[str, Any]]:
    """Return the outcomes of turns that followed the system's own answers, by node id; without texts there are none."""
    return {nodeid: line["outcome"] for nodeid, line in stopped.ended.items() if "history" in line["outcome"]}
