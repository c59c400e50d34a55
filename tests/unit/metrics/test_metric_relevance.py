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
    """Return a sample with a ranking of these texts, best first."""
    result = Ranking(tuple(ScoredPassage(f"d{at}", text=text) for at, text in enumerate(texts)))
    case = Case("q", Instance("q", "?", gold, passages), None, {}, relevance=relevance)
    return Sample(case, Answer("", result if ranking is None else ranking))


def values(ranking_sample: Sample, *names: str) -> list[float | str | None]:
    return [value(METRICS.get(name), ranking_sample) for name in names]


def grades(ranking_sample: Sample) -> list[int]:
    grades_by_id = judgements(ranking_sample)
    assert isinstance(grades_by_id, tuple)
    return list(grades_by_id[0].values())


def test_relevance_by_answers_marks_passages_with_an_alias() -> None:
    ranking_sample = sample("answers", "It opens at ten.", "By T. REED.", "In 1931.", "In 19311.")
    assert grades(ranking_sample) == [0, 1, 1, 0]
    assert values(ranking_sample, "P@2", "P@4", "Success@1", "RR", "Judged@4") == [0.5, 0.5, 0.0, 0.5, 1.0]


def test_relevance_by_answers_also_reads_the_title() -> None:
    result = Ranking((ScoredPassage("a", 2.0, "He built it.", "Tom Reed"), ScoredPassage("b", 1.0, "Nobody.", "Ann")))
    assert grades(sample("answers", ranking=result)) == [1, 0]


def test_relevance_by_answers_leaves_recall_metrics_unscored() -> None:
    ranking_sample = sample("answers", "By Tom Reed.")
    names = ("R@5", "AP", "AP@5", "Rprec", "nDCG", "nDCG@10", "kilt:R@5")
    assert values(ranking_sample, *names) == ["not_applicable: unknown_relevant"] * 7
    assert [METRICS.get(name).needs_all for name in (*names, "P@5", "RR", "Success@1", "Judged", "token_f1")] == [
        *[True] * 7, *[False] * 5,
    ]  # fmt: skip


def test_relevance_by_overlap_counts_each_gold_passage_once() -> None:
    half = "Prices rise. A bridge of stone was built there in 1931"
    ranking_sample = sample(
        "overlap", "Nothing of it here.", half, GOLD[1].text + " It still stands.", "桥：石桥于1931年由林禾建成。"
    )
    assert grades(ranking_sample) == [0, 0, 1, 1, 1]  # the last grade is that of the missed gold passage
    assert values(ranking_sample, "R@2", "R@3", "R@4", "P@4", "RR") == [
        0.0, pytest.approx(1 / 3), pytest.approx(2 / 3), 0.5, pytest.approx(1 / 3),
    ]  # fmt: skip
    assert grades(sample("overlap", half, "Nothing.", half)) == [1, 0, 0, 1, 1]  # equal overlap: the better rank counts


def test_relevance_by_overlap_ignores_a_heading_or_a_fragment() -> None:
    gold = (Passage("g", "The phone has the longest battery life of all.", role="positive"),)
    for fragment in ("# Phones\n\nThe", "The phone has the", "life of all.", "# Phones"):
        ranking_sample = sample("overlap", fragment, gold[0].text, passages=gold)
        assert grades(ranking_sample) == [0, 1]
        assert values(ranking_sample, "RR", "R@1") == [0.5, 0.0]
    short = (Passage("g", "Open daily.", role="positive"),)
    assert grades(sample("overlap", "Daily", "It is open daily, also in May.", passages=short)) == [0, 1]


def test_one_passage_may_overlap_with_all_gold_passages() -> None:
    ranking_sample = sample("overlap", " ".join(p.text for p in GOLD), "Nothing.")
    assert values(ranking_sample, "R@1", "nDCG@5", "AP", "Rprec") == [1.0] * 4
    ranking_sample = sample("overlap", f"{GOLD[0].text} {GOLD[1].text}", GOLD[0].text)
    assert grades(ranking_sample) == [1, 0, 1]
    assert values(ranking_sample, "R@5") == [0.5]


