"""Explain wrong answers: the most frequent reasons, and the tools that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pytest_rageval.analysis.type_shares import DiagnosedOutcome
from pytest_rageval.metrics.diagnosis.diagnose import WRONG
from pytest_rageval.model.outcome import DiagnosisType
from pytest_rageval.trace.steps import has_failed, tool_calls

__all__ = ["Reason", "SharedFailure", "ToolUse", "reasons_of", "shared_failures_of", "tools_of"]

MAX_REASONS = 5
"""How many reasons are listed for each wrong type."""


class Reason(NamedTuple):
    """One reason of wrong answers of one type.

    Attributes:
        system: the system that answered.
        type: the type of the answers.
        why: the reason in a few words.
        n: number of answers with this reason.
        nodeid: the first of these cases.
    """

    system: str
    type: DiagnosisType
    why: str
    n: int
    nodeid: str


class ToolUse(NamedTuple):
    """How a system used a tool.

    Attributes:
        system: the system.
        tool: the tool's name.
        calls: number of calls.
        failed: number of calls that failed.
        runs: number of answers for which the tool was called.
        share_of_runs: their share of all answers, in 0..1.
    """

    system: str
    tool: str
    calls: int
    failed: int
    runs: int
    share_of_runs: float


class SharedFailure(NamedTuple):
    """A tool that failed in answers of type TE.

    Attributes:
        system: the system.
        tool: the tool's name.
        cases: number of answers of type TE in which the tool failed.
        of: number of all answers of type TE of the system.
    """

    system: str
    tool: str
    cases: int
    of: int


def reasons_of(system: str, cases: Sequence[DiagnosedOutcome]) -> list[Reason]:
    """Return the most frequent reasons of each wrong type of a system, each with its first case."""
    reasons = []
    for kind in WRONG:
        of_type = [each for each in cases if each.outcome.system == system and each.type == kind and each.why]
        for why, n in Counter(each.why for each in of_type).most_common(MAX_REASONS):
            nodeid = next(each.outcome.nodeid for each in of_type if each.why == why)
            reasons.append(Reason(system, kind, why, n, nodeid))
    return reasons


def tools_of(system: str, cases: Sequence[DiagnosedOutcome]) -> list[ToolUse]:
    """Return how a system used each tool, the most frequently called tool first."""
    calls, failed, runs = Counter[str](), Counter[str](), Counter[str]()
    outcomes = [each.outcome for each in cases if each.outcome.system == system]
    for outcome in outcomes:
        steps = [] if outcome.answer is None else tool_calls(outcome.answer.trace)
        names = [str(step.detail.get("name") or "-") for step in steps]
        calls.update(names)
        failed.update(name for name, step in zip(names, steps, strict=True) if has_failed(step))
        runs.update(set(names))
    return [
        ToolUse(system, name, n, failed[name], runs[name], runs[name] / len(outcomes))
        for name, n in calls.most_common()
    ]


def shared_failures_of(system: str, cases: Sequence[DiagnosedOutcome]) -> list[SharedFailure]:
    """Return the tools that failed in a system's answers of type TE, the most frequent first."""
    answers = [each.outcome.answer for each in cases if each.outcome.system == system and each.type == "TE"]
    tools = Counter[str]()
    for answer in answers:
        steps = () if answer is None else tool_calls(answer.trace)
        tools.update({str(step.detail.get("name") or "-") for step in steps if has_failed(step)})
    return [SharedFailure(system, tool, n, len(answers)) for tool, n in tools.most_common()]
