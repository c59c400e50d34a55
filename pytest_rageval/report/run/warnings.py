"""The warnings of a run, for the summary and the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.gate_results import ungated_testbeds
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.text.lines import counted
from pytest_rageval.trace.steps import has_failed, tool_calls

__all__ = ["unrecorded_results", "warnings_of"]


def warnings_of(plan: Plan, undecided: Iterable[tuple[str, str]], unscored: Mapping[str, int]) -> list[str]:
    """Return the warnings of a run: about its data, gates that may hide a drop, and testbeds that cannot fail.

    Args:
        plan: the run's plan.
        undecided: (scope, gate) of each gate that holds but may hide a drop.
        unscored: metric -> number of compared cases with a score in the baseline only.
    """
    notes = [f"{testbed.name}: {note}" for testbed in plan.testbeds.values() for note in testbed.notes]
    notes += plan.notes
    if plan.inconclusive == "warn":
        notes += [
            f"{scope}: {gate} is inconclusive; rag_inconclusive = fail would fail it" for scope, gate in undecided
        ]
    notes += _lost_scores(plan, unscored)
    notes += [
        f"{name}: no gate and no assertion decides this testbed; it cannot fail" for name in ungated_testbeds(plan)
    ]
    return notes


def _lost_scores(plan: Plan, unscored: Mapping[str, int]) -> Iterator[str]:
    """Yield a warning for each metric with a baseline gate that does not compare some of the baseline's scores."""
    texts = [*plan.session_gates, *(gate for testbed in plan.testbeds.values() for gate in testbed.gates)]
    metrics = {gate.metric for gate in map(parse_gate, texts) if gate.baseline} if unscored and not plan.updates else ()
    for metric, n in unscored.items():
        if metric in metrics:
            cases = f"{counted(n, 'case')} that the baseline scored"
            yield f"{metric} has no value in {cases}, so its gates compare only the other cases"


def unrecorded_results(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a warning if successful tool calls have no result in the trace.

    Privacy settings of agent libraries can cause it. Nobody can then check whether such an answer is grounded.
    """
    traces = [outcome.answer.trace for outcome in outcomes if outcome.answer is not None]
    number = sum(
        any(not {"result", "passages"} & step.detail.keys() and not has_failed(step) for step in tool_calls(trace))
        for trace in traces
    )
    return [f"the results of tools were not recorded in {counted(number, 'answer')}"] if number else []
