"""The cost table of a dry run."""

from __future__ import annotations

import re
from itertools import pairwise

from pytest_rageval.engine.estimate import Estimate
from pytest_rageval.report.terminal.dry_run import dry_run_lines

HEAD = "testbed system asked model cases calls recorded prompt tokens reply tokens USD"
NAMES = {"t.py::one": "one"}


def cells(*estimates: Estimate) -> list[list[str]]:
    """Return the cells of the table by row; the total is the last row."""
    head, rule, *rows = list(dry_run_lines(estimates, NAMES))[:-3]
    assert " ".join(head.split()) == HEAD
    starts = [match.start() for match in re.finditer(r"-+", rule)] + [len(rule)]
    return [[row[a:b].strip() for a, b in pairwise(starts)] for row in rows]


def estimate(what: str = "answer", calls: int | None = 2, recorded: int = 0, **more: object) -> Estimate:
    fields: dict[str, object] = {"prompt_tokens": 1_234, "completion_tokens": 20, "cost_usd": 0.5, **more}
    return Estimate("t.py::one", "llm", what, "openai/m", 2, calls, recorded, **fields)  # type: ignore[arg-type]


def test_exact_counts_are_shown_and_summed() -> None:
    row, total = cells(estimate())
    assert row == ["one", "llm", "answer", "openai/m", "2", "2", "0", "1,234", "20", "0.5000"]
    assert total == ["all", "", "", "", "2", "2", "0", "1,234", "20", "0.5000"]


def test_cases_are_counted_once_despite_several_calls() -> None:
    *_, total = cells(estimate(), estimate("tone"))
    assert total == ["all", "", "", "", "2", "4", "0", "2,468", "40", "1.0000"]


def test_an_estimate_and_its_sum_are_marked() -> None:
    exact, estimated, total = cells(estimate(), estimate("tone", exact=False))
    assert (exact[7:], estimated[7:]) == (["1,234", "20", "0.5000"], ["~1,234", "20", "~0.5000"])
    assert total[7:] == ["~2,468", "40", "~1.0000"]
    assert cells(estimate(bounded=False))[0][7:] == ["1,234", "~20", "~0.5000"]


def test_unknown_counts_are_shown_as_question_marks() -> None:
    row, unknown, total = cells(estimate(), estimate("tone", None))
    assert unknown[5:] == ["?", "0", "?", "?", "?"]
    assert row[5:] == ["2", "0", "1,234", "20", "0.5000"]
    assert total[5:] == ["2+?", "0", "1,234+?", "20+?", "?"]


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    row, priced, total = cells(estimate(cost_usd=None), estimate("tone"))
    assert (row[9], priced[9], total[9]) == ("?", "0.5000", "?")


def test_recorded_calls_cost_nothing() -> None:
    row, total = cells(estimate(recorded=2, prompt_tokens=0, completion_tokens=0, cost_usd=0.0))
    assert row[5:] == ["2", "2", "", "", "0.0000"]
    assert total[5:] == ["2", "2", "0", "0", "0.0000"]


def test_a_system_without_a_model_has_a_dash() -> None:
    row, _ = cells(Estimate("t.py::one", "extractive", "answer", "", 3))
    assert row == ["one", "extractive", "answer", "–", "3", "0", "0", "", "", "0.0000"]


def test_the_last_lines_explain_the_signs_and_say_that_nothing_was_sent() -> None:
    *_, blank, legend, last = dry_run_lines([estimate()], NAMES)
    assert (blank, last) == ("", "Nothing was asked.")
    assert legend.startswith("~ is an estimate; without ~, reply tokens and USD are upper bounds; ?")
