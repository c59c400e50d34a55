"""route_recall: the share of a route's calls in a trace, in order, computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.metric_samples import sample, value

from pytest_rageval.metrics.traces.route import ROUTE_RECALL
from pytest_rageval.model.answer import Step
from pytest_rageval.model.sample import Sample

END = Step("end", {"reason": "finished"})
CALLS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6)


def sample_with_calls(route: str, steps: Sequence[Step | str]) -> Sample:
    """Return a sample with a route and a trace; a string stands for a call of that tool."""
    base = sample("An answer")
    trace = tuple(Step("tool", {"name": step}) if isinstance(step, str) else step for step in steps)
    facets = {"route": route} if route else {}
    return replace(base, case=replace(base.case, facets=facets), answer=replace(base.answer, trace=trace))


@pytest.mark.parametrize(
    ("route", "steps", "expected"),
    [
        ("a > b > c", ["a", "x", "b", "b", "c", END], 1.0),
        ("a > b > c", ["c", "b", "a"], 1 / 3),
        ("a > b > c", ["b", "c", "a"], 2 / 3),
        ("a>b", ["a"], 0.5),
        ("a > a", ["a"], 0.5),
        ("a", ["A", END], 0.0),
        ("a > b", [Step("tool", {"name": "a", "error": "LookupError: no person"}), "b"], 0.5),
        ("a > b", ["a", Step("tool", {"name": "b", "invalid": True, "result": "b needs x."})], 0.5),
        ("a > b", [Step("tool", {"name": "a", "found": False}), "b"], 0.5),
        ("a", [Step("tool", {"name": "a", "found": True})], 1.0),
        ("a", [Step("thought", {"name": "a"}), Step("tool")], 0.0),
        ("a", [], "not_applicable: no_trace"),
        (" > ", ["a"], "not_applicable: no_route"),
        ("", ["a"], "not_applicable: no_route"),
    ],
)
def test_calls_count_only_in_the_order_of_the_route(route: str, steps: list[Step | str], expected: float | str) -> None:
    score = value(ROUTE_RECALL, sample_with_calls(route, steps))
    assert score == (expected if isinstance(expected, str) else pytest.approx(expected))


@given(CALLS.filter(bool), CALLS, CALLS, CALLS)
def test_more_calls_never_lower_the_recall_and_the_whole_route_scores_1(
    route: list[str], before: list[str], between: list[str], after: list[str]
) -> None:
    def score_of(calls: list[str]) -> float:
        score = value(ROUTE_RECALL, sample_with_calls(" > ".join(route), [*calls, END]))
        assert isinstance(score, float)
        return score

    partial = score_of(between)
    assert 0 <= partial <= score_of([*before, *between, *after]) <= 1
    assert partial * len(route) == pytest.approx(round(partial * len(route)))
    assert score_of([*before, *route, *after]) == 1
    assert score_of(["z"]) == 0
