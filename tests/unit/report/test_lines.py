"""wrap: lines that fit a width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from pytest_rageval.report.text.lines import Line, wrap

FACTS = "    FAILED  accuracy[topic=*] >= 0.3  0.1667  n 6  [0.03, 0.56]  worst at topic=Loans, system=careful"


def texts(text: str, width: int, between: str = " ", indent: int = 2) -> list[str]:
    return [line.text for line in wrap(Line(text, "red"), width, between=between, indent=indent)]


@given(st.lists(st.text("ab=系统", min_size=1, max_size=9), min_size=1, max_size=30), st.integers(14, 60))
def test_no_word_is_lost_and_no_line_is_too_wide(words: list[str], width: int) -> None:
    too_wide = [word for word in words if wcswidth(word) > width - 2]
    lines = texts(" ".join(words), width)
    assert " ".join(lines).split() == words
    assert too_wide or all(wcswidth(line) <= width for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])


def test_a_line_that_fits_is_unchanged() -> None:
    assert texts(FACTS, 200, "  ") == [FACTS]
    assert texts("", 80) == [""]
    assert list(wrap(Line("a", "red"), 80)) == [Line("a", "red")]


def test_a_line_breaks_between_its_pieces_if_each_fits() -> None:
    assert texts(FACTS, 80, "  ", 12) == [
        "    FAILED  accuracy[topic=*] >= 0.3  0.1667  n 6  [0.03, 0.56]",
        "            worst at topic=Loans, system=careful",
    ]
    assert texts(FACTS, 40, "  ", 12) == [
        "    FAILED  accuracy[topic=*] >= 0.3",
        "            0.1667  n 6  [0.03, 0.56]",
        "            worst at topic=Loans,",
        "            system=careful",
    ]


def test_a_word_wider_than_the_line_has_its_own_line() -> None:
    assert texts("see https://example.org/a/long/path for it", 20) == [
        "see",
        "  https://example.org/a/long/path",
        "  for it",
    ]
