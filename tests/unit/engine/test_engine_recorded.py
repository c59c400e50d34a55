"""Recorded answers as a system: which row answers which case."""

from __future__ import annotations

import pytest

from pytest_rageval.datasets.recorded import Recorded
from pytest_rageval.engine.recorded_answers import RecordedAnswerer, RecordedAnswers
from pytest_rageval.errors import CaseError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance


def row(name: str, text: str, system: str = "", **facets: str) -> Recorded:
    return Recorded(name, system, Answer(text), facets)


def case(name: str = "q1", **facets: str) -> Case:
    return Case(name, Instance(name, "?"), None, facets)


def answer_text(answers: RecordedAnswers, for_case: Case, name: str, system: str = "recorded") -> str | None:
    answer = answers.find(system, for_case, name)
    return None if answer is None else answer.text


def test_systems_are_listed_in_the_order_of_the_rows() -> None:
    rows = [row("q1", "a", "zeta"), row("q2", "b"), row("q1", "c", "alpha"), row("q2", "d", "zeta")]
    assert RecordedAnswers(rows).systems == ("zeta", "recorded", "alpha")
    assert RecordedAnswers([]).systems == ()


def test_each_system_has_separate_answers() -> None:
    answers = RecordedAnswers([row("q1", "mine", "one"), row("q1", "yours", "two"), row("q2", "only", "two")])
    assert [answer_text(answers, case(), "q1", system) for system in ("one", "two", "three")] == ["mine", "yours", None]
    assert answer_text(answers, case("q2"), "q2", "one") is None


def test_a_row_with_the_id_and_setting_is_preferred_to_the_id_alone() -> None:
    answers = RecordedAnswers([row("q1", "bare"), row("q1-noise_rate=0.4", "noisy")])
    assert answer_text(answers, case(noise_rate="0.4"), "q1-noise_rate=0.4") == "noisy"
    assert answer_text(answers, case(noise_rate="0.8"), "q1-noise_rate=0.8") == "bare"


def test_the_row_with_the_most_facets_answers() -> None:
    rows = [
        row("q1", "any"),
        row("q1", "noisy", noise_rate="0.4"),
        row("q1", "noisy in zh", noise_rate="0.40", language="zh"),
    ]
    for order in (rows, rows[::-1]):
        answers = RecordedAnswers(order)
        assert answer_text(answers, case(noise_rate="0.4", language="zh"), "x") == "noisy in zh"
        assert answer_text(answers, case(noise_rate="0.4", language="en"), "x") == "noisy"
        assert answer_text(answers, case(noise_rate="0"), "x") == "any"
        assert answer_text(answers, case(), "x") == "any"


def test_a_row_with_other_facets_does_not_answer() -> None:
    answers = RecordedAnswers([row("q1", "noisy", noise_rate="0.4")])
    assert answer_text(answers, case(noise_rate="0.8"), "q1") is None
    assert answer_text(answers, case(), "q1") is None


def test_the_id_is_used_if_the_row_with_the_setting_does_not_match() -> None:
    answers = RecordedAnswers([row("q1-passages=3", "zh", language="zh"), row("q1", "bare")])
    assert answer_text(answers, case(language="en"), "q1-passages=3") == "bare"


def test_an_empty_answer_is_an_answer() -> None:
    assert answer_text(RecordedAnswers([row("q1", "")]), case(), "q1") == ""


def test_rows_without_a_case_are_listed() -> None:
    answers = RecordedAnswers([row("q2", "b"), row("q1", "a"), row("q3", "c", "other"), row("q3", "c")])
    assert answers.unused({"q1"}) == ["q2", "q3"]
    assert answers.unused({"q1", "q2", "q3", "q4"}) == []


def test_a_case_without_an_answer_is_an_error() -> None:
    answerer = RecordedAnswerer(RecordedAnswers([row("q1", "yes")]), "recorded", "q1")
    assert answerer(case()) == Answer("yes")
    missing = RecordedAnswerer(RecordedAnswers([row("q1", "yes")]), "mine", "q1")
    with pytest.raises(CaseError) as caught:
        missing(case())
    assert caught.value.kind == "no_recorded_answer"
    assert str(caught.value) == "no answer of system 'mine' is recorded for case 'q1'; add one or deselect it"


def test_the_error_without_an_answer_gives_the_id_and_facets_for_a_row() -> None:
    missing = RecordedAnswerer(RecordedAnswers([]), "mine", "__-1~2efbcb-noise_rate=0.4", ("noise_rate",))
    with pytest.raises(CaseError, match=r"for case '投资-1' with noise_rate=0\.4; add one") as caught:
        missing(case("投资-1", noise_rate="0.4", passages="5").renamed("omnieval:投资-1"))
    assert "~" not in str(caught.value)
