"""Verdicts of gates: value, reason, worst cases and cells."""

from __future__ import annotations

import pytest
from support.samples.outcome_samples import failed, outcome, repeats, skipped

from pytest_rageval.analysis.decisions.decide import evaluate
from pytest_rageval.analysis.decisions.unscored_reasons import NOT_ASKED
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.statistics import bootstrap_interval
from pytest_rageval.metrics.shared.proportion import wilson_interval
from pytest_rageval.model.answer import Usage
from pytest_rageval.model.outcome import Outcome

METRICS = {"accuracy": MetricInfo(binary=True), "token_f1": MetricInfo()}


def judge(text: str, outcomes: list[Outcome], unasked: int = 0) -> GateResult:
    return evaluate(parse_gate(text), "test_a", outcomes, METRICS, unasked)


def ids(result: GateResult) -> list[str]:
    return [nodeid.partition("[")[2].rstrip("]") for nodeid, _ in result.worst]


def test_a_gate_within_its_bound_passes_and_reports_its_numbers() -> None:
    outcomes = [outcome("a", 1.0), outcome("b", 1.0), outcome("c", 0.0), failed("d", 1.0), outcome("e", "parse_error")]
    result = judge("accuracy >= 0.6", outcomes)
    assert (result.status, result.scope, str(result.gate)) == ("passed", "test_a", "accuracy >= 0.6")
    assert result.value == pytest.approx(2 / 3)
    assert (result.n, result.n_errors) == (3, 1)
    assert result.ci95 == wilson_interval(2, 3)
    assert (result.slice, result.reason, result.worst, result.cells) == ({}, None, (), ())


def test_a_gate_outside_its_bound_fails_and_lists_the_worst_cases() -> None:
    values = {"a": 0.9, "b": 0.1, "c": 0.4, "d": 0.1, "e": 0.0, "f": 0.3, "g": 0.2}
    result = judge("token_f1 >= 0.5", [outcome(name, value, metric="token_f1") for name, value in values.items()])
    assert result.status == "failed"
    assert result.reason == "token_f1 is 0.2857"
    assert ids(result) == ["e", "b", "d", "g", "f"]
    assert [value for _, value in result.worst] == [0.0, 0.1, 0.1, 0.2, 0.3]
    assert result.ci95 == bootstrap_interval(list(values.values()))


def test_the_worst_cases_of_an_upper_bound_have_the_highest_values() -> None:
    outcomes = [outcome(name, value, metric="token_f1") for name, value in (("a", 0.1), ("b", 0.9), ("c", 0.5))]
    assert ids(judge("token_f1 <= 0.2", outcomes)) == ["b", "c", "a"]
    assert ids(judge("token_f1 < 0.2", outcomes)) == ["b", "c", "a"]
    assert ids(judge("token_f1 > 0.7", outcomes)) == ["a", "c", "b"]


def test_a_case_with_an_error_is_not_among_the_worst() -> None:
    outcomes = [outcome("a", 0.4), failed("b", 0.0), outcome("c", "parse_error"), skipped("d"), outcome("e", 0.2)]
    assert ids(judge("accuracy >= 0.5", outcomes)) == ["e", "a"]


def test_a_gate_with_a_slice_ignores_other_cases() -> None:
    outcomes = [outcome("a", 1.0, rate="0.8"), outcome("b", 0.0, rate="0.4"), outcome("c", 0.0), failed("d", rate="0")]
    result = judge("accuracy[rate=0.80] >= 1", outcomes)
    assert (result.status, result.value, result.n, result.n_errors) == ("passed", 1.0, 1, 0)
    assert result.slice == {"rate": "0.80"}


def test_a_gate_without_cases_is_skipped() -> None:
    for outcomes in ([], [outcome("a", 1.0, topic="B")]):
        result = judge("accuracy[topic=A] >= 0.5", outcomes)
        assert (result.status, result.value, result.n) == ("skipped", None, 0)
        assert result.reason == "all its cases were deselected"


def test_a_gate_is_skipped_if_some_of_its_cases_did_not_run() -> None:
    result = judge("accuracy >= 0.5", [outcome("a", 0.0)], unasked=3)
    assert (result.status, result.value) == ("skipped", None)
    assert result.reason == "3 of its cases did not run, because the session stopped early"


