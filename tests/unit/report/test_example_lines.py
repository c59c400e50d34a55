"""Examples of a cause take few lines and show the difference."""

from __future__ import annotations

import pytest
from wcwidth import wcswidth

from pytest_rageval.report.run.examples import Example
from pytest_rageval.report.terminal.example_lines import example_lines

START = "The tram number 4 stops at the door of the museum, " * 4


def lines(width: int, **more: str) -> list[str]:
    texts = {"question": "Who built the hall?", "wanted": "Ann Lee", "was": "Ann Lee", "now": "Bo Ek"} | more
    return [line.text for line in example_lines(Example("t.py::t[hall]", "hall", **texts), width)]


def test_a_case_that_fits_takes_one_line() -> None:
    assert lines(80) == ['      hall  "Who built the hall?"  wanted "Ann Lee"  was "Ann Lee"  now "Bo Ek"']


def test_only_a_long_question_is_truncated() -> None:
    first, second = lines(80, question=START)
    assert first.endswith('..."')
    assert second == '        wanted "Ann Lee"  was "Ann Lee"  now "Bo Ek"'


@pytest.mark.parametrize(("width", "n"), [(80, 3), (100, 3), (120, 2), (200, 2)])
def test_long_answers_begin_shortly_before_their_difference(width: int, n: int) -> None:
    example = lines(width, was=f"{START}built by Ann Lee.", now=f"{START}built by Bo Ek.", evidence="rank 1 -> missing")
    assert len(example) == n
    assert max(map(wcswidth, example)) <= width
    assert "Ann Lee." in example[-1]
    assert "Bo Ek." in example[-1]
    assert example[-1].count('"...') == 2
    assert sum("evidence rank 1 -> missing" in line for line in example) == 1


def test_answers_that_differ_at_the_start_are_truncated_at_the_end() -> None:
    example = lines(80, was=f"Ann. {START}", now=f"Bo. {START}")
    assert 'was "Ann. The tram' in example[-1]
    assert 'now "Bo. The tram' in example[-1]
    assert all(text.endswith('..."') for text in example[-1].split("  now "))
