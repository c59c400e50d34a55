from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples.metric_samples import slots, value

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import CaseError
from pytest_rageval.metrics.rankings.relevance import judgements, overlap
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Gold, Instance, Passage, Relevance
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

METRICS = Catalog().metrics
GOLD = (
    Passage("g1", "The Ash meets the Tarn at Corran, below the old mill.", role="positive"),
    Passage("g2", "A bridge of stone was built there in 1931 by Tom Reed.", role="positive"),
    Passage("g3", "石桥于1931年由林禾建成，桥长四十米。", role="positive"),
    Passage("n1", "The shop opens at ten on every day but Sunday.", role="negative"),
)


def sample(
    relevance: Relevance,
    *texts: str,
    gold: Gold = slots(["Tom Reed", "T. Reed"], "1931"),  # noqa: B008 - a tuple
    passages: tuple[Passage, ...] = GOLD,
    ranking: Ranking | None = None,
) -> Sample:
    """Return a sample whose ranking has these texts, best first."""
    result = Ranking(tuple(ScoredPassage(f"d{at}", text=text) for at, text in enumerate(texts)))
    case = Case("q", Instance("q", "?", gold, passages), None, {}, relevance=relevance)
    return Sample(case, Answer("", result if ranking is None else ranking))


def values(of: Sample, *names: str) -> list[float | str | None]:
    return [value(METRICS.get(name), of) for name in names]


def grades(of: Sample) -> list[int]:
    judged = judgements(of)
    assert isinstance(judged, tuple)
    return list(judged[0].values())


def test_by_answers_a_passage_with_an_alias_is_relevant() -> None:
    of = sample("answers", "It opens at ten.", "By T. REED.", "In 1931.", "In 19311.")
    assert grades(of) == [0, 1, 1, 0]
    assert values(of, "P@2", "P@4", "Success@1", "RR", "Judged@4") == [0.5, 0.5, 0.0, 0.5, 1.0]


def test_by_answers_the_title_counts() -> None:
    result = Ranking((ScoredPassage("a", 2.0, "He built it.", "Tom Reed"), ScoredPassage("b", 1.0, "Nobody.", "Ann")))
    assert grades(sample("answers", ranking=result)) == [1, 0]


def test_by_answers_missed_passages_are_unknown() -> None:
    of = sample("answers", "By Tom Reed.")
    names = ("R@5", "AP", "AP@5", "Rprec", "nDCG", "nDCG@10", "kilt:R@5")
    assert values(of, *names) == ["not_applicable: unknown_relevant"] * 7
    assert [METRICS.get(name).needs_all for name in (*names, "P@5", "RR", "Success@1", "Judged", "token_f1")] == [
        *[True] * 7, *[False] * 5,
    ]  # fmt: skip


def test_by_overlap_each_gold_passage_is_found_once() -> None:
    half = "Prices rise. A bridge of stone was built there in 1931"
    of = sample(
        "overlap", "Nothing of it here.", half, GOLD[1].text + " It still stands.", "桥：石桥于1931年由林禾建成。"
    )
    assert grades(of) == [0, 0, 1, 1, 1]  # the last is the gold passage that was not found
    assert values(of, "R@2", "R@3", "R@4", "P@4", "RR") == [
        0.0, pytest.approx(1 / 3), pytest.approx(2 / 3), 0.5, pytest.approx(1 / 3),
    ]  # fmt: skip
    assert grades(sample("overlap", half, "Nothing.", half)) == [1, 0, 0, 1, 1]  # equally long: the better rank


def test_by_overlap_a_heading_or_a_scrap_finds_nothing() -> None:
    gold = (Passage("g", "The phone has the longest battery life of all.", role="positive"),)
    for scrap in ("# Phones\n\nThe", "The phone has the", "life of all.", "# Phones"):
        of = sample("overlap", scrap, gold[0].text, passages=gold)
        assert grades(of) == [0, 1]
        assert values(of, "RR", "R@1") == [0.5, 0.0]
    short = (Passage("g", "Open daily.", role="positive"),)
    assert grades(sample("overlap", "Daily", "It is open daily, also in May.", passages=short)) == [0, 1]


def test_by_overlap_one_passage_that_holds_all_gold_finds_all() -> None:
    of = sample("overlap", " ".join(p.text for p in GOLD), "Nothing.")
    assert values(of, "R@1", "nDCG@5", "AP", "Rprec") == [1.0] * 4
    of = sample("overlap", f"{GOLD[0].text} {GOLD[1].text}", GOLD[0].text)
    assert grades(of) == [1, 0, 1]
    assert values(of, "R@5") == [0.5]


