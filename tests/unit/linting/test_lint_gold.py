from __future__ import annotations

import pytest
from support.samples.lint_samples import found_by, of, record

from pytest_rageval.linting.finding import Finding
from pytest_rageval.model.case import Gold, Passage


@pytest.mark.parametrize(
    ("gold", "fake", "language", "ours", "published"),
    [
        ((("70",),), (("170",),), "en", False, True),
        ((("2.3%",),), (("12.3%",),), "en", False, True),
        ((("Paris",),), (("PARIS!",),), "en", True, True),
        ((("Ｐaris",),), (("Paris",),), "en", True, False),
        ((("卡梅隆",),), (("詹姆斯· 卡 梅 隆",),), "zh", True, True),
        ((("Paris",),), (("Rome",), ("Oslo",)), "en", False, False),
        ((("Paris",), ("Rome",)), (("Paris",), ("Oslo",)), "en", False, False),  # half a lie is one
        ((("Paris",), ("Rome",)), (("Rome",), ("Oslo", "old Paris")), "en", True, True),
        ((("Paris",),), (), "en", False, False),
        ((), (("Rome",),), "en", False, False),
        ((("no",),), (("I do not know",),), "en", False, False),  # yes and no occur in any text
    ],
)
def test_a_false_answer_that_is_right(gold: Gold, fake: Gold, language: str, ours: bool, published: bool) -> None:
    one = record(gold=gold, fake=fake, language=language)
    assert bool(found_by("gold_in_fake", one)) is ours
    assert bool(found_by("gold_in_fake", one, assembly="rgb-compat")) is published


def test_the_finding_says_where_and_what() -> None:
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
    """The first alias of a slot is often not the one that a text holds."""
    gold: Gold = (("January 2, 2022", "Jan 2, 2022", "2 January 2022"),)
    texts = of("negative", "On 2 January 2022.", "Oslo", "Jan 2, 2022!"), of("counterfactual", "It was Jan 2, 2022.")
    one = record(gold=gold, fake=(("as of 2 January 2022",),), passages=(*texts[0], *texts[1]))
    for check, held in (
        ("gold_in_fake", "contains the gold '2 January 2022' and"),
        ("gold_in_negative", "the gold '2 January 2022', 'Jan 2, 2022' is in 2 passages ('n0', 'n2')"),
        ("gold_in_counterfactual", "the gold 'Jan 2, 2022' is in 1 passage ('c0')"),
    ):
        [finding] = found_by(check, one, assembly=assembly)
        assert held in finding.problem


def test_gold_in_the_wrong_passages() -> None:
    false, noise = of("counterfactual", "In Rome.", "In Paris."), of("negative", "PARIS and Rome.", "Oslo")
    passages = (*of("positive", "Paris."), *false, *noise)
    one, two = record(passages=passages), record("q2", passages=passages, gold=(("Paris",), ("Rome",)), line=2)
    [finding] = found_by("gold_in_counterfactual", one, two)
    assert (finding.id, finding.severity) == ("q1", "warning")
    assert finding.problem == "the gold 'Paris' is in 1 passage ('c1') that should contradict it"
    noisy = found_by("gold_in_negative", one, two)
    assert [finding.id for finding in noisy] == ["q1", "q2"]
    assert noisy[1].problem == "the gold 'Paris', 'Rome' is in 1 passage ('n0') that should not answer"


def test_a_title_is_also_read() -> None:
    titled = Passage("n0", "It has towers.", "Paris", role="negative")
    assert len(found_by("gold_in_negative", record(passages=(titled,)))) == 1


def test_positives_without_any_of_the_gold() -> None:
    gold: Gold = (("Paris", "the capital"), ("Rome",))
    labelled = record(gold=gold, passages=of("positive", "The Capital.", "Rome!"))
    bare = record("q2", gold=gold, passages=of("positive", *"abcd", "Paris"))
    [finding] = found_by("positive_without_gold", labelled, bare)
    assert finding.id == "q2"
    assert finding.problem == (
        "no part of the gold 'Paris', 'Rome' is in 4 of 5 positive passages ('p0', 'p1', 'p2' and 1 more)"
    )


@pytest.mark.parametrize("answer", ["Yes.", "是的，可以", "Because " + "x" * 50])
def test_long_answers_are_not_matched(answer: str) -> None:
    assert found_by("positive_without_gold", record(gold=((answer,),), passages=of("positive", "a"))) == []


@pytest.mark.parametrize(
    ("alias", "joined"),
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
def test_two_names_in_one_alias(alias: str, joined: bool) -> None:
    findings = found_by("joined_names", record(gold=(("Paris", alias),)))
    assert bool(findings) is joined
    assert all("contains 2 names; write each as an alias, or as a slot" in each.problem for each in findings)
