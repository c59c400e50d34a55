"""Lint checks of duplicate and nearly duplicate questions."""

from __future__ import annotations

import time

import pytest
from support.samples.lint_samples import found_by, record

from pytest_rageval.linting.questions import near_duplicate_question
from pytest_rageval.linting.subject import Subject
from pytest_rageval.model.case import Instance, Turn


def test_questions_that_differ_only_in_case_width_spaces_or_end_are_duplicates() -> None:
    one = record("q1", "When does  the museum open?", line=1)
    same = record("q2", "WHEN does the museum open？", line=2)
    other = record("q10", "when does the museum open", gold=(("9:00",),), line=3)
    findings = found_by("duplicate_question", other, same, one)
    assert {each.id: (each.severity, each.problem) for each in findings} == {
        "q2": ("warning", "the question is that of 'q1' at cases.jsonl:1, with the same gold"),
        "q10": ("warning", "the question is that of 'q1' at cases.jsonl:1, with another gold"),
    }
    assert found_by("near_duplicate_question", other, same, one) == []


def test_a_turn_is_a_duplicate_only_after_the_same_turns() -> None:
    turns = [record(f"q{n}", "And in winter?", history=(Turn(question, "x"),)) for n, question in enumerate("aba")]
    assert [each.id for each in found_by("duplicate_question", *turns, record("q9", "And in winter?"))] == ["q2"]


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("When does the city museum open on Sundays?", "When does the city museum open on Sunday?", True),
        ("When does the city museum open on Sundays?", "When does the city musuem open on Sundays?", True),
        ("When does the city museum open on Sundays?", "What does a ticket for a child cost there?", False),
        ("Who won the women's final of the Open in 2021?", "Who won the women's final of the Open in 2022?", False),
        ("晨星稳健基金的申购费率是多少？", "晨星稳健基金的申购费率是多少呢？", True),
        ("晨星稳健基金的申购费率是多少？", "海岸银行的总部在哪里？", False),
    ],
)
def test_nearly_equal_questions_are_found(one: str, other: str, near: bool) -> None:
    findings = found_by("near_duplicate_question", record("q1", one), record("q2", other, line=2))
    assert [(each.id, each.severity) for each in findings] == ([("q2", "note")] if near else [])
    assert all(repr(one) in each.problem and "with the same gold" in each.problem for each in findings)


def test_a_near_duplicate_is_detected_among_thousands() -> None:
    records = [record(f"q{n}", QUESTION.format(WORDS[n % 97], WORDS[n % 89], WORDS[n % 83])) for n in range(3000)]
    twin = record("q9999", records[1234].question.replace("bridge", "bridges"))
    assert any(each.id == "q9999" for each in found_by("near_duplicate_question", *records, twin))


WORDS = ["".join(chr(97 + (n * k * k + k) % 26) for k in range(2, 9)) for n in range(1, 98)]
QUESTION = "How long is the {} bridge over the {} river near {}?"


def measure_seconds(count: int) -> float:
    instances: list[Instance] = [
        record(f"q{n}", " ".join(WORDS[(n * k * k + n // 97 + k) % 97] for k in range(1, 9))) for n in range(count)
    ]
    subject = Subject("x", tuple(instances))
    start = time.process_time()
    for _ in near_duplicate_question(subject):
        pass
    return time.process_time() - start


def test_the_time_grows_slower_than_the_square_of_the_number_of_questions() -> None:
    measure_seconds(200)
    assert measure_seconds(4000) < 10 * measure_seconds(1000)