def test_by_overlap_ranks_are_those_of_the_scores() -> None:
    result = Ranking((ScoredPassage("low", 1.0, GOLD[0].text), ScoredPassage("high", 2.0, GOLD[0].text)))
    judged = judgements(sample("overlap", ranking=result))
    assert isinstance(judged, tuple)
    assert (judged[0]["high"], judged[0]["low"]) == (1, 0)
    twice = Ranking((ScoredPassage("a", 1.0, "x"), ScoredPassage("a", 2.0, "y")))
    with pytest.raises(CaseError, match="has the document 'a' at ranks 1 and 2"):
        judgements(sample("overlap", ranking=twice))


@pytest.mark.parametrize("relevance", ["answers", "overlap"])
def test_unjudged_cases_are_unscored_and_rankings_without_hits_are_zero(relevance: Relevance) -> None:
    assert values(sample(relevance), "P@5", "RR", "Judged@5") == [0.0, 0.0, 0.0]
    of = sample(relevance)
    assert values(Sample(of.case, Answer("")), "P@5", "Judged") == ["no_ranking"] * 2
    ids = Ranking((ScoredPassage("a", text="x"), ScoredPassage("b")))
    assert values(sample(relevance, ranking=ids), "P@5", "Judged") == ["no_texts"] * 2


def test_without_gold_there_is_nothing_to_judge_by() -> None:
    assert values(sample("answers", "x", gold=()), "P@5") == ["not_applicable: no_gold"]
    assert values(sample("overlap", "x", passages=GOLD[3:]), "P@5") == ["not_applicable: no_gold_passages"]
    assert values(sample("ids", "x"), "P@5") == ["not_applicable: no_qrels"]


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("a b c d e f g h i j", "x y c d e f g z z z", 5),  # half, in one run
        ("a b c d e f g h i j k", "x y c d e f g z z z z", 0),  # five of eleven
        ("a b c d e f", "a b c x d e f", 0),  # all, but in no run of five
        ("a b c d", "x a b c d y", 0),  # the whole text is shorter than `MIN_RUN`
        ("x a b c d y", "a b c d", 4),  # all of a short gold passage
        ("a b c", "a b c d", 0),
        ("a", "a", 1),
        ("", "", 0),
        ("", "a", 0),
        ("a", "", 0),
    ],
)
def test_texts_overlap_in_one_run_that_is_half_of_the_shorter_and_long_enough(
    text: str, gold: str, expected: int
) -> None:
    assert overlap(text.split(), gold.split()) == expected


WORDS = st.lists(st.sampled_from("abc"), max_size=24)


@given(WORDS, WORDS, st.integers(0, 24))
def test_a_passage_cut_in_two_overlaps_in_one_of_the_halves(gold: list[str], other: list[str], at: int) -> None:
    assert overlap(gold, gold) == len(gold)
    if len(gold) >= 10 or len(gold) == 1:
        assert overlap([*gold[:at], *other], gold) or overlap([*other, *gold[at:]], gold)


@given(st.lists(WORDS.filter(bool), min_size=1, max_size=3), st.lists(WORDS, max_size=4), st.integers(0, 4))
def test_a_gold_passage_itself_is_relevant_unless_one_before_holds_it(
    golds: list[list[str]], others: list[list[str]], at: int
) -> None:
    text, before = " ".join(golds[0]), [" ".join(each) or "none" for each in others[:at]]
    texts = [*before, text, *(" ".join(each) or "none" for each in others[at:])]
    gold = tuple(Passage(f"g{n}", " ".join(each), role="positive") for n, each in enumerate(golds))
    result = grades(sample("overlap", *texts, passages=gold))
    assert result[len(before)] == 1 or any(f" {text} " in f" {each} " for each in before)


@given(st.lists(st.sampled_from([*(p.text for p in GOLD), GOLD[0].text + GOLD[1].text, "none"]), max_size=8))
def test_recall_grows_and_never_passes_1(texts: list[str]) -> None:
    of = sample("overlap", *texts)
    recalls = [METRICS.get(f"R@{k}").compute(of).value or 0.0 for k in range(1, 9)]
    assert recalls == sorted(recalls)
    assert recalls[-1] <= 1
    for name in ("nDCG@5", "AP", "Rprec", "P@5"):
        assert 0 <= (METRICS.get(name).compute(of).value or 0.0) <= 1