def test_relevance_by_overlap_uses_the_ranks_by_score() -> None:
    result = Ranking((ScoredPassage("low", 1.0, GOLD[0].text), ScoredPassage("high", 2.0, GOLD[0].text)))
    grades_by_id = judgements(sample("overlap", ranking=result))
    assert isinstance(grades_by_id, tuple)
    assert (grades_by_id[0]["high"], grades_by_id[0]["low"]) == (1, 0)
    duplicates = Ranking((ScoredPassage("a", 1.0, "x"), ScoredPassage("a", 2.0, "y")))
    with pytest.raises(CaseError, match="has the document 'a' at ranks 1 and 2"):
        judgements(sample("overlap", ranking=duplicates))


@pytest.mark.parametrize("relevance", ["answers", "overlap"])
def test_cases_without_ranking_or_texts_are_unscored_and_an_empty_ranking_scores_0(relevance: Relevance) -> None:
    assert values(sample(relevance), "P@5", "RR", "Judged@5") == [0.0, 0.0, 0.0]
    ranking_sample = sample(relevance)
    assert values(Sample(ranking_sample.case, Answer("")), "P@5", "Judged") == ["no_ranking"] * 2
    ids = Ranking((ScoredPassage("a", text="x"), ScoredPassage("b")))
    assert values(sample(relevance, ranking=ids), "P@5", "Judged") == ["no_texts"] * 2


def test_cases_without_gold_are_not_applicable() -> None:
    assert values(sample("answers", "x", gold=()), "P@5") == ["not_applicable: no_gold"]
    assert values(sample("overlap", "x", passages=GOLD[3:]), "P@5") == ["not_applicable: no_gold_passages"]
    assert values(sample("ids", "x"), "P@5") == ["not_applicable: no_qrels"]


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        ("a b c d e f g h i j", "x y c d e f g z z z", 5),  # half of the text in one run
        ("a b c d e f g h i j k", "x y c d e f g z z z z", 0),  # five of eleven tokens
        ("a b c d e f", "a b c x d e f", 0),  # all tokens, but no run of five
        ("a b c d", "x a b c d y", 0),  # the whole text is shorter than `MIN_RUN`
        ("x a b c d y", "a b c d", 4),  # the whole of a short gold passage
        ("a b c", "a b c d", 0),
        ("a", "a", 1),
        ("", "", 0),
        ("", "a", 0),
        ("a", "", 0),
    ],
)
def test_texts_overlap_if_one_run_is_long_enough_and_half_of_the_shorter_text(
    text: str, gold: str, expected: int
) -> None:
    assert overlap(text.split(), gold.split()) == expected


WORDS = st.lists(st.sampled_from("abc"), max_size=24)


@given(WORDS, WORDS, st.integers(0, 24))
def test_a_passage_split_in_two_overlaps_with_one_of_the_parts(gold: list[str], other: list[str], at: int) -> None:
    assert overlap(gold, gold) == len(gold)
    if len(gold) >= 10 or len(gold) == 1:
        assert overlap([*gold[:at], *other], gold) or overlap([*other, *gold[at:]], gold)


@given(st.lists(WORDS.filter(bool), min_size=1, max_size=3), st.lists(WORDS, max_size=4), st.integers(0, 4))
def test_a_gold_passage_is_relevant_unless_an_earlier_passage_contains_it(
    golds: list[list[str]], others: list[list[str]], at: int
) -> None:
    text, before = " ".join(golds[0]), [" ".join(each) or "none" for each in others[:at]]
    texts = [*before, text, *(" ".join(each) or "none" for each in others[at:])]
    gold = tuple(Passage(f"g{n}", " ".join(each), role="positive") for n, each in enumerate(golds))
    result = grades(sample("overlap", *texts, passages=gold))
    assert result[len(before)] == 1 or any(f" {text} " in f" {each} " for each in before)


@given(st.lists(st.sampled_from([*(p.text for p in GOLD), GOLD[0].text + GOLD[1].text, "none"]), max_size=8))
def test_recall_grows_with_the_cutoff_up_to_1(texts: list[str]) -> None:
    ranking_sample = sample("overlap", *texts)
    recalls = [METRICS.get(f"R@{k}").compute(ranking_sample).value or 0.0 for k in range(1, 9)]
    assert recalls == sorted(recalls)
    assert recalls[-1] <= 1
    for name in ("nDCG@5", "AP", "Rprec", "P@5"):
        assert 0 <= (METRICS.get(name).compute(ranking_sample).value or 0.0) <= 1
