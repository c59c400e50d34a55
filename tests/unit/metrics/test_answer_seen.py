"""answer_seen: the share of the gold answer in the passages that a system saw."""

from __future__ import annotations

from pytest_rageval.metrics.rankings.answer_seen import answer_seen
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

GOLD = (("Paris", "the French capital"), ("1889",))


def share_seen(*texts: str, supplied: tuple[Passage, ...] | None = None, ranked: bool = True) -> float | None:
    ranking = Ranking(tuple(ScoredPassage(f"d{at}", text=text) for at, text in enumerate(texts))) if ranked else None
    case = Case("q", Instance("q", "Where and when?", GOLD, passages=supplied), supplied, {})
    return answer_seen(Sample(case, Answer("", ranking)))


def test_each_slot_counts_once_if_any_passage_contains_any_alias() -> None:
    assert share_seen("It stands in the French capital.", "It opened in 1889.") == 1.0
    assert share_seen("Paris, Paris, the French capital.") == 0.5
    assert share_seen("Lyon.") == 0.0
    assert share_seen() == 0.0


def test_a_passage_without_text_makes_a_missing_answer_unknown() -> None:
    assert share_seen("Paris, 1889.", "") == 1.0
    assert share_seen("Paris.", "") is None


def test_supplied_passages_count_without_a_ranking() -> None:
    supplied = (Passage("p0", "Paris."), Passage("p1", "In 1889."))
    assert share_seen(supplied=supplied, ranked=False) == 1.0
    assert share_seen("Lyon.", supplied=supplied) == 0.0
    assert share_seen(ranked=False) is None


def test_the_share_is_unknown_without_gold() -> None:
    case = Case("q", Instance("q", "?"), (Passage("p0", "Paris."),), {})
    assert answer_seen(Sample(case, Answer(""))) is None
