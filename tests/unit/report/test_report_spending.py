"""The session's model calls and errors in the summary and in results.json."""

from __future__ import annotations

from dataclasses import replace

from support.samples.run_samples import FINISHED, NOISE, PLAIN, STARTED, outcome, plan, take

from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.files.results_json import results_of
from pytest_rageval.report.run.json_text import decode_results
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.sections.model_usage import spent_text
from pytest_rageval.report.terminal.summary import summary_lines

CALLS = Calls(120, 100, 25, 40_000, 3_000, 0.5, 0.02)


def summary_of(run: Run, verbosity: int = 1, choice: MatrixChoice | None = None) -> list[str]:
    return [line.text for line in summary_lines(run, choice or MatrixChoice(), 200, verbosity)]


def run_of(*calls: Calls | None, usage: Usage | None = None) -> Run:
    names = [(NOISE, "q1"), (NOISE, "q2"), (PLAIN, "q3")]
    outcomes = [
        replace(outcome(*name, accuracy=Score(1.0)), calls=each, answer=Answer("x", usage=usage))
        for name, each in zip(names, calls, strict=False)
    ]
    return take(Run(STARTED, plan()), *outcomes)


def calls_line(run: Run) -> list[str]:
    return [line for line in summary_of(run) if line.startswith("model calls")]


def test_the_summary_shows_calls_tokens_and_cost() -> None:
    run = run_of(CALLS, Calls(80, 80, 0, 1_020, 911, 0.0123, 0.0))
    assert calls_line(run) == [
        "model calls: 200 (180 replayed), 25 attempts · 41,020 + 3,911 tokens · cost $0.5123 (spent now $0.0200)"
    ]
    assert not any("model calls" in line for line in summary_of(run, verbosity=-2))


def test_unclaimed_calls_are_also_counted() -> None:
    run = run_of(Calls(1, 0, 1, 10, 5, 0.00001, 0.00001))
    run.unclaimed += Calls(1, 0, 2, 10, 0, 0.00002, 0.00002)
    assert calls_line(run) == ["model calls: 2, 3 attempts · 20 + 5 tokens · cost <$0.0001"]
    without_cases = Run(STARTED, plan(), unclaimed=Calls(1, 0, 1, 10, 0, 0.0, 0.0))
    assert calls_line(without_cases) == ["model calls: 1, 1 attempt · 10 + 0 tokens · cost $0"]


def test_calls_without_a_reply_make_the_cost_a_lower_bound() -> None:
    run = run_of(CALLS)
    run.unclaimed += Calls(3, 0, 3, 10, 5, 0.25, 0.25, on_their_way=1)
    assert calls_line(run) == [
        "model calls: 123 (100 replayed), 28 attempts · at least 40,010 + 3,005 tokens · "
        "cost at least $0.7500 (spent now at least $0.2700); 1 call was on its way, its cost is unknown"
    ]
    assert spent_text(run.calls()) == "cost at least $0.7500; 1 call was on its way, its cost is unknown"
    assert spent_text(CALLS) == "cost $0.5000"
    assert spent_text(Calls(on_their_way=2)) == ""


def test_a_cancelled_call_of_unknown_cost_keeps_the_known_cost() -> None:
    run = run_of(CALLS)
    run.unclaimed += Calls(1, 0, 1, None, None, None, None)
    assert calls_line(run) == [
        "model calls: 121 (100 replayed), 26 attempts · at least 40,000 + 3,000 tokens · "
        "cost at least $0.5000 (spent now at least $0.0200)"
    ]
    without_cases = Run(STARTED, plan(), unclaimed=run.unclaimed)
    assert calls_line(without_cases) == ["model calls: 1, 1 attempt · tokens unknown · cost unknown"]


def test_unknown_usage_is_shown_as_unknown() -> None:
    assert calls_line(run_of(CALLS, Calls(1, 0, 1, None, 4, None, None))) == [
        "model calls: 121 (100 replayed), 26 attempts · tokens unknown · cost unknown"
    ]
    assert calls_line(run_of(Calls(1, 1, 0, 3, 4, None, 0.0))) == [
        "model calls: 1 (1 replayed), 0 attempts · 3 + 4 tokens · cost unknown (spent now $0)"
    ]


