"""Why answers are wrong: the commonest reasons, the tools and their failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pytest_rageval.analysis.type_shares import DiagnosedOutcome
from pytest_rageval.metrics.diagnosis.diagnose import WRONG
from pytest_rageval.model.outcome import DiagnosisType
from pytest_rageval.trace.steps import has_failed, tool_calls

__all__ = ["Reason", "SharedFailure", "ToolUse", "reasons_of", "shared_failures_of", "tools_of"]

NAMED = 5
"""Number of reasons that are listed for each wrong type."""


class Reason(NamedTuple):
    """A reason of a wrong type: how often it occurs, and one of its cases."""

    system: str
    type: DiagnosisType
    why: str
    n: int
    nodeid: str


class ToolUse(NamedTuple):
    """How a system used a tool: calls, failed calls, and the share of runs that called it."""

    system: str
    tool: str
    calls: int
    failed: int
    runs: int
    share_of_runs: float


class SharedFailure(NamedTuple):
    """In how many of a system's answers of type TE a tool failed."""

    system: str
    tool: str
    cases: int
    of: int


def reasons_of(system: str, cases: Sequence[DiagnosedOutcome]) -> list[Reason]:
    """Return the commonest reasons of each wrong type of a system, each with its first case."""
    reasons = []
    for kind in WRONG:
        mine = [each for each in cases if each.outcome.system == system and each.type == kind and each.why]
        for why, n in Counter(each.why for each in mine).most_common(NAMED):
            nodeid = next(each.outcome.nodeid for each in mine if each.why == why)
            reasons.append(Reason(system, kind, why, n, nodeid))
    return reasons


def tools_of(system: str, cases: Sequence[DiagnosedOutcome]) -> list[ToolUse]:
    """Return how a system used its tools, the most called first."""
    calls, failed, runs = Counter[str](), Counter[str](), Counter[str]()
    mine = [each.outcome for each in cases if each.outcome.system == system]
    for outcome in mine:
        steps = [] if outcome.answer is None else tool_calls(outcome.answer.trace)
        names = [str(step.detail.get("name") or "-") for step in steps]
        calls.update(names)
        failed.update(name for name, step in zip(names, steps, strict=True) if has_failed(step))
        runs.update(set(names))
    return [
        ToolUse(system, name, n, failed[name], runs[name], runs[name] / len(mine)) for name, n in calls.most_common()
    ]


def shared_failures_of(system: str, cases: Sequence[DiagnosedOutcome]) -> list[SharedFailure]:
    """Return the tools that failed in a system's answers of type TE, the most frequent first."""
    answers = [each.outcome.answer for each in cases if each.outcome.system == system and each.type == "TE"]
    tools = Counter[str]()
    for answer in answers:
        steps = () if answer is None else tool_calls(answer.trace)
        tools.update({str(step.detail.get("name") or "-") for step in steps if has_failed(step)})
    return [SharedFailure(system, tool, n, len(answers)) for tool, n in tools.most_common()]
