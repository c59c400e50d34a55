"""Laws of variants: what each relation may change in a question and in its passages."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.generation.relations import BUILTIN
from pytest_rageval.generation.relations.records import Records
from pytest_rageval.generation.relations.relation import relation_named
from pytest_rageval.model.case import Case, Instance, Passage
from pytest_rageval.text.quantities import quantities
from pytest_rageval.text.unicode import nfkc

OF_QUESTIONS = sorted(name for name in BUILTIN if relation_named(name).target == "question")
OF_PASSAGES = sorted(set(BUILTIN) - set(OF_QUESTIONS))

NAMES = ["Oslo", "Ann Lee", "ETF", "McKay", "Østby", "iPad"]
NEGATIONS = ["not", "never", "without", "isn't"]
QUOTES = ['"The Museum opens"', "“blank pages”", "'quiet rooms'"]
NUMBERS = [
    "1,577,000 dollars",
    "70%",
    "3 museums",
    "5 million people",
    "12.5 km",
    "2019",
    "at 10:30",
    "$44bn",
    "1577 euros",
]
WORDS = [
    "museum",
    "opening",
    "cost",
    "does",
    "reached",
    "handbook",
    "of",
    "the",
    "a",
    "which",
    "river-bank",
    "covid-19",
]
OPENINGS = ["When", "Which", "Oslo", "How many", "Is"]
HAN_PARTS = [
    "博物馆",
    "几点开门",
    "净利润",
    "超过5亿元",
    "三万人",
    "不包括",
    "ETF",
    "《红楼梦》",
    "第3期",
    "的费率",
    "12.5%",
]


def english() -> st.SearchStrategy[tuple[str, list[str]]]:
    """Return questions, each with the parts that no variant may change."""
    protected = st.sampled_from(NAMES + NEGATIONS + QUOTES)
    parts = st.lists(protected | st.sampled_from(NUMBERS + WORDS), min_size=1, max_size=7)
    return st.tuples(st.sampled_from(OPENINGS), parts, st.sampled_from(["?", "", "."])).map(
        lambda question: (
            " ".join([question[0], *question[1]]) + question[2],
            [part for part in question[1] if part in NAMES + NEGATIONS + QUOTES],
        )
    )


def chinese() -> st.SearchStrategy[tuple[str, list[str]]]:
    parts = st.lists(st.sampled_from(HAN_PARTS), min_size=1, max_size=6)
    protected = ("不", "ETF", "《红楼梦》", "第3期")
    return st.tuples(parts, st.sampled_from(["？", "", "?"])).map(
        lambda question: (
            "".join(question[0]) + question[1],
            [part for part in protected if part in "".join(question[0])],
        )
    )


def folded(text: str) -> str:
    return nfkc(text).casefold()


def single_spaced(text: str) -> str:
    return " ".join(folded(text).split())


def values(text: str) -> Counter[object]:
    return Counter((one.low, one.high, one.unit, one.date) for one in quantities(text))


QUESTIONS = english() | chinese()
SEEDS = st.integers(0, 2**32)


@given(QUESTIONS, st.sampled_from(OF_QUESTIONS), SEEDS)
def test_every_variant_keeps_quantities_names_negations_and_quotes(
    question: tuple[str, list[str]], relation: str, seed: int
) -> None:
    text, protected = question
    for variant in relation_named(relation).variants(Instance("q", text), seed, 5):
        changed = variant.case.instance.question
        assert changed != text
        assert values(changed) == values(text)
        for part in protected:
            fold = folded if part in QUOTES else single_spaced
            assert fold(changed).count(fold(part)) >= fold(text).count(fold(part)), (part, changed)
        if relation != "number_format":
            assert re.findall(r"\d+", nfkc(changed)) == re.findall(r"\d+", nfkc(text))


@given(QUESTIONS, SEEDS)
def test_number_format_changes_one_number_and_keeps_every_value(question: tuple[str, list[str]], seed: int) -> None:
    text, _ = question
    for variant in relation_named("number_format").variants(Instance("q", text), seed, 9):
        changed = variant.case.instance.question
        assert values(changed) == values(text)
        start = next(at for at, (old, new) in enumerate(zip(text + "\0", changed + "\0", strict=False)) if old != new)
        end = next(at for at in range(1, len(text) + 1) if text[-at:] != changed[-at:] or at == len(text))
        assert re.search(r"[\d一二三五]", text[max(0, start - 9) : len(text) - end + 1])


@given(st.text(max_size=80), st.sampled_from(OF_QUESTIONS), SEEDS)
def test_any_text_has_variants_with_the_same_values_or_none(text: str, relation: str, seed: int) -> None:
    variants = relation_named(relation).variants(Instance("q", text), seed, 3)
    questions = [variant.case.instance.question for variant in variants]
    assert len({text, *questions}) == len(questions) + 1
    assert all(values(question) == values(text) for question in questions)
    assert variants[:1] == relation_named(relation).variants(Instance("q", text), seed, 1)


def pools() -> st.SearchStrategy[Case]:
    """Return cases with positives (also of two groups), negatives, and false twins in the pool of some."""
    texts = st.sampled_from(
        ["The museum opens at 9:00.", "Ferries run daily.", "A ticket costs 12 dollars.", "Rain fell."]
    )
    roles = st.lists(
        st.tuples(texts, st.sampled_from(["positive", "negative"]), st.sampled_from([None, 0, 1])), max_size=6
    )

    def case(rows: list[tuple[str, str, int | None]], twins: bool) -> Case:
        passages = tuple(
            Passage(f"p{at}", text, role=role, group=group if role == "positive" else None)  # type: ignore[arg-type]
            for at, (text, role, group) in enumerate(rows)
        )
        false = tuple(
            replace(p, id=f"w{p.id}", text=p.text.replace("9:00", "8:30"), role="counterfactual", group=None)
            for p in passages
            if p.role == "positive" and twins
        )
        instance = Instance(
            "q", "When does the museum open?", (("9:00",),), passages + false, (("8:30",),) if twins else ()
        )
        return Case("q", instance, passages, {})

    return st.builds(case, roles, st.booleans())


OTHERS = Records.of(
    Instance(f"o{at}", "Who?", passages=(Passage("p0", text), Passage("p1", "Salt dissolves in water.")))
    for at, text in enumerate(
        ["Doors open from 9:00 on.", "The museum has a garden.", "Trains stop here.", "Bread rises."]
    )
)


@given(pools(), st.sampled_from(OF_PASSAGES), SEEDS)
def test_each_relation_changes_passages_only_as_it_declares(case: Case, relation: str, seed: int) -> None:
    before = case.supplied or ()
    for variant in relation_named(relation).variants(case, seed, 4, OTHERS):
        after = variant.case.supplied or ()
        assert variant.case.instance == case.instance
        assert before != after
        if relation in ("passage_order", "duplicate_passage"):
            assert {(p.text, p.role) for p in before} == {(p.text, p.role) for p in after}
            assert len(after) == len(before) + (relation == "duplicate_passage")
        if relation in ("irrelevant_passage", "duplicate_passage"):
            assert [p for p in after if p in before] == list(before)
        if relation == "irrelevant_passage":
            (added,) = set(after) - set(before)
            assert "museum" not in added.text
            assert "9:00" not in added.text
        if relation in ("drop_irrelevant", "remove_evidence"):
            removed = [p for p in before if p not in after]
            assert [p for p in before if p not in removed] == list(after)
            assert {p.role for p in removed} == {"negative" if relation == "drop_irrelevant" else "positive"}
        if relation == "remove_evidence":
            assert variant.expected == "rejection"
            assert not any("9:00" in p.text for p in after)
        if relation == "swap_evidence":
            assert variant.expected == "truth"
            assert {p.role for p in after} <= {"negative", "counterfactual"}
            assert [p.id.removeprefix("w") for p in after] == [p.id for p in before]
