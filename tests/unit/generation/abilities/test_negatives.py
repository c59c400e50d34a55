"""Negative passages from a ranking, and passages that are excluded."""

from __future__ import annotations

import pytest

from pytest_rageval.generation.abilities.gold_passages import CorpusPages, gold_pages, positives_of
from pytest_rageval.generation.abilities.negatives import DEPTH, find_negatives
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.model.ranking import Ranking, ScoredPassage

PRICE = Instance("q1", "What did the company cost?", (("44 billion",),), qrels={"gold#1": 1, "other": 0})
POSITIVE = Passage(
    "gold#1", "The company was bought for 44 billion by Ann Lee in the spring.", role="positive", page="gold"
)


def ranking(*texts: str) -> Ranking:
    return Ranking(tuple(ScoredPassage(f"d{at}", 10.0 - at, text) for at, text in enumerate(texts)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They paid 44bn for it.", "holds_answer"),
        ("It went for $44 billion.", "holds_answer"),
        ("收购价为440亿。", "holds_answer"),
        ("They paid 44,000 million.", "holds_answer"),
        ("The company was bought for 45 billion by Ann Lee in the spring.", "near_duplicate"),
        ("They paid 4.4 billion for the other one.", ""),
        ("They paid 144 billion.", ""),
        ("The company has 44 shops.", ""),
    ],
)
def test_a_passage_that_states_the_answer_in_any_notation_is_not_a_negative(text: str, reason: str) -> None:
    result = find_negatives(PRICE, ranking(text), [POSITIVE], 1)
    assert dict(result.excluded) == ({reason: 1} if reason else {})
    assert [each.text for each in result.passages] == ([] if reason else [text])


def test_a_negative_may_have_no_score() -> None:
    result = find_negatives(PRICE, Ranking((ScoredPassage("d1", None, "A shop in Oslo."),)), [POSITIVE], 1)
    assert [dict(each.metadata) for each in result.passages] == [{"rank": 1, "score": None}]


def test_gold_pages_are_excluded_and_negatives_have_rank_and_score() -> None:
    items = (ScoredPassage("gold#7", 9.0, "Nothing."), ScoredPassage("d1", 8.00004, "The company has a shop in Oslo."))
    result = find_negatives(PRICE, Ranking(items), [POSITIVE], 2)
    assert dict(result.excluded) == {"gold_page": 1}
    assert [(each.id, each.role, dict(each.metadata)) for each in result.passages] == [
        ("d1", "negative", {"rank": 2, "score": 8.0})
    ]
    assert result.reason == "short_pool"


def test_only_the_first_fifty_passages_are_used_without_duplicates() -> None:
    texts = [f"{number * 79_190_017:020} " * 4 for number in range(60)]
    result = find_negatives(PRICE, ranking("Same text here.", "Same text here.", *texts), [], 100)
    assert len(result.passages) == DEPTH - 1
    assert result.excluded == {"near_duplicate": 1}


def test_negatives_of_the_record_come_first_and_one_with_the_answer_is_left_out() -> None:
    passages = (Passage("n0", "It cost 44bn.", role="negative"), Passage("d0", "A shop in Bergen.", role="negative"))
    record = Instance("q1", PRICE.question, PRICE.gold, passages=passages)
    result = find_negatives(record, ranking("The company has a museum."), [], 2)
    assert [each.id for each in result.passages] == ["d0", "d0-2"]
    assert result.excluded == {"holds_answer": 1}


@pytest.mark.parametrize("gold", [(), (("yes",),)])
def test_a_gold_answer_that_cannot_be_matched_with_text_has_no_negatives(gold: tuple[tuple[str, ...], ...]) -> None:
    result = find_negatives(Instance("q1", "Is it open?", gold), ranking("No."), [], 3)
    assert (result.passages, result.reason) == ((), "no_gold")


def test_positives_come_from_the_record_or_from_its_gold_pages() -> None:
    corpus = CorpusPages.of(
        [
            Passage("hall#0", "The hall has a roof.", page="hall"),
            Passage("hall#1", "It has 70 seats.", page="hall"),
            Passage("inn#0", "The inn has 70 seats and 9 rooms.", page="inn"),
        ]
    )
    seats = Instance("q1", "How many seats?", (("70",),), provenance=(("hall",),))
    assert [(each.id, each.role) for each in positives_of(seats, corpus)] == [("hall#1", "positive")]
    two_slots = Instance("q2", "How many seats and rooms?", (("70",), ("9",)), qrels={"hall#1": 1, "inn#0": 1})
    assert [(each.id, each.group) for each in positives_of(two_slots, corpus)] == [("hall#1", 0), ("inn#0", 0)]
    with_passages = Instance("q3", "How many?", (("70",),), passages=(Passage("a", "70 seats"), Passage("b", "a roof")))
    assert [each.id for each in positives_of(with_passages, corpus)] == ["a"]
    assert gold_pages(two_slots) == {"hall#1", "inn#0", "hall", "inn"}