def test_a_gate_without_a_score_fails_with_the_reason() -> None:
    outcomes = [failed("a"), failed("b", 1.0), outcome("c", "parse_error"), outcome("d", "judge_unavailable")]
    result = judge("accuracy >= 0", outcomes)
    assert (result.status, result.value, result.n, result.n_errors, result.ci95) == ("failed", None, 0, 2, None)
    assert result.reason == "nothing was scored: 4 cases, 2 errors (judge_unavailable; parse_error)"
    assert judge("accuracy >= 0", [skipped("a")]).reason == "nothing was scored: 1 cases, 0 errors"


def test_a_gate_over_cases_that_were_not_asked_fails() -> None:
    not_asked = outcome("b", status="skipped", error="the system returned 3", error_type=NOT_ASKED)
    result = judge("accuracy >= 0.5", [outcome("a", 1.0), not_asked])
    assert (result.status, result.value) == ("failed", 1.0)
    assert result.reason == "1 case was not asked: the system returned 3"


def test_a_star_requires_the_bound_in_every_cell() -> None:
    outcomes = [
        outcome("a1", 1.0, topic="A"), outcome("a2", 1.0, topic="A"), outcome("b1", 1.0, topic="B"),
        outcome("b2", 0.0, topic="B"), outcome("c1", 0.0, topic="C"), outcome("none", 0.0),
    ]  # fmt: skip
    result = judge("accuracy[topic=*] >= 0.6", outcomes)
    assert (result.status, result.value, result.n, result.slice) == ("failed", 0.0, 1, {"topic": "C"})
    assert str(result.gate) == "accuracy[topic=*] >= 0.6"
    assert [(c.slice, c.status, c.value, c.n) for c in result.cells] == [
        ({"topic": "A"}, "passed", 1.0, 2),
        ({"topic": "B"}, "failed", 0.5, 2),
        ({"topic": "C"}, "failed", 0.0, 1),
    ]
    assert ids(result) == ["c1"]


def test_a_star_that_passes_reports_the_cell_nearest_to_the_bound() -> None:
    outcomes = [outcome("a", 0.9, topic="A"), outcome("b", 0.7, topic="B")]
    low, high = judge("accuracy[topic=*] >= 0.6", outcomes), judge("accuracy[topic=*] <= 0.95", outcomes)
    assert (low.status, low.value, low.slice) == ("passed", 0.7, {"topic": "B"})
    assert (high.status, high.value, high.slice) == ("passed", 0.9, {"topic": "A"})


def test_a_cell_of_a_star_without_a_score_fails_the_gate() -> None:
    result = judge("accuracy[topic=*] >= 0", [outcome("a", 0.0, topic="A"), failed("b", topic="B")])
    assert (result.status, result.value, result.slice) == ("failed", None, {"topic": "B"})
    assert result.reason == "nothing was scored at topic=B: 1 cases, 1 errors"


def test_a_cell_that_fails_for_another_reason_decides_before_a_lower_value() -> None:
    not_asked = outcome("b2", status="skipped", error="it broke", error_type=NOT_ASKED, topic="B")
    result = judge("accuracy[topic=*] >= 0.6", [outcome("a", 0.7, topic="A"), outcome("b", 1.0, topic="B"), not_asked])
    assert (result.status, result.value, result.slice) == ("failed", 1.0, {"topic": "B"})


def test_two_stars_make_a_cell_of_each_existing_pair_of_values() -> None:
    outcomes = [
        outcome("a", 1.0, topic="A", task="x", rate="0"), outcome("b", 1.0, topic="A", task="y", rate="0"),
        outcome("c", 0.0, topic="B", task="y", rate="0"), outcome("d", 0.0, topic="B", task="x", rate="1"),
    ]  # fmt: skip
    result = judge("accuracy[topic=*, rate=0, task=*] >= 1", outcomes)
    assert [c.slice for c in result.cells] == [
        {"topic": "A", "rate": "0", "task": "x"},
        {"topic": "A", "rate": "0", "task": "y"},
        {"topic": "B", "rate": "0", "task": "y"},
    ]
    assert result.slice == {"topic": "B", "rate": "0", "task": "y"}


