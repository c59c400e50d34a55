"""Usage of answers and sums of model calls: unknown is never zero."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.outcome_samples import failed, outcome, repeats, skipped

from pytest_rageval.analysis.cells import GAIN, Cell, cell_of
from pytest_rageval.analysis.decisions.decide import evaluate
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import PSEUDO_METRICS, parse_gate
from pytest_rageval.analysis.matrix import matrix_of
from pytest_rageval.analysis.statistics import bootstrap_interval
from pytest_rageval.analysis.usage import calls_of
from pytest_rageval.metrics.shared.proportion import wilson_interval
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Outcome, Score

REPLAYED = Calls(calls=2, replayed=2, prompt_tokens=10, completion_tokens=4, cost_usd=0.5)
LIVE = Calls(calls=1, attempts=3, prompt_tokens=5, completion_tokens=1, cost_usd=0.25, spent_usd=0.25)

OUTCOMES = [
    outcome("a", 1.0, usage=Usage(10, 5, 0.25, 1.0)),
    outcome("b", 0.0, usage=Usage(1, 0, 0.5, 3.0)),
    failed("c", usage=Usage(4, 0, 0.25, 2.0)),
    skipped("d", usage=Usage(100, 100, 100.0, 100.0)),
]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("cost_usd", Cell(1.0, 3, 0, None)),
        ("tokens", Cell(20, 3, 0, None)),
        ("latency_p50", Cell(2.0, 3, 0, None)),
        ("latency_p95", Cell(pytest.approx(2.9), 3, 0, None)),  # type: ignore[arg-type]
        ("error_rate", Cell(1 / 3, 3, 1, wilson_interval(1, 3))),
        ("n", Cell(2.0, 2, 2, None)),
    ],
)
def test_a_pseudo_metric_has_the_same_value_in_a_cell_and_in_a_gate(metric: str, expected: Cell) -> None:
    assert cell_of(metric, False, OUTCOMES) == expected
    result = evaluate(parse_gate(f"{metric} >= 0"), "test_a", OUTCOMES, {})
    assert (result.value, result.n, result.ci95) == (expected.mean, expected.n, expected.ci95)


def traced_outcome(case: str, *kinds: str, usage: Usage | None = None) -> Outcome:
    trace = tuple(Step(kind) for kind in kinds)
    return replace(outcome(case, 1.0), answer=Answer("x", trace=trace, usage=usage))


def test_calls_are_means_over_the_answers_whose_trace_records_them() -> None:
    outcomes = [
        traced_outcome("a", "tool", "retrieve", "tool", "completion", "completion", "end"),
        traced_outcome("b", "tool", "end"),
        traced_outcome("c", "retrieve", "end", usage=Usage(0, 0, 0.0)),
        traced_outcome("d"),
    ]
    stages = traced_outcome("e", "retrieve", "generate", "end")
    assert cell_of("tool_calls", False, [stages]) == Cell(None, 0, 1, None)
    assert cell_of("tool_calls", False, [traced_outcome("f", "completion", "end")]) == Cell(0.0, 1, 0, None)
    assert cell_of("tool_calls", False, outcomes) == Cell(1.0, 3, 1, None)
    assert cell_of("model_calls", False, outcomes) == Cell(1.0, 2, 2, None)
    assert cell_of("tool_calls", False, outcomes[3:]) == Cell(None, 0, 1, None)
    assert evaluate(parse_gate("tool_calls <= 1"), "test_a", outcomes, {}).status == "passed"
    assert evaluate(parse_gate("model_calls <= 0.5"), "test_a", outcomes, {}).status == "failed"
    unknown = evaluate(parse_gate("model_calls <= 6"), "test_a", outcomes[3:], {})
    assert (unknown.status, unknown.reason) == (
        "failed", "model_calls is unknown, because 1 of 1 answers report no calls of models",
    )  # fmt: skip


def test_every_pseudo_metric_can_be_a_matrix_that_counts_unknown_values() -> None:
    outcomes = [
        outcome("a", 1.0, usage=Usage(1, 1, 0.5, 1.0), topic="A", task="x"),
        outcome("b", 1.0, usage=Usage(1, 1, None, None), topic="B", task="x"),
        outcome("c", 1.0, usage=Usage(2, 1, 0.25, 3.0), topic="B", task="x"),
    ]
    for metric in PSEUDO_METRICS:
        assert matrix_of(metric, False, outcomes, "topic", "task").metric == metric
    cost = matrix_of("cost_usd", False, outcomes, "topic", "task")
    assert cost.cells == ((Cell(0.5, 1, 0, None),), (Cell(None, 1, 1, None),))
    assert cost.total == Cell(None, 2, 1, None)
    latency = matrix_of("latency_p50", False, outcomes, "topic", "task")
    assert latency.cells[1] == (Cell(3.0, 1, 1, None),)
    assert matrix_of("tokens", False, outcomes, "topic", "task").total == Cell(7, 3, 0, None)


@pytest.mark.parametrize("metric", ["cost_usd", "tokens", "latency_p50", "n"])
def test_an_unknown_cell_is_never_zero(metric: str) -> None:
    assert cell_of(metric, False, [failed("a")]).mean is None
    assert cell_of(metric, False, []).mean is None


def test_every_repeat_counts_in_cost() -> None:
    runs = [outcome("a", 1.0, usage=Usage(1, 1, 0.5, float(n)), repeat=str(n)) for n in (1, 2, 3)]
    assert cell_of("cost_usd", False, runs) == Cell(1.5, 3, 0, None)
    assert cell_of("latency_p50", False, runs) == Cell(2.0, 3, 0, None)
    assert cell_of("n", False, repeats("a", 1.0, None)) == Cell(1.0, 1, 1, None)


def latency(*outcomes: Outcome, text: str = "latency_p95 <= 1") -> GateResult:
    return evaluate(parse_gate(text), "test_a", outcomes, {})


def test_a_latency_gate_over_replayed_answers_is_skipped() -> None:
    replayed = [outcome(name, 1.0, usage=Usage(10, 4, 0.5), calls=REPLAYED) for name in "ab"]
    result = latency(*replayed)
    assert (result.status, result.value) == ("skipped", None)
    assert result.reason == "its answers were replayed, so no time was measured"
    assert latency(*replayed, failed("c")).status == "failed"  # an answer without a time
    assert latency(*replayed, text="tokens <= 28").status == "passed"


def test_a_system_replayed_without_a_model_call_has_no_time() -> None:
    replayed = [outcome(name, 1.0, usage=Usage(), calls=Calls()) for name in "ab"]
    assert latency(*replayed).status == "skipped"
    assert latency(outcome("a", 1.0, usage=Usage(), calls=LIVE)).status == "failed"  # it called a model


def test_a_latency_gate_ignores_replayed_answers_if_others_are_measured() -> None:
    replayed = outcome("a", 1.0, usage=Usage(10, 4, 0.5), calls=REPLAYED)
    result = latency(replayed, outcome("b", 1.0, usage=Usage(5, 1, 0.25, 2.0), calls=LIVE))
    assert (result.status, result.value, result.n) == ("failed", 2.0, 1)
    assert latency(outcome("a", 1.0, usage=Usage(latency_s=0.5), calls=REPLAYED)).status == "passed"


def test_an_answer_is_replayed_even_if_its_judge_was_called() -> None:
    assert latency(outcome("a", 1.0, usage=Usage(10, 4, 0.5), calls=REPLAYED + LIVE)).status == "skipped"
    assert latency(outcome("a", 1.0, usage=Usage(10, 4, 0.5), calls=LIVE)).status == "failed"


def test_a_cell_of_replayed_answers_does_not_hide_a_measured_cell() -> None:
    replayed = outcome("a", 1.0, usage=Usage(10, 4, 0.5), calls=REPLAYED, topic="A")
    for seconds, status in ((0.5, "passed"), (2.0, "failed")):
        measured = outcome("b", 1.0, usage=Usage(latency_s=seconds), topic="B")
        result = latency(replayed, measured, text="latency_p50[topic=*] <= 1")
        assert (result.status, result.value) == (status, seconds)
        assert [cell.status for cell in result.cells] == ["skipped", status]
    assert latency(replayed, text="latency_p50[topic=*] <= 1").status == "skipped"


def test_a_gate_over_cases_skipped_by_the_budget_fails() -> None:
    over_budget = outcome("b", status="skipped", error="the budget of $1 is spent", error_type="budget")
    result = evaluate(parse_gate("accuracy >= 0.5"), "test_a", [outcome("a", 1.0), over_budget], {})
    assert (result.status, result.reason) == ("failed", "1 case was not asked: the budget of $1 is spent")


def test_calls_are_summed_over_outcomes_and_calls_outside_cases() -> None:
    outcomes = [outcome("a", 1.0, calls=REPLAYED), failed("b", calls=LIVE)]
    assert calls_of(outcomes, Calls(calls=1, attempts=1, prompt_tokens=7, cost_usd=1.0, spent_usd=1.0)) == Calls(
        calls=4, replayed=2, attempts=4, prompt_tokens=22, completion_tokens=5, cost_usd=1.75, spent_usd=1.25
    )
    assert calls_of([], Calls()) == Calls()


def test_missing_calls_are_estimated_from_usage() -> None:
    with_usage = outcome("a", 1.0, usage=Usage(3, 1, 0.5, 1.0))
    free = outcome("b", 1.0, usage=Usage(0, 0, 0.0))
    assert calls_of([with_usage, free], Calls()) == Calls(1, 0, 1, 3, 1, 0.5, 0.5)
    assert calls_of([with_usage, outcome("c", 1.0)], LIVE) == Calls(3, 0, 5, None, None, None, None)
    with_calls = outcome("a", 1.0, usage=Usage(3, 1, 0.5, 1.0), calls=LIVE)
    assert calls_of([with_calls], Calls()) == LIVE  # the usage is not added to the calls


def test_calls_in_a_trace_are_counted_instead_of_estimated() -> None:
    answer = Answer("x", trace=(Step("completion"), Step("tool", {"name": "s"}), Step("completion")))
    traced = Outcome("t[a]", "a", "t", {}, "s", "scored", replace(answer, usage=Usage(30, 4, 0.5)))
    assert calls_of([traced], Calls()) == Calls(2, 0, 2, 30, 4, 0.5, 0.5)


def paired(name: str, open_book: Score, closed_book: Score, **facets: str) -> Outcome:
    scores = {"accuracy": open_book, "closed_book_accuracy": closed_book}
    return Outcome(f"t[{name}]", name, "t", facets, "s", "scored", scores=scores)


def test_the_gain_is_the_mean_difference_over_the_same_cases() -> None:
    outcomes = [
        paired("a", Score(1.0), Score(0.0)), paired("b", Score(1.0), Score(1.0)), paired("c", Score(0.0), Score(1.0)),
        paired("d", Score(1.0), Score(0.0)), paired("e", Score(1.0), Score(reason="parse_error")),
        paired("f", Score(reason="not_applicable"), Score(1.0)), failed("g"),
    ]  # fmt: skip
    assert cell_of(GAIN, False, outcomes) == Cell(0.25, 4, 3, bootstrap_interval([1.0, 0.0, -1.0, 1.0], low=-1.0))


def test_the_gain_can_be_negative_and_has_an_interval() -> None:
    outcomes = [paired(str(n), Score(0.0), Score(float(n > 0))) for n in range(4)]
    cell = cell_of(GAIN, False, outcomes)
    assert cell.mean == -0.75
    assert cell.ci95 is not None
    assert cell.ci95[0] == -1.0
    repeated = [paired("a", Score(0.0), Score(float(n > 1)), repeat=str(n)) for n in (1, 2)]
    assert cell_of(GAIN, False, repeated) == Cell(-0.5, 2, 0, None, 1)
