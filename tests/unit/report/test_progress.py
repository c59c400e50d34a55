"""The status line of a session: its content, and how it fits the terminal and its encoding."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.samples.run_samples import NOISE, PLAIN, outcome, plan

from pytest_rageval.model.calls import Calls
from pytest_rageval.model.outcome import Score
from pytest_rageval.report.terminal.status_line import Pace, PendingWork, Progress, duration, fit_parts, sum_pending
from pytest_rageval.report.text.fit_text import SPARKS, cut, legible, sparkline


def line(progress: Progress, elapsed: float = 1.0, pending: PendingWork | None = None) -> str:
    return "".join(progress.parts(elapsed, pending or PendingWork()))


def test_the_line_shows_progress_scores_and_cost() -> None:
    progress = Progress(plan())
    assert line(progress) == "rag: 0/4"
    progress.take(outcome(NOISE, "q2", accuracy=Score(1.0)))
    progress.take(outcome(NOISE, "q1", "error"))
    progress.take(replace(outcome(PLAIN, "q3", token_f1=Score(0.5)), calls=Calls(3, cost_usd=0.0123)))
    assert line(progress, 60, PendingWork(in_flight=7)) == (
        "rag: 3/4 · 1 error · 7 in flight · $0.0123 · accuracy 1.00 · token_f1 0.50"
    )


def test_unreported_work_is_shown_with_its_cost() -> None:
    progress = Progress(plan())
    progress.take(replace(outcome(NOISE, "q2", accuracy=Score(1.0)), calls=Calls(1, cost_usd=0.5)))
    assert line(progress, 1, PendingWork(2, 1, 0.25)) == "rag: 1+2/4 · 1 in flight · $0.7500 · accuracy 1.00"
    assert line(progress, 1, PendingWork(9)).startswith("rag: 1+3/4 ·"), "the count never exceeds the plan"


def test_the_pending_work_of_processes_is_summed_and_an_unknown_price_is_not_zero() -> None:
    assert sum_pending([]) == PendingWork()
    assert sum_pending([PendingWork(1, 2), PendingWork(3, 4, 0.5), PendingWork(0, 0, 0.25)]) == PendingWork(4, 6, 0.75)


def test_the_line_counts_repeats_as_runs() -> None:
    repeated_plan = plan()
    repeated_plan.facets[0]["repeat"] = "1"
    assert line(Progress(repeated_plan)) == "rag: 0/4 runs"


def test_a_case_that_runs_again_counts_once_and_its_cost_twice() -> None:
    progress, first = Progress(plan()), replace(outcome(NOISE, "q2", "error"), calls=Calls(1, cost_usd=0.5))
    second_attempt = replace(outcome(NOISE, "q2", accuracy=Score(0.0)), calls=Calls(1, cost_usd=None))
    progress.take(first)
    progress.take(second_attempt, first)
    assert line(progress) == "rag: 1/4 · $0.5000 · accuracy 0.00"


def test_an_unknown_price_is_not_zero() -> None:
    progress, priced = Progress(plan()), outcome(NOISE, "q2", accuracy=Score(1.0))
    progress.take(replace(priced, calls=Calls(1, cost_usd=None)))
    assert "$" not in line(progress)
    progress.take(replace(outcome(NOISE, "q1", accuracy=Score(1.0)), calls=Calls(1, cost_usd=0.0)))
    assert "· $0 ·" in line(progress)


def test_each_system_has_its_own_mean() -> None:
    progress = Progress(plan())
    for system, value in (("one", 1.0), ("other", 0.0)):
        progress.take(replace(outcome(NOISE, "q2", accuracy=Score(value)), system=system, nodeid=system))
    assert line(progress).endswith(" · accuracy one 1.00, other 0.00")
    progress.take(replace(outcome(NOISE, "q2", accuracy=Score(1.0)), system="a\x1b[2J\nb", nodeid="third"))
    assert ", a\\x1b[2J\\nb 1.00" in line(progress)


def test_labelled_and_unscored_answers_are_left_out_of_the_means() -> None:
    repeated_plan = plan()
    repeated_plan.testbeds[PLAIN] = replace(repeated_plan.testbeds[PLAIN], labelled=True)
    progress = Progress(repeated_plan)
    progress.take(outcome(PLAIN, "q3", token_f1=Score(0.5)))
    progress.take(outcome(NOISE, "q2", accuracy=Score(reason="not_applicable")))
    assert line(progress) == "rag: 2/4"


def test_parts_that_do_not_fit_are_replaced_by_an_ellipsis() -> None:
    parts = ["rag: 36/240", " · 2 errors", " · accuracy 基金 0.50", ", other 0.44"]
    assert fit_parts(parts, 80, "utf-8") == "".join(parts)
    assert fit_parts(parts, 50, None) == "rag: 36/240 · 2 errors · accuracy 基金 0.50 …"
    assert fit_parts(parts, 44, None) == "rag: 36/240 · 2 errors …"
    assert fit_parts(parts, 30, "ascii") == "rag: 36/240 - 2 errors ."
    assert fit_parts(parts, 5, None) == "rag: "


def times_left(steps: list[tuple[float, int]], at_once: int = 0, total: int = 120) -> list[float | None]:
    """Return the rounded time left after each step."""
    pace = Pace()
    line = [pace.seconds_left(elapsed, ended, total, at_once) for elapsed, ended in steps]
    return [None if each is None else round(each, 1) for each in line]


def test_the_time_left_waits_for_a_wave_and_then_counts_down() -> None:
    waves = [(1 + wave + at / 1000, 16 * wave + at) for wave in range(3) for at in range(1, 17)]
    line = times_left(waves, at_once=16)
    assert set(line[:16]) == {None}, "the duration of a wave is unknown until the second one ends"
    assert line[31] == 5.5
    assert line[47] == 4.5
    assert times_left([*waves, (3.9, 48)], 16)[-1] == 3.6


def test_the_time_left_ignores_the_first_case() -> None:
    steps = [(0.5, 0), *((5 + at / 20, at + 1) for at in range(60))]
    assert times_left(steps)[1] is None
    assert all(2 < each < 10 for each in times_left(steps)[10:] if each is not None)


def test_the_time_left_follows_a_changing_pace() -> None:
    slower = [*((at / 2, at) for at in range(1, 41)), *((20 + 2 * at, 40 + at) for at in range(1, 31))]
    assert times_left(slower)[39] == 40
    assert times_left(slower)[-1] == 100


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min"), (3_540, "59 min"), (7_500, "2 h 05 min")]
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_text_is_truncated_by_columns() -> None:
    assert cut("abc", 2) == "ab"
    assert cut("基金x", 4) == "基金"
    assert cut("基金x", 3) == "基"
    assert cut("e\u0301f", 1) == "e\u0301"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("utf-8", "a – b · ▁█ 基"), ("cp1252", "a - b - _# \\u57fa"), ("ascii", "a - b - _# \\u57fa"),
     (None, "a – b · ▁█ 基"), ("gbk", "a – b · ▁█ 基"), ("no-such-code", "a - b - _# \\u57fa")],
)  # fmt: skip
def test_characters_missing_from_the_encoding_are_replaced(encoding: str | None, text: str) -> None:
    assert legible("a – b · ▁█ 基", encoding) == text
    assert legible("a – b", "cp1252") == "a – b"


def test_a_sparkline_goes_from_the_lowest_to_the_highest_value() -> None:
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    assert sparkline([0.5, None, 0.5, None]) == "▅ ▅"
    assert sparkline([0.5, 1.0], (0.0, 1.0)) == "▅█"
    assert sparkline([]) == ""
    assert sparkline([at / 7 for at in range(8)]) == SPARKS