def test_topics_with_the_same_name_under_different_parents_are_two_cells() -> None:
    outcomes = [
        *(outcome(f"a{at}", float(at < 1), topic_1="保险", topic="基金", task="qa") for at in range(3)),
        *(outcome(f"b{at}", float(at < 3), topic_1="投资", topic="基金", task="qa") for at in range(6)),
        outcome("c", 1.0, topic_1="投资", topic="股票", task="qa"),
        outcome("d", 1.0, topic="基金", task="qa"),
    ]
    result = judge("accuracy[topic=*, task=*] >= 0.4", outcomes)
    assert (result.status, result.value, result.n) == ("failed", 1 / 3, 3)
    assert [(c.slice, c.n) for c in result.cells] == [
        ({"topic_1": "-", "topic": "基金", "task": "qa"}, 1),
        ({"topic_1": "保险", "topic": "基金", "task": "qa"}, 3),
        ({"topic_1": "投资", "topic": "基金", "task": "qa"}, 6),
        ({"topic": "股票", "task": "qa"}, 1),
    ]
    assert list(result.cells[1].slice or ()) == ["topic_1", "topic", "task"]
    assert [c.n for c in judge("accuracy[topic=*, min_n=5] >= 0.4", outcomes).small] == [1, 3, 1]
    assert [c.n for c in judge("accuracy[topic_1=*, topic=基金] >= 0.4", outcomes).cells] == [3, 6]
    by_name = judge("accuracy[topic=基金, min_n=5] >= 0.4", outcomes)
    assert (by_name.status, by_name.value, by_name.n, by_name.cells) == ("passed", 0.5, 10, ())


def test_n_counts_scored_cases_and_fails_if_there_are_none() -> None:
    outcomes = [outcome("a", 1.0), outcome("b", "parse_error"), failed("c"), skipped("d")]
    result = judge("n >= 3", outcomes)
    assert (result.status, result.value, result.n, result.n_errors, result.ci95) == ("failed", 2.0, 2, 1, None)
    assert result.reason == "n is 2"
    assert judge("n >= 2", outcomes).status == "passed"
    for text in ("n >= 1", "n <= 5"):
        nothing = judge(text, [failed("c")])
        assert (nothing.status, nothing.value, nothing.n_errors) == ("failed", None, 1)


def test_the_error_rate_covers_all_cases_that_ran() -> None:
    outcomes = [outcome("a", 1.0), failed("b"), outcome("c", "parse_error"), failed("d", 1.0), skipped("e")]
    result = judge("error_rate <= 1%", outcomes)
    assert (result.status, result.value, result.n, result.n_errors) == ("failed", 0.5, 4, 2)
    assert result.ci95 == wilson_interval(2, 4)
    assert result.worst == (("test_a.py::test_a[b]", None), ("test_a.py::test_a[d]", None))
    assert len(judge("error_rate < 1", [failed(str(number)) for number in range(9)]).worst) == 5
    assert judge("error_rate <= 0", [outcome("a", "parse_error")]).status == "passed"


def test_latency_covers_only_cases_with_a_known_time() -> None:
    times = [outcome(str(t), 1.0, usage=Usage(latency_s=float(t))) for t in (4, 1, 3, 2, 100)]
    outcomes = [*times, outcome("unknown", 1.0, usage=Usage()), outcome("none", 1.0), failed("broken")]
    median, tail = judge("latency_p50 <= 3", outcomes), judge("latency_p95 <= 3", outcomes)
    assert (median.status, median.value, median.n, median.ci95) == ("passed", 3.0, 5, None)
    assert (tail.status, tail.n, tail.worst[:2]) == (
        "failed",
        5,
        (("test_a.py::test_a[100]", 100.0), ("test_a.py::test_a[4]", 4.0)),
    )
    assert tail.value == pytest.approx(80.8)
    assert judge("latency_p50 <= 3", [outcome("none", 1.0)]).status == "failed"


def test_cost_and_tokens_are_sums_and_unknown_if_one_answer_has_none() -> None:
    outcomes = [
        outcome("a", 1.0, usage=Usage(10, 5, 0.25)),
        outcome("b", 0.0, usage=Usage(1, 0, 0.5)),
        skipped("c"),
    ]
    cost, tokens = judge("cost_usd <= 0.75", outcomes), judge("tokens < 16", outcomes)
    assert (cost.status, cost.value, cost.n, cost.ci95) == ("passed", 0.75, 2, None)
    assert (tokens.status, tokens.value, tokens.n) == ("failed", 16, 2)
    with_unknown = [*outcomes, outcome("d", 1.0, usage=Usage(prompt_tokens=3))]
    for text, what in (("cost_usd <= 100", "cost"), ("tokens <= 1e6", "tokens")):
        result = judge(text, with_unknown)
        assert (result.status, result.value) == ("failed", None)
        assert result.reason == f"{result.gate.metric} is unknown, because 1 of 3 answers report no {what}"


