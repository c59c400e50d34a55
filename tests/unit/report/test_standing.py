"""How a session stands while it runs, in one line, and what of it fits in a terminal and its code page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from run_samples import NOISE, PLAIN, outcome, plan

from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Score
from pytest_rageval.report.legible import SPARKS, cut, legible, sparkline
from pytest_rageval.report.standing import Standing, duration


def test_it_tells_how_far_how_good_how_much_and_how_long() -> None:
    standing = Standing(plan())
    assert standing.text(0) == "rag: 0 of 4 cases"
    standing.take(outcome(NOISE, "q2", accuracy=Score(1.0)))
    standing.take(outcome(NOISE, "q1", "error"))
    standing.take(replace(outcome(PLAIN, "q3", token_f1=Score(0.5)), calls=Calls(3, cost_usd=0.0123)))
    assert standing.text(60, in_flight=7) == (
        "rag: 3 of 4 cases · accuracy 1.00 (n 1) · token_f1 0.50 (n 1) · 1 error · 7 in flight · $0.0123 · 20 s left"
    )


def test_a_case_that_runs_again_counts_once_and_its_cost_twice() -> None:
    standing, first = Standing(plan()), replace(outcome(NOISE, "q2", "error"), calls=Calls(1, cost_usd=0.5))
    again = replace(outcome(NOISE, "q2", accuracy=Score(0.0)), calls=Calls(1, cost_usd=None))
    standing.take(first)
    standing.take(again, first)
    assert standing.text(1) == "rag: 1 of 4 cases · accuracy 0.00 (n 1) · $0.5000"


def test_a_price_that_is_not_known_is_no_zero() -> None:
    standing, priced = Standing(plan()), outcome(NOISE, "q2", accuracy=Score(1.0))
    standing.take(replace(priced, calls=Calls(1, cost_usd=None)))
    assert "$" not in standing.text(1)
    standing.take(replace(outcome(NOISE, "q1", accuracy=Score(1.0)), calls=Calls(1, cost_usd=0.0)))
    assert standing.text(1).endswith("$0")


def test_systems_are_never_averaged() -> None:
    standing = Standing(plan())
    for system, value in (("one", 1.0), ("other", 0.0)):
        standing.take(replace(outcome(NOISE, "q2", accuracy=Score(value)), system=system, nodeid=system))
    assert "accuracy of one 1.00 (n 1) · accuracy of other 0.00 (n 1)" in standing.text(1)
    standing.take(replace(outcome(NOISE, "q2", accuracy=Score(1.0)), system="a\x1b[2J\nb", nodeid="third"))
    assert "of a\\x1b[2J\\nb 1.00" in standing.text(1)


def test_labelled_answers_and_unscored_ones_tell_nothing_of_the_systems() -> None:
    planned = plan()
    planned.testbeds[PLAIN] = replace(planned.testbeds[PLAIN], labelled=True)
    standing = Standing(planned)
    standing.take(outcome(PLAIN, "q3", token_f1=Score(0.5)))
    standing.take(outcome(NOISE, "q2", accuracy=Score(reason="not_applicable")))
    assert standing.text(1) == "rag: 2 of 4 cases"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min"), (3_540, "59 min"), (7_500, "2 h 05 min")]
)
def test_how_long_it_takes(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_what_does_not_fit_is_cut_by_columns() -> None:
    assert cut("abc", 2) == "ab"
    assert cut("基金x", 4) == "基金"
    assert cut("基金x", 3) == "基"
    assert cut("e\u0301f", 1) == "e\u0301"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("utf-8", "a – b · ▁█ 基"), ("cp1252", "a - b - _# \\u57fa"), ("ascii", "a - b - _# \\u57fa"),
     (None, "a – b · ▁█ 基"), ("gbk", "a – b · ▁█ 基"), ("no-such-code", "a - b - _# \\u57fa")],
)  # fmt: skip
def test_a_code_page_that_lacks_our_signs_gets_plain_ones(encoding: str | None, text: str) -> None:
    assert legible("a – b · ▁█ 基", encoding) == text
    assert legible("a – b", "cp1252") == "a – b"


def test_sparks_go_from_the_lowest_to_the_highest() -> None:
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    assert sparkline([0.5, None, 0.5, None]) == "▅ ▅"
    assert sparkline([0.5, 1.0], (0.0, 1.0)) == "▅█"
    assert sparkline([]) == ""
    assert sparkline([at / 7 for at in range(8)]) == SPARKS
