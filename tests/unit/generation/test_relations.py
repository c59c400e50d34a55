"""Relations make small changes to a case; the same seed and id give the same changes."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from pytest_rageval.errors import UnknownNameError
from pytest_rageval.generation.relations import BUILTIN
from pytest_rageval.generation.relations.invariants import lost_invariants
from pytest_rageval.generation.relations.irrelevant_passage import is_irrelevant
from pytest_rageval.generation.relations.records import Records
from pytest_rageval.generation.relations.relation import relation_named
from pytest_rageval.model.case import Case, Instance, Passage

MUSEUM = Instance(
    "museum",
    "When does the Museum open on weekdays?",
    (("9:00", "nine"),),
    (
        Passage("p0", "The museum opens at 9:00 on weekdays.", role="positive"),
        Passage("n0", "The museum has a garden.", role="negative"),
        Passage("n1", "Ferries run daily.", role="negative"),
    ),
)
FERRY = Instance("ferry", "Who runs the ferry?", (("Ann Lee",),), (Passage("p0", "Ann Lee runs the ferry."),))
BAKER = Instance("baker", "Who bakes?", (("Bo Ek",),), (Passage("p0", "The bakery opens at 9:00."),))


def questions(relation: str, instance: Instance, count: int = 1000, seed: int = 0) -> list[str]:
    return [each.case.instance.question for each in relation_named(relation).variants(instance, seed, count)]


def supplied_ids(relation: str, case: Case | Instance, records: Records | None = None) -> list[list[str]]:
    variants = relation_named(relation).variants(case, 0, 1000, records or Records())
    return [[passage.id for passage in each.case.supplied or ()] for each in variants]


def test_a_variant_has_its_facets_and_keeps_the_id() -> None:
    first, second = relation_named("typo").variants(MUSEUM, 7, 2)
    assert first.case.facets == {"relation": "typo", "variant": "1"}
    assert second.case.facets == {"relation": "typo", "variant": "2"}
    assert first.case.id == first.original.id == "museum"
    assert (first.original.instance, first.expected) == (MUSEUM, "same")


def test_the_seed_and_the_id_decide_the_variants() -> None:
    assert questions("typo", MUSEUM, 3) == questions("typo", MUSEUM, 3)
    assert questions("typo", MUSEUM, 3) == questions("typo", MUSEUM, 9)[:3]
    assert questions("typo", MUSEUM, 3) != questions("typo", MUSEUM, 3, seed=1)
    assert questions("typo", MUSEUM, 3) != questions("typo", replace(MUSEUM, id="other"), 3)


def test_an_unknown_relation_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"suite\.rag\.toml:3: .*'typos'.*did you mean 'typo'"):
        relation_named("typos", "suite.rag.toml:3")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Where is 'silent valley' placed?", "silent"),
        ("Which rooms never close before Monday?", "never"),
        ("Who wrote to office@museum.example yesterday?", "office@museum.example"),
        ("Which covid-related rules apply?", "covid-related"),
        ("Which thirty rooms?", "thirty"),
        ("Bergen opened which museum?", "Bergen"),
        ("Which rooms couldn't open?", "couldn't"),
    ],
)
def test_a_typo_never_changes_names_numbers_negations_quotes_or_addresses(question: str, word: str) -> None:
    variants = questions("typo", Instance("q", question))
    assert variants
    assert all(word in each for each in variants)


def test_a_chinese_question_has_no_typos() -> None:
    assert questions("typo", Instance("q", "python是谁发明的？")) == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who paid $2000?", {"Who paid $2,000?"}),
        ("Who won the 2022 Cup?", set()),
        ("What happened in 1848?", set()),
        ("Does a Boeing 7000 fly?", set()),
        ("Are 1577 loans paid?", {"Are 1,577 loans paid?"}),
        ("Who owns 1.5 billion shares?", {"Who owns 1500000000 shares?", "Who owns 1,500,000,000 shares?"}),
        ("300亿元的电影？", {"30000000000元的电影？", "三百亿元的电影？"}),
        ("第2000期是什么？", set()),
        ("Is version 3.11 out?", set()),
        ("Are " + "7" * 5000 + " boats there?", set()),
    ],
)
def test_a_number_changes_its_format_unless_it_is_a_year_or_part_of_a_name(question: str, expected: set[str]) -> None:
    assert set(questions("number_format", Instance("q", question))) == expected


def test_politeness_keeps_a_name_at_the_start() -> None:
    variants = questions("politeness", Instance("q", "Oslo has how many museums?"))
    assert "Please tell me: Oslo has how many museums?" in variants


@pytest.mark.parametrize(
    ("form", "invariant"),
    [
        ("When does the Museum not open on weekdays?", "negations"),
        ("When does the Musem open on weekdays?", "names"),
        ("When does the Museum open on 5 weekdays?", "digits"),
        ("When does the 'Museum' open on weekdays?", "quotes"),
        ("When does the Museum open on two weekdays?", "quantities"),
    ],
)
def test_a_changed_form_reports_the_invariant_it_lost(form: str, invariant: str) -> None:
    assert invariant in lost_invariants(MUSEUM.question, form)
    assert lost_invariants(MUSEUM.question, MUSEUM.question.upper()) == ()


def test_passage_order_gives_every_other_order() -> None:
    orders = supplied_ids("passage_order", MUSEUM)
    assert len(orders) == len(set(map(tuple, orders))) == 5
    assert ["p0", "n0", "n1"] not in orders
    assert supplied_ids("passage_order", FERRY) == []


def test_drop_irrelevant_drops_only_negatives() -> None:
    assert sorted(supplied_ids("drop_irrelevant", MUSEUM)) == [["p0", "n0"], ["p0", "n1"]]
    assert supplied_ids("drop_irrelevant", FERRY) == []


def test_a_repeated_passage_gets_a_new_id() -> None:
    ids_by_variant = supplied_ids("duplicate_passage", FERRY)
    assert sorted(ids_by_variant) == [["p0", "p0#2"], ["p0#2", "p0"]]


def test_an_added_passage_does_not_help_to_answer() -> None:
    records = Records.of([MUSEUM, FERRY, BAKER])
    ids_by_variant = supplied_ids("irrelevant_passage", MUSEUM, records)
    assert {each for ids in ids_by_variant for each in ids} == {"p0", "n0", "n1", "ferry:p0"}  # the baker's has "9:00"
    assert len(ids_by_variant) == 4
    assert supplied_ids("irrelevant_passage", MUSEUM, Records.of([MUSEUM])) == []


@pytest.mark.parametrize(
    ("text", "irrelevant"),
    [
        ("Ferries run daily.", True),
        ("Museums open late.", False),
        ("The bakery is there from 9:00 on.", False),
        ("Nine ferries run.", False),
    ],
)
def test_a_passage_about_the_question_or_with_its_answer_is_not_irrelevant(text: str, irrelevant: bool) -> None:
    assert is_irrelevant(MUSEUM, Passage("x", text)) is irrelevant


def test_a_passage_with_the_answer_in_another_notation_is_not_irrelevant() -> None:
    instance = Instance("q", "What did Twitter cost?", (("44 billion",),))
    assert not is_irrelevant(instance, Passage("x", "Profit rose to 440亿."))
    assert is_irrelevant(instance, Passage("x", "Profit rose to 44."))


def test_evidence_is_removed_by_group_unless_another_passage_has_the_answer() -> None:
    (remaining_ids,) = supplied_ids("remove_evidence", MUSEUM)
    assert remaining_ids == ["n0", "n1"]
    answered_by_negative = replace(
        MUSEUM, passages=(*(MUSEUM.passages or ()), Passage("n2", "At 9:00 it opens.", role="negative"))
    )
    assert supplied_ids("remove_evidence", answered_by_negative) == []
    parts = tuple(
        Passage(f"p{group}", text, role="positive", group=group) for group, text in ((0, "Oslo"), (1, "Rome"))
    )
    two = Instance("q", "Which two towns?", (("Oslo",), ("Rome",)), parts)
    assert sorted(supplied_ids("remove_evidence", two)) == [["p0"], ["p1"]]


def test_evidence_is_swapped_for_its_false_twin() -> None:
    twin = Passage("w0", "The museum opens at 8:30 on weekdays.", role="counterfactual")
    record = replace(MUSEUM, passages=(*(MUSEUM.passages or ()), twin), fake=(("8:30",),))
    case = Case("museum", record, MUSEUM.passages, {})
    assert supplied_ids("swap_evidence", case) == [["w0", "n0", "n1"]]
    assert supplied_ids("swap_evidence", MUSEUM) == []


def test_a_case_without_passages_has_no_variants_of_passage_relations() -> None:
    case = Case("museum", MUSEUM, None, {})
    for relation in ("passage_order", "duplicate_passage", "drop_irrelevant", "irrelevant_passage", "remove_evidence"):
        assert supplied_ids(relation, case, Records.of([FERRY])) == []


def test_a_new_record_changes_few_choices_of_other_records() -> None:
    records = [replace(FERRY, id=f"r{at}", passages=(Passage("p", f"Boat {chr(97 + at)}."),)) for at in range(20)]
    instances = [replace(MUSEUM, id=f"m{at}") for at in range(50)]

    def added_ids(pool: list[Instance]) -> list[str]:
        variants = [relation_named("irrelevant_passage").variants(each, 0, 1, Records.of(pool)) for each in instances]
        return [next(p.id for p in each[0].case.supplied or () if ":" in p.id) for each in variants]

    before, after = added_ids(records), added_ids([*records, replace(FERRY, id="new")])
    assert sum(one != other for one, other in zip(before, after, strict=True)) < 15


@pytest.mark.parametrize("relation", sorted(BUILTIN))
def test_a_huge_case_gets_its_variants_in_time(relation: str) -> None:
    question = "Which museum of Oslo opened 1,577 rooms? " * 1_000
    passages = tuple(Passage(f"n{at}", f"Boat {at}.", role="negative") for at in range(1_000))
    huge = Instance("huge", question, (("9:00",),), (*(MUSEUM.passages or ()), *passages))
    start = time.process_time()
    relation_named(relation).variants(huge, 0, 3, Records.of([huge, FERRY]))
    assert time.process_time() - start < 20