def test_an_unknown_metric_gets_the_bootstrap_interval() -> None:
    outcomes = [
        outcome("a", 0.0, metric="custom"),
        outcome("b", 1.0, metric="custom"),
        outcome("c", 1.0, metric="custom"),
    ]
    assert judge("custom >= 0", outcomes).ci95 == bootstrap_interval([0.0, 1.0, 1.0])


KNEW_GATE = "accuracy[knew=true] >= 0.5"


@pytest.mark.parametrize("gate", [KNEW_GATE, "accuracy[knew=*] >= 0.5"])
def test_a_case_that_was_not_asked_may_be_one_that_the_model_knew(gate: str) -> None:
    not_asked = outcome("b", status="skipped", error="the budget is spent", error_type="budget")
    result = judge(gate, [outcome("a", 1.0, knew="true"), not_asked])
    assert (result.status, result.value) == ("failed", None)
    assert result.reason == "1 case was not asked: the budget is spent"


def test_a_gate_on_known_answers_fails_without_a_case_that_the_model_knew() -> None:
    result = judge(KNEW_GATE, [outcome("a", 1.0), failed("b")])
    assert (result.status, result.n_errors) == ("failed", 1)
    assert result.reason == "nothing was scored: no case of 2 shows whether the model knew the answer"
    result = judge(KNEW_GATE, [outcome("a", 1.0, knew="false"), failed("b")])
    assert result.reason == "nothing was scored: no case of 2 has knew=true"
    assert judge(KNEW_GATE, [outcome("a", 1.0, knew="true"), failed("b")]).status == "passed"
    assert judge("accuracy[knew=true, topic=x] >= 0", [outcome("a", 1.0, knew="true")]).status == "skipped"


def topics(**sizes: int) -> list[Outcome]:
    """Return the given number of right cases for each topic."""
    return [outcome(f"{topic}{at}", 1.0, topic=topic) for topic, n in sizes.items() for at in range(n)]


def test_a_cell_with_too_few_cases_is_skipped_with_the_reason() -> None:
    result = judge("accuracy[topic=A, min_n=5] >= 0.6", topics(A=3, B=9))
    assert (result.status, result.reason, result.value, result.n) == ("skipped", "too few: n 3 < 5", 1.0, 3)
    assert judge("accuracy[min_n=5] >= 0.6", topics(A=5)).status == "passed"
    assert (
        judge("accuracy[min_n=5] >= 0.6", [*topics(A=4), outcome("x", "not_applicable: no number")]).status == "skipped"
    )


def test_only_cells_with_enough_cases_decide_a_gate() -> None:
    few_and_wrong = [*topics(A=5, C=1), outcome("b", 0.0, topic="B")]
    result = judge("accuracy[topic=*, min_n=5] >= 0.6", few_and_wrong)
    assert (result.status, result.slice, result.n) == ("passed", {"topic": "A"}, 5)
    assert [(cell.slice, cell.status, cell.reason) for cell in result.cells] == [
        ({"topic": "A"}, "passed", None),
        ({"topic": "B"}, "skipped", "too few: n 1 < 5"),
        ({"topic": "C"}, "skipped", "too few: n 1 < 5"),
    ]
    assert result.small == result.cells[1:]
    missed = judge("accuracy[topic=*, min_n=5] >= 0.6", [*few_and_wrong, *[outcome("d", 0.0, topic="D")] * 6])
    assert (missed.status, missed.slice, len(missed.small)) == ("failed", {"topic": "D"}, 2)


def test_a_gate_with_only_small_cells_does_not_pass() -> None:
    result = judge("accuracy[topic=*, min_n=5] >= 0.6", topics(A=3, B=4))
    assert (result.status, result.reason) == ("skipped", "too few in each of 2 cells: at most n 4 < 5")


def test_a_cell_that_is_small_because_of_errors_fails() -> None:
    outcomes = [*topics(A=2), failed("x", topic="A"), outcome("y", "judge_unavailable", topic="A"), skipped("z")]
    result = judge("accuracy[min_n=4] >= 0.6", outcomes)
    assert result.status == "failed"
    assert result.reason == "too few: n 2 < 4, because 2 more could not be scored (judge_unavailable)"
    assert judge("accuracy[min_n=5] >= 0.6", outcomes).status == "skipped"
    assert judge("cost_usd[min_n=2] <= 1", topics(A=2)).reason == "too few: n 0 < 2, because 2 more could not be scored"