def test_a_run_without_model_calls_has_no_line_about_them() -> None:
    assert calls_line(run_of(Calls())) == []
    assert calls_line(run_of(None, usage=Usage(0, 0, 0.0, 0.1))) == []  # the embedded reader
    assert calls_line(run_of(None, usage=Usage(latency_s=0.1))) == []  # a system without usage
    assert calls_line(run_of(None, usage=Usage(3, 4, 0.25))) == [
        "model calls: 1, 1 attempt · 3 + 4 tokens · cost $0.2500"
    ]


def test_results_json_has_the_same_usage_as_the_summary() -> None:
    run = run_of(CALLS, Calls(1, 0, 1, None, 4, None, None))
    run.unclaimed = Calls(2, 0, 2, 1, 1, 1.0, 1.0)
    assert decode_results(results_of(run, "r", FINISHED, MatrixChoice()))["usage"] == {
        "calls": 123, "replayed": 100, "attempts": 28, "prompt_tokens": None, "completion_tokens": 3_005,
        "cost_usd": None, "spent_usd": None,
    }  # fmt: skip


def test_the_cost_of_an_earlier_attempt_is_counted() -> None:
    run = run_of(CALLS)
    take(run, replace(outcome(NOISE, "q1", accuracy=Score(1.0)), calls=Calls(1, 0, 1, 5, 5, 0.25, 0.25)))
    assert run.unclaimed == CALLS
    assert run.calls() == CALLS + Calls(1, 0, 1, 5, 5, 0.25, 0.25)


def test_errors_are_counted_by_kind_and_the_most_frequent_comes_first() -> None:
    run = run_of()
    for at, kind in enumerate(["auth", "rate_limited", "timeout", "rate_limited", "rate_limited"]):
        error = Outcome(f"{NOISE}[{at}]", str(at), NOISE, {}, "mine", "error", error="x", error_type=kind)
        run.take(encode_outcome(error), None)
    assert summary_of(run)[1] == "errors: 3 rate_limited, 1 auth, 1 timeout"
    assert not any(line.startswith("errors") for line in summary_of(run_of(CALLS)))


def test_each_pseudo_metric_has_a_matrix_with_its_unit_and_legend() -> None:
    run = run_of(None, None, None, usage=Usage(1_000, 234, 0.5, 1.25))
    for metric, text, legend in (
        ("cost_usd", "$1.0000 (2)", "cost_usd by topic x task - sum (n); ? if +k answers report no usage"),
        ("tokens", "2,468 (2)", "tokens by topic x task - sum (n); ? if +k answers report no usage"),
        (
            "latency_p95",
            "1.25 (2)*",
            "latency_p95 by topic x task - seconds (n); * < 5 cases; +k not measured; 2 of 4 cells missing",
        ),
        (
            "error_rate",
            "0.00 (2)*",
            "error_rate by topic x task - mean (n); * < 5 cases; +k unscored; 2 of 4 cells missing",
        ),
        ("n", "2 (2)", "n by topic x task - scored (n+k unscored)"),
    ):
        lines = summary_of(run, choice=MatrixChoice(metric))
        assert legend in lines
        assert any(text in line for line in lines), metric
    encoded = encode_outcome(outcome(NOISE, "late"))
    run.take({**encoded, "answer": {**encoded["answer"], "usage": None}}, None)
    lines = summary_of(run, choice=MatrixChoice("cost_usd"))
    assert any("? (2+1)" in line for line in lines)
    results = decode_results(results_of(run, "r", FINISHED, MatrixChoice("cost_usd")))
    assert results["matrix"]["cells"][0][1] == {"mean": None, "n": 2, "n_unscored": 1, "ci95": None}
    assert [m["metric"] for m in results["matrices"]] == ["cost_usd"]
