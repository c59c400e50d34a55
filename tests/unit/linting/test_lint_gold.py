"""Lint checks of gold and false answers."""

from __future__ import annotations

import pytest
from support.samples.lint_samples import found_by, of, record

from pytest_rageval.linting.finding import Finding
from pytest_rageval.model.case import Gold, Passage


@pytest.mark.parametrize(
    ("gold", "fake", "language", "in_balanced", "in_rgb_compat"),
    [
        ((("70",),), (("170",),), "en", False, True),
        ((("2.3%",),), (("12.3%",),), "en", False, True),
        ((("Paris",),), (("PARIS!",),), "en", True, True),
        ((("Ｐaris",),), (("Paris",),), "en", True, False),
        ((("卡梅隆",),), (("詹姆斯· 卡 梅 隆",),), "zh", True, True),
        ((("Paris",),), (("Rome",), ("Oslo",)), "en", False, False),
        ((("Paris",), ("Rome",)), (("Paris",), ("Oslo",)), "en", False, False),  # half a lie is a lie
        ((("Paris",), ("Rome",)), (("Rome",), ("Oslo", "old Paris")), "en", True, True),
        ((("Paris",),), (), "en", False, False),
        ((), (("Rome",),), "en", False, False),
        ((("no",),), (("I do not know",),), "en", False, False),  # yes and no occur in any text
    ],
)
def test_a_false_answer_that_contains_the_gold_is_found(
    gold: Gold, fake: Gold, language: str, in_balanced: bool, in_rgb_compat: bool
) -> None:
    one = record(gold=gold, fake=fake, language=language)
    assert bool(found_by("gold_in_fake", one)) is in_balanced
    assert bool(found_by("gold_in_fake", one, assembly="rgb-compat")) is in_rgb_compat


def test_the_finding_has_the_place_and_both_answers() -> None:
    one = record(fake=(("Paris, Texas",),), line=7)
    assert found_by("gold_in_fake", one) == [
        Finding(
            "gold_in_fake",
            "error",
            "q1",
            "cases.jsonl:7",
            "the false answer 'Paris, Texas' contains the gold 'Paris' and is scored as correct",
        )
    ]


@pytest.mark.parametrize("assembly", ["balanced", "rgb-compat"])
def test_a_finding_names_the_alias_that_is_contained(assembly: str) -> None:
    """A text often contains another alias of a slot than the first."""
    gold: Gold = (("January 2, 2022", "Jan 2, 2022", "2 January 2022"),)
    texts = of("negative", "On 2 January 2022.", "Oslo", "Jan 2, 2022!"), of("counterfactual", "It was Jan 2, 2022.")
    one = record(gold=gold, fake=(("as of 2 January 2022",),), passages=(*texts[0], *texts[1]))
    for check, problem in (
        ("gold_in_fake", "contains the gold '2 January 2022' and"),
        ("gold_in_negative", "the gold '2 January 2022', 'Jan 2, 2022' is in 2 passages ('n0', 'n2')"),
        ("gold_in_counterfactual", "the gold 'Jan 2, 2022' is in 1 passage ('c0')"),
    ):
        [finding] = found_by(check, one, assembly=assembly)
        assert problem in finding.problem


def test_gold_in_negative_or_counterfactual_passages_is_found() -> None:
    false, noise = of("counterfactual", "In Rome.", "In Paris."), of("negative", "PARIS and Rome.", "Oslo")
    passages = (*of("positive", "Paris."), *false, *noise)
    one, two = record(passages=passages), record("q2", passages=passages, gold=(("Paris",), ("Rome",)), line=2)
    [finding] = found_by("gold_in_counterfactual", one, two)
    assert (finding.id, finding.severity) == ("q1", "warning")
    assert finding.problem == "the gold 'Paris' is in 1 passage ('c1') that should contradict it"
    in_noise = found_by("gold_in_negative", one, two)
    assert [finding.id for finding in in_noise] == ["q1", "q2"]
    assert in_noise[1].problem == "the gold 'Paris', 'Rome' is in 1 passage ('n0') that should not answer"


def test_titles_are_searched_for_gold_too() -> None:
    passage = Passage("n0", "It has towers.", "Paris", role="negative")
    assert len(found_by("gold_in_negative", record(passages=(passage,)))) == 1


def test_positives_without_any_gold_are_found() -> None:
    gold: Gold = (("Paris", "the capital"), ("Rome",))
    with_gold = record(gold=gold, passages=of("positive", "The Capital.", "Rome!"))
    without_gold = record("q2", gold=gold, passages=of("positive", *"abcd", "Paris"))
    [finding] = found_by("positive_without_gold", with_gold, without_gold)
    assert finding.id == "q2"
    assert finding.problem == (
        "no part of the gold 'Paris', 'Rome' is in 4 of 5 positive passages ('p0', 'p1', 'p2' and 1 more)"
    )


@pytest.mark.parametrize("answer", ["Yes.", "是的，可以", "Because " + "x" * 50])
def test_long_and_yes_no_answers_are_not_searched_in_positives(answer: str) -> None:
    assert found_by("positive_without_gold", record(gold=((answer,),), passages=of("positive", "a"))) == []


@pytest.mark.parametrize(
    ("alias", "is_joined"),
    [
        ("J·K·罗琳,J.K.罗琳", True),
        ("北京、上海", True),
        ("Ann Lee;Bo Ek", True),
        ("Ann Lee | Bo Ek", True),
        ("Tampa, Florida", False),
        ("May 15, 2012", False),
        ("12,345", False),
        ("1,2-dichloroethane", False),
        ("Nothing, Forever", False),
        ("Paris,", False),
        ("因为利率上升，所以价格下降。", False),
        ("a,b" * 50, False),
    ],
)
def test_two_names_in_one_alias_are_found(alias: str, is_joined: bool) -> None:
    findings = found_by("joined_names", record(gold=(("Paris", alias),)))
    assert bool(findings) is is_joined
    assert all("contains 2 names; write each as an alias, or as a slot" in each.problem for each in findings)
