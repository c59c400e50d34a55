from __future__ import annotations

import pytest

from pytest_rageval.datasets.recorded import Recorded
from pytest_rageval.engine.recorded_answers import RecordedAnswerer, RecordedAnswers
from pytest_rageval.errors import CaseError
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance


def row(name: str, text: str, system: str = "", **where: str) -> Recorded:
    return Recorded(name, system, Answer(text), where)


def case(name: str = "q1", **facets: str) -> Case:
    return Case(name, Instance(name, "?"), None, facets)


def found(answers: RecordedAnswers, of: Case, name: str, system: str = "recorded") -> str | None:
    answer = answers.find(system, of, name)
    return None if answer is None else answer.text


def test_the_systems_are_those_of_the_rows_in_their_order() -> None:
    rows = [row("q1", "a", "zeta"), row("q2", "b"), row("q1", "c", "alpha"), row("q2", "d", "zeta")]
    assert RecordedAnswers(rows).systems == ("zeta", "recorded", "alpha")
    assert RecordedAnswers([]).systems == ()


def test_each_system_has_separate_answers() -> None:
    answers = RecordedAnswers([row("q1", "mine", "one"), row("q1", "yours", "two"), row("q2", "only", "two")])
    assert [found(answers, case(), "q1", system) for system in ("one", "two", "three")] == ["mine", "yours", None]
    assert found(answers, case("q2"), "q2", "one") is None


def test_the_name_with_its_setting_comes_before_the_bare_id() -> None:
    answers = RecordedAnswers([row("q1", "bare"), row("q1-noise_rate=0.4", "noisy")])
    assert found(answers, case(noise_rate="0.4"), "q1-noise_rate=0.4") == "noisy"
    assert found(answers, case(noise_rate="0.8"), "q1-noise_rate=0.8") == "bare"


def test_of_rows_for_one_id_the_one_that_names_the_most_facets_is_taken() -> None:
    rows = [
        row("q1", "any"),
        row("q1", "noisy", noise_rate="0.4"),
        row("q1", "noisy in zh", noise_rate="0.40", language="zh"),
    ]
    for order in (rows, rows[::-1]):
        answers = RecordedAnswers(order)
        assert found(answers, case(noise_rate="0.4", language="zh"), "x") == "noisy in zh"
        assert found(answers, case(noise_rate="0.4", language="en"), "x") == "noisy"
        assert found(answers, case(noise_rate="0"), "x") == "any"
        assert found(answers, case(), "x") == "any"


def test_a_row_that_names_other_facets_does_not_answer() -> None:
    answers = RecordedAnswers([row("q1", "noisy", noise_rate="0.4")])
    assert found(answers, case(noise_rate="0.8"), "q1") is None
    assert found(answers, case(), "q1") is None


def test_a_named_row_that_does_not_fit_falls_back_to_the_id() -> None:
    answers = RecordedAnswers([row("q1-passages=3", "zh", language="zh"), row("q1", "bare")])
    assert found(answers, case(language="en"), "q1-passages=3") == "bare"


def test_an_empty_answer_is_an_answer() -> None:
    assert found(RecordedAnswers([row("q1", "")]), case(), "q1") == ""


def test_rows_that_no_case_bears_are_known() -> None:
    answers = RecordedAnswers([row("q2", "b"), row("q1", "a"), row("q3", "c", "other"), row("q3", "c")])
    assert answers.unused({"q1"}) == ["q2", "q3"]
    assert answers.unused({"q1", "q2", "q3", "q4"}) == []


def test_a_case_without_an_answer_is_an_error_and_no_zero() -> None:
    answerer = RecordedAnswerer(RecordedAnswers([row("q1", "yes")]), "recorded", "q1")
    assert answerer(case()) == Answer("yes")
    missing = RecordedAnswerer(RecordedAnswers([row("q1", "yes")]), "mine", "q1")
    with pytest.raises(CaseError) as caught:
        missing(case())
    assert caught.value.kind == "no_recorded_answer"
    assert str(caught.value) == "no answer of system 'mine' is recorded for case 'q1'; add one or deselect it"


def test_a_case_without_an_answer_is_named_as_a_row_has_to_name_it() -> None:
    missing = RecordedAnswerer(RecordedAnswers([]), "mine", "__-1~2efbcb-noise_rate=0.4", ("noise_rate",))
    with pytest.raises(CaseError, match=r"for case '投资-1' with noise_rate=0\.4; add one") as caught:
        missing(case("投资-1", noise_rate="0.4", passages="5").renamed("omnieval:投资-1"))
    assert "~" not in str(caught.value)
