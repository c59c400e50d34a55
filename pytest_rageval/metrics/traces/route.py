"""Route recall: the share of the expected tool calls that a system made, in order."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample
from pytest_rageval.trace.steps import has_failed, tool_calls

__all__ = ["ROUTE_RECALL", "route_recall"]

ROUTE = "route"
"""The facet that names the expected calls."""

SEPARATOR = ">"
"""Separates the calls of a route."""


def route_recall(sample: Sample) -> Score:
    """Score how many calls of the case's route are in the trace, in the order of the route.

    Formula: the length of the longest common subsequence of the route and the names of the trace's tool calls, divided
    by the number of calls of the route. The route is the facet ``route``: names of tools with ``>`` between them, as in
    ``searchPerson > getPersonPubs``. Other calls in between do not matter. A call does not count if it raised an
    error, had invalid arguments, or found nothing.
    Range: 0..1, higher is better. Empty input: a trace without a call of the route scores 0; an answer without a trace,
    and a case without a route, are not applicable.
    Source: ours, for templates whose answers need known calls, such as the academic questions of R-Eval (Tu et al., KDD
    2024).
    """
    route = [name.strip() for name in sample.case.facets.get(ROUTE, "").split(SEPARATOR) if name.strip()]
    if not route:
        return Score.not_applicable("no_route")
    if not sample.answer.trace:
        return Score.not_applicable("no_trace")
    calls = [str(step.detail.get("name", "")) for step in tool_calls(sample.answer.trace) if not has_failed(step)]
    return Score(_common_length(route, calls) / len(route))


def _common_length(route: Sequence[str], calls: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    from rapidfuzz import distance  # a submodule first would deadlock with a thread that imports rapidfuzz

    return distance.LCSseq.similarity(route, calls)


ROUTE_RECALL = Metric("route_recall", route_recall, of="both")
