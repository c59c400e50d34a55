from __future__ import annotations

from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.outcome import Score
from pytest_rageval.report.text.miss_reason import explain_check

GATE = parse_gate("accuracy >= 0.5")


def explanation_lines(answer: str, score: Score, question: str = "Where and when?") -> list[str]:
    instance = Instance("q1", question, (("Paris", "the capital"), ("1889",)))
    return explain_check(GATE, score, Case("q1", instance, None, {}), Answer(answer)).splitlines()


def test_a_failed_check_shows_expected_and_matched_text_of_each_slot() -> None:
    assert explanation_lines("In the capital, in 1890.", Score(0.25)) == [
        "check accuracy >= 0.5 failed: accuracy is 0.25",
        "  case      q1",
        "  question  Where and when?",
        "  answer    In the capital, in 1890.",
        "+ slot 1    Paris | the capital: matched the capital",
        "- slot 2    1889: not found",
    ]


def test_an_unscored_check_shows_the_reason() -> None:
    assert explanation_lines("", Score(reason="parse_error"))[0] == (
        "check accuracy >= 0.5 failed: accuracy is unscored (parse_error)"
    )


def test_hostile_texts_are_escaped_and_long_texts_are_truncated() -> None:
    lines = explanation_lines("\x1b[2J\u202e" + "x" * 10_000, Score(0.0), "a\nb")
    assert all(line.isprintable() for line in lines)
    assert lines[2] == r"  question  a\nb"
    assert lines[3].startswith(r"  answer    \x1b[2J\u202ex")
    assert len(lines[3]) < 450
    assert lines[3].endswith("… (10,013 characters)")


def test_a_case_without_gold_has_no_slots() -> None:
    text = explain_check(GATE, Score(0.0), Case("q1", Instance("q1", "?"), None, {}), Answer("x"))
    assert len(text.splitlines()) == 4
