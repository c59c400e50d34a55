"""Checks of single drafts, with hand-worked examples for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_rageval.generation.checks import BUILTIN
from pytest_rageval.generation.checks.private_data import private_kinds
from pytest_rageval.generation.checks.single import first_failure, run_checks
from pytest_rageval.generation.draft import Draft
from pytest_rageval.model.case import Passage, Turn

TOWN = Passage("a#0", "The museum opens at 9:00. A ticket costs 12 euros.", title="Museum", page="a")
HARBOUR = Passage("b#0", "The ferry needs 25 minutes. A ticket costs 8 euros.", title="Ferry", page="b")
ZH = Passage("c#0", "苏州博物馆每天9点开门，门票12元。", title="苏州博物馆", page="c")


def draft(question: str = "When does the museum open?", *answers: str, **fields: Any) -> Draft:
    gold = fields.pop("gold", ((answers or ("9:00",)),))
    defaults = {"task": "extractive_qa", "topic": "Hours", "generator": "llm", "origin": "m", "sources": (TOWN,)}
    return Draft(question=question, gold=gold, **{**defaults, **fields})


def reason(each: Draft) -> str:
    failure = first_failure(each)
    return failure[0] if failure else ""


def test_a_draft_that_passes_lists_all_checks() -> None:
    result = run_checks(draft(evidence=("The museum opens at 9:00.",)))
    assert result.state == "waiting"
    assert result.checks == tuple(BUILTIN)


def test_the_first_check_that_fails_is_the_reason() -> None:
    result = run_checks(draft("According to the text, is it 9:00?" + "x" * 300, evidence=("not there",)))
    assert (result.state, result.reason, result.checks) == ("dropped", "evidence_not_verbatim", ("wrong_fields",))
    assert result.verdicts == {"evidence_not_verbatim": "'not there' is in no source"}


@pytest.mark.parametrize(
    "fields",
    [{"question": " "}, {"gold": ()}, {"gold": ((),)}, {"gold": (("9:00", " "),)}, {"sources": ()}, {"task": ""}],
)
def test_drafts_with_wrong_fields_are_dropped(fields: dict[str, Any]) -> None:
    assert reason(draft(**fields)) == "wrong_fields"


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("The museum opens at 9:00.", ""),
        ("the MUSEUM opens\n at 9:00", ""),  # case and white space
        ("The museum opens at ９:00.", ""),  # width
        ("The museum opens at 9:30.", "evidence_not_verbatim"),
        ("The museum opens. A ticket", "evidence_not_verbatim"),
        ("", "evidence_not_verbatim"),
    ],
)
def test_evidence_must_be_verbatim(quote: str, expected: str) -> None:
    assert reason(draft(evidence=("The museum opens at 9:00.", quote))) == expected


@pytest.mark.parametrize(
    ("answer", "evidence", "expected"),
    [
        ("9:00", ("The museum opens at 9:00.",), ""),
        ("9 am", (), ""),  # without quotes, the sources are the evidence; a time is compared as a time
        ("12 EUR", ("A ticket costs 12 euros.",), ""),
        ("12 euros", ("The museum opens at 9:00.",), "answer_unsupported"),
        ("2 euros", (), "answer_unsupported"),  # 12 does not hold 2
        ("twelve euros", (), ""),
    ],
)
def test_an_answer_must_be_in_the_evidence(answer: str, evidence: tuple[str, ...], expected: str) -> None:
    assert reason(draft("What is asked?", answer, evidence=evidence)) == expected


@pytest.mark.parametrize(
    ("calculation", "answer", "expected"),
    [
        ("12 - 8", "4 euros", ""),
        ("(12 + 8) / 2", "10 euros", ""),
        ("12 / 8", "1.5", ""),
        ("0.1 + 0.2", "0.3", ""),  # exact arithmetic, no floats
        ("3 * 400000", "1.2 million", ""),
        ("12 - 8", "5 euros", "answer_unsupported"),
        ("12 - 8", "some", "answer_unsupported"),
        ("12 - x", "4 euros", "answer_unsupported"),
        ("12 / 0", "4 euros", "answer_unsupported"),
        ("2 ** 9999999", "4 euros", "answer_unsupported"),
        ("4" + " + 0" * 60, "4 euros", "answer_unsupported"),
        ("__import__('os')", "4 euros", "answer_unsupported"),
    ],
)
def test_a_calculation_must_give_the_answer(calculation: str, answer: str, expected: str) -> None:
    fields = {"task": "multi_hop_qa", "verdicts": {"calculation": calculation}, "sources": (TOWN, HARBOUR)}
    assert reason(draft("How much more does the museum cost?", answer, **fields)) == expected


@pytest.mark.parametrize(
    ("question", "gold", "task", "expected"),
    [
        ("When does the museum open?", (("9:00",),), "extractive_qa", ""),
        ("Does it open at 9:00 or later?", (("9:00",),), "open_domain_qa", "answer_in_question"),
        ("Is the Ｍuseum a Museum?", (("museum",),), "open_domain_qa", "answer_in_question"),
        ("Who has 70 seats?", (("7",),), "open_domain_qa", ""),
        ("Is Museum or Ferry dearer, and how?", (("Museum",), ("12 euros",), ("8 euros",)), "contrast_qa", ""),
        ("Which is dearer, Museum or Ferry?", (("Museum",),), "contrast_qa", "answer_in_question"),
    ],
)  # fmt: skip
def test_the_question_must_not_contain_the_answer(question: str, gold: Any, task: str, expected: str) -> None:
    assert reason(draft(question, gold=gold, task=task, sources=(TOWN, HARBOUR))) == expected


@pytest.mark.parametrize(
    ("answer", "task", "expected"),
    [
        ("Yes", "multi_hop_qa", "yes_no"),
        ("No.", "multi_hop_qa", "yes_no"),
        ("Yes, it does", "multi_hop_qa", "yes_no"),
        ("不是", "multi_hop_qa", "yes_no"),
        ("没有", "multi_hop_qa", "yes_no"),
        ("Yes", "fact_checking", ""),
        ("No smoking area", "multi_hop_qa", ""),
        ("No, it was closed for repairs in 2004", "multi_hop_qa", ""),
        ("会议室", "multi_hop_qa", ""),
    ],
)
def test_yes_no_answers_are_only_for_fact_checking(answer: str, task: str, expected: str) -> None:
    assert reason(draft("Does the museum open at 9?", answer, task=task)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "According to the document, when does the museum open?",
        "When, according to the passage, does the museum open?",
        "Based on the given text, when does it open?",
        "When does the above museum open?",
        "Who wrote this article?",
        "It opens when?",
        "And they open when?",
        "根据上述材料，博物馆几点开门？",
        "根据该文，博物馆几点开门？",
        "上文的博物馆几点开门？",
        "本文的博物馆几点开门？",
        "它几点开门？",
    ],
)
def test_a_question_must_not_refer_to_its_text(question: str) -> None:
    language = "en" if question.isascii() else "zh"
    assert reason(draft(question, "门票" if language == "zh" else "9:00", sources=(ZH, TOWN), language=language)) == (
        "refers_to_text"
    )


@pytest.mark.parametrize(
    "question", ["IT support opens when?", "When do the Italians open?", "Which article was cited most often?"]
)
def test_a_self_contained_question_passes(question: str) -> None:
    assert reason(draft(question)) == ""


def test_a_later_turn_may_open_with_a_pronoun_but_not_name_the_entity_again() -> None:
    history = (Turn("Where is the Museum?", "in the market square"),)
    assert reason(draft("It opens when?", history=history, task="conversational_qa")) == ""
    again = draft("And when does the museum open?", history=history, task="conversational_qa")
    assert reason(again) == "follow_up_complete"
    follow_up = draft("And since when does Ann Lee?", history=(Turn("Where does Ann Lee work?", "x"),))
    assert reason(follow_up) == ""
    assert reason(replace(follow_up, verdicts={"entities": ["Ann Lee"]})) == "follow_up_complete"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Write to ann.lee@example.org", ("e-mail address",)),
        ("Call +47 22 33 44 55 or 555-123-4567", ("phone number",)),
        ("Call (555) 123-4567", ("phone number",)),
        ("请拨打13800138000", ("phone number",)),
        ("电话010-12345678", ("phone number",)),
        ("身份证11010519491231002X", ("ID card",)),
        ("the number 078-05-1120", ("ID card",)),
        ("pay to GB82 WEST 1234 5698 7654 32 now", ("bank account",)),
        ("pay to DE89370400440532013000", ("bank account",)),
        ("pay to NO93 8601 1117 947", ("bank account",)),  # the shortest of all countries
        ("GB83 WEST 1234 5698 7654 32", ()),  # wrong check digits
        ("110105194912310021", ()),  # wrong check digit
        ("1,234,567,890 euros in 2011", ()),
        ("from 9:00 to 17:30 on 2011-05-06", ()),
        ("version 3.11.2 of 1577", ()),
        ("COVID-19, ISO 13616-1:2020", ()),
        ("an amount of 13800138000.50", ()),
    ],
)
def test_a_draft_with_private_data_is_dropped(text: str, kinds: tuple[str, ...]) -> None:
    assert private_kinds(text) == kinds
    in_answer = draft("Which number is it?", text, task="open_domain_qa", sources=(TOWN,))
    assert reason(in_answer) == ("private_data" if kinds else "") or not text.isascii()


def test_other_languages_and_long_questions_are_dropped() -> None:
    assert reason(draft("博物馆几点开门？")) == "language"
    assert reason(draft("When does the museum open?", "9点", sources=(ZH,), language="zh")) == "language"
    assert reason(draft("Python博物馆几点开门？", "9点", sources=(ZH,), language="zh")) == ""
    assert reason(draft("When " + "really " * 43 + "is it?")) == "too_long"


@pytest.mark.parametrize(
    ("gold", "sources", "task", "expected"),
    [
        ((("12 euros",), ("8 euros",)), (TOWN, HARBOUR), "contrast_qa", ""),
        ((("12 euros",), ("9:00",)), (TOWN, HARBOUR), "contrast_qa", "one_hop"),
        ((("25 minutes",), ("9:00",)), (TOWN, HARBOUR), "information_integration", ""),
        ((("25 minutes",),), (TOWN, HARBOUR), "multi_hop_qa", ""),  # the last source holds it: a chain
        ((("25 minutes",), ("8 euros",)), (TOWN, HARBOUR), "multi_hop_qa", ""),
        ((("25 minutes",), ("9:00",)), (TOWN, HARBOUR), "multi_hop_qa", ""),
        ((("25 minutes",),), (HARBOUR, TOWN), "multi_hop_qa", "one_hop"),
        ((("ticket",), ("8 euros",)), (TOWN, HARBOUR), "multi_hop_qa", "one_hop"),
        ((("25 minutes",),), (TOWN, HARBOUR), "contrast_qa", "one_hop"),
        ((("12 euros",), ("9:00",)), (TOWN, HARBOUR), "long_form_qa", ""),
        ((("12 euros",), ("9:00",)), (TOWN,), "multi_hop_qa", ""),  # two values of one passage
    ],
)
def test_questions_of_one_hop_are_dropped(gold: Any, sources: tuple[Passage, ...], task: str, expected: str) -> None:
    assert reason(draft("What is asked?", gold=gold, sources=sources, task=task)) == expected