def test_repeats_count_as_one_case_for_min_n() -> None:
    outcomes = [*repeats("a", 1.0, 1.0, 1.0), *repeats("b", 1.0, None, 1.0), *repeats("c", None, None, None)]
    assert judge("accuracy[min_n=2] >= 0.6", outcomes).status == "passed"
    assert judge("accuracy[min_n=3] >= 0.6", outcomes).reason == "too few: n 2 < 3, because 1 more could not be scored"
    assert judge("accuracy[min_n=4] >= 0.6", outcomes).reason == "too few: n 2 < 4"


def test_a_gate_over_cells_names_the_failing_cell_before_the_cause() -> None:
    wrong, right = outcome("a", 0.0, topic="B", rate="0.8"), outcome("b", 1.0, topic="A", rate="0.8")
    assert judge("accuracy[topic=*] >= 0.5", [wrong, right]).reason == "accuracy is 0 at topic=B"
    assert judge("accuracy[rate=0.8, topic=*] >= 0.5", [wrong, right]).reason == "accuracy is 0 at topic=B"
    error = failed("c", topic="C", rate="0.8")
    assert (
        judge("accuracy[topic=*] >= 0.5", [right, error]).reason == "nothing was scored at topic=C: 1 cases, 1 errors"
    )
    assert judge("accuracy[topic=*, min_n=2] >= 0.5", [right]).reason == "too few: n 1 < 2"


@pytest.mark.parametrize("topic", ["C", "T: one", "x at y: z"])
def test_a_reason_without_its_cause_names_the_whole_cell(topic: str) -> None:
    right, wrong, other_wrong = (outcome("a", value, topic=at) for value, at in ((1.0, "A"), (0.0, topic), (0.0, "B")))
    assert judge("accuracy[topic=*] >= 0.5", [right, wrong]).bare_reason == f"accuracy is 0 at topic={topic}"
    nothing = judge("accuracy[topic=*] >= 0.5", [right, failed("c", topic=topic)])
    assert nothing.bare_reason == f"nothing was scored at topic={topic}"
    assert judge("accuracy >= 0.5", [failed("c", topic=topic)]).bare_reason == "nothing was scored"
    small = judge("accuracy[topic=*, min_n=5] >= 0.5", [right, other_wrong])
    assert small.bare_reason == "too few in each of 2 cells"


@pytest.mark.parametrize(
    ("values", "minimum", "reason"),
    [
        ([1.0, "no_ranking"], 0.5, None),
        ([1.0, "no_ranking", "no_ranking: b"], 0.5,
         "too few scored, 1 of 3: 2 unscored (no_ranking) (rag_min_compared = 0.5)"),
        ([1.0, "no_ranking", "no_texts", "no_texts"], 0.0, None),
        ([1.0, "no_ranking", "no_texts", "no_texts"], 0.5,
         "too few scored, 1 of 4: 2 unscored (no_texts), 1 unscored (no_ranking) (rag_min_compared = 0.5)"),
        ([1.0, "not_applicable: no_qrels", "not_applicable", "not_applicable"], 1.0, None),
    ],
)  # fmt: skip
def test_a_gate_fails_if_too_few_answers_have_a_value(
    values: list[float | str], minimum: float, reason: str | None
) -> None:
    outcomes = [outcome(f"q{at}", value) for at, value in enumerate(values)]
    result = evaluate(parse_gate("accuracy >= 0.5"), "test_a", outcomes, METRICS, least=minimum)
    assert (result.status, result.reason) == ("failed" if reason else "passed", reason)


def test_a_missed_bound_is_reported_instead_of_missing_values() -> None:
    result = judge("accuracy >= 0.5", [outcome("a", 0.0), outcome("b", "no_ranking"), outcome("c", "no_ranking")])
    assert (result.reason, result.unscored) == ("accuracy is 0", {"no_ranking": 2})


def test_a_cell_with_too_few_values_fails_and_is_named() -> None:
    outcomes = [outcome("a", 1.0, topic="A"), outcome("b", 1.0, topic="B"), outcome("c", "no_ranking", topic="B")]
    outcomes.append(outcome("d", "no_ranking", topic="B"))
    reason = judge("accuracy[topic=*] >= 0.5", outcomes).reason
    assert reason == "too few scored, 1 of 3 at topic=B: 2 unscored (no_ranking) (rag_min_compared = 0.5)"
