"""The run that ``--rag-resume`` resumes: its cases, answers, cost and warnings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_rageval.analysis.account.sentences import case_sentence
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.misses import is_miss
from pytest_rageval.analysis.usage import calls_of
from pytest_rageval.llm.client.earlier_calls import SYSTEM
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import decode_outcome
from pytest_rageval.report.files.interrupted_run import InterruptedRun
from pytest_rageval.report.files.results_json import encode_usage
from pytest_rageval.report.sections.model_usage import spent_text
from pytest_rageval.report.text.lines import counted

if TYPE_CHECKING:
    from pytest_rageval.report.run.plan import Plan


__all__ = ["ResumedRun"]

MAX_NAMED = 3
"""Maximum number of cases that a warning names."""


@dataclass(frozen=True, slots=True)
class ResumedRun:
    """The run that the session resumes; exists only in the reporting process.

    Attributes:
        stopped: the run; without cases if no run can be resumed.
        note: a warning that explains why no case is taken over, or "".
    """

    stopped: InterruptedRun
    note: str = ""

    def ended_cases(self, plan: Plan) -> list[str]:
        """Return the node ids of the planned cases that ended in the run and are taken over, in data order."""
        return [nodeid for nodeid in plan.cases if nodeid in self.stopped.ended]

    def payload(self, nodeid: str, plan: Plan) -> dict[str, Any]:
        """Return the report payload of a case taken over from the run."""
        line = self.stopped.ended[nodeid]
        outcome, testbed = decode_outcome(line["outcome"]), plan.testbeds[plan.cases[nodeid][1]]
        better = plan.metrics[testbed.primary].higher_is_better
        gates = [parse_gate(gate) for gate in testbed.gates]
        is_missed = is_miss(outcome, testbed.primary, better, gates)
        return {
            "outcome": line["outcome"] | ({"missed": True} if is_missed else {}),
            "instance": self.stopped.instances.get(outcome.case_id),
            "recordings": line.get("recordings", ()),
            "retrievers": line.get("retrievers", ()),
            "versions": line.get("versions", {}),
            "missed": case_sentence(outcome, testbed.primary, gates) if is_missed else "",
        }

    def summary(self, plan: Plan) -> str:
        """Return the summary line about the resumed run; "" if nothing is taken over."""
        n_cases, answers = len(self.ended_cases(plan)), len(self.answers(plan))
        if not n_cases and not answers:
            return ""
        cases = f"{n_cases} of {counted(len(plan.cases), 'case')}"
        more = f", and {counted(answers, 'answer')} that no test had used" if answers else ""
        spent = spent_text(self.spent)
        return f"{cases} taken over from the run {self.stopped.run}{more}" + (f"; that run {spent}" if spent else "")

    def results_entry(self, plan: Plan) -> dict[str, Any]:
        """Return the entry ``resumed`` of results.json; empty if nothing is taken over."""
        if not self.summary(plan):
            return {}
        counts = {"cases": len(self.ended_cases(plan)), "answers": len(self.answers(plan))}
        return {"run": self.stopped.run, **counts, "usage": encode_usage(self.spent)}

    def answers(self, plan: Plan) -> set[str]:
        """Return the node ids of the planned cases that have a paid answer, but did not end."""
        rows = self.stopped.paid.rows
        return {row["nodeid"] for row in rows if row["kind"] == SYSTEM and not row["key"]} & plan.cases.keys()

    @property
    def spent(self) -> Calls:
        """Calls and cost of the run, including those of the runs that it resumed."""
        outcomes = []
        for line in self.stopped.outcomes.values():
            with suppress(Exception):  # the file may have been edited
                outcomes.append(decode_outcome(line))
        return calls_of(outcomes, self.stopped.paid.calls)

    def changed_files(self, plan: Plan) -> tuple[str, ...]:
        """Return the files of the user's code that changed since the resumed run; () if nothing is taken over."""
        then, now = (identity.get("files", {}) for identity in (self.stopped.identity, plan.identity))
        if not (self.ended_cases(plan) or self.answers(plan)):
            return ()
        return tuple(name for name in now if name in then and then[name] != now[name])

    def warnings(self, plan: Plan) -> Iterator[str]:
        """Yield warnings for the summary."""
        if self.note:
            yield self.note
        if unread := self.stopped.unread:
            again = "its case runs again" if unread == 1 else "their cases run again"
            yield f"{counted(unread, 'line')} in the folder of the run {self.stopped.run} cannot be read, and {again}"
        if running := self.stopped.in_flight:
            cases = ", ".join(running[:MAX_NAMED]) + (", ..." if len(running) > MAX_NAMED else "")
            hint = "if that happens again, give -n 2: it runs these cases one by one, and only the culprit is an error"
            yield f"the run {self.stopped.run} ended without notice while it ran {cases}; {hint}"
        if changed := self.changed_files(plan):
            files = ", ".join(changed)
            yield f"{files} changed since the run {self.stopped.run}; the cases taken over keep their results"
