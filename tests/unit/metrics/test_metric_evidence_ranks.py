from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.metrics.rankings.evidence import evidence_of
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance, Passage, Relevance
from pytest_rageval.model.evidence import Chunk, Evidence, EvidencePlace, EvidenceUnit, LocatedEvidence
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

DOCUMENT = "Welcome. The museum opens at nine. The shop closes at six. Dogs are not allowed."
NINE, SIX = EvidenceUnit("visit", "The museum opens at nine"), EvidenceUnit("visit", "The shop closes at six")
METRICS = Catalog().metrics


def place_of(quote: str) -> EvidencePlace:
    start = DOCUMENT.index(quote)
    return EvidencePlace("visit", (start, start + len(quote)), quote)


def locate(chunk_texts: dict[str, str], *units: EvidenceUnit) -> LocatedEvidence:
    """Locate units in a document that is split into chunks with these texts."""
    spans = {name: (DOCUMENT.index(text), DOCUMENT.index(text) + len(text)) for name, text in chunk_texts.items()}
    chunks = {name: Chunk("visit", span, chunk_texts[name]) for name, span in spans.items()}
    return LocatedEvidence({unit: (place_of(unit.quote),) for unit in units}, chunks, {"shop#0", "shop"}.__contains__)


def scores(
    evidence: Evidence, ranking: list[ScoredPassage], located: LocatedEvidence | None, *names: str
) -> dict[str, float | str | None]:
    sample = Sample(
        Case("q", Instance("q", "?", evidence=evidence), None, {}, located=located), Answer("", ranking_of(ranking))
    )
    result = {name: METRICS.get(name).compute(sample) for name in names}
    return {name: score.reason if score.value is None else score.value for name, score in result.items()}


def ranking_of(items: list[ScoredPassage]) -> Ranking:
    return Ranking(tuple(items))


def ids(*names: str) -> list[ScoredPassage]:
    return [ScoredPassage(name) for name in names]


def test_a_quote_across_two_chunks_counts_as_retrieved_with_half_of_it() -> None:
    located = locate({"visit#0": "Welcome. The museum", "visit#1": "opens at nine. The shop"}, NINE)
    names = ("R@1", "R@2", "RR", "P@2", "AP")
    assert scores(((NINE,),), ids("visit#0", "visit#1"), located, *names) == {
        "R@1": 0.0, "R@2": 1.0, "RR": 0.5, "P@2": 0.5, "AP": 0.5,
    }  # fmt: skip
    assert scores(((NINE,),), ids("visit#1", "visit#0"), located, *names) == {
        "R@1": 1.0, "R@2": 1.0, "RR": 1.0, "P@2": 0.5, "AP": 1.0,
    }  # fmt: skip


def test_only_the_first_of_two_overlapping_chunks_is_relevant() -> None:
    located = locate(
        {"visit#0": "Welcome. The museum opens at nine.", "visit#1": "The museum opens at nine. The"}, NINE
    )
    assert scores(((NINE,),), ids("shop#0", "visit#0", "visit#1"), located, "R@1", "R@2", "RR", "P@3", "AP") == {
        "R@1": 0.0, "R@2": 1.0, "RR": 0.5, "P@3": pytest.approx(1 / 3), "AP": 0.5,
    }  # fmt: skip


def test_a_chunk_with_two_units_is_one_relevant_passage_with_the_higher_grade() -> None:
    high = EvidenceUnit("visit", SIX.quote, grade=3)
    located = locate({"visit#0": DOCUMENT}, NINE, high)
    assert scores(((NINE, high),), ids("visit#0", "shop#0"), located, "R@1", "P@2", "Rprec", "nDCG@5") == {
        "R@1": 1.0, "P@2": 0.5, "Rprec": 1.0, "nDCG@5": 1.0,
    }  # fmt: skip


def test_a_unit_that_was_not_retrieved_counts_as_a_missed_relevant_document() -> None:
    located = locate({"visit#0": "Welcome. The museum opens at nine."}, NINE, SIX)
    assert scores(((NINE, SIX),), ids("visit#0"), located, "R@5", "AP", "Rprec", "Success@1") == {
        "R@5": 0.5, "AP": 0.5, "Rprec": 0.5, "Success@1": 1.0,
    }  # fmt: skip


def test_grades_of_missed_units_lower_ndcg() -> None:
    high = EvidenceUnit("visit", SIX.quote, grade=3)
    located = locate({"visit#0": "Welcome. The museum opens at nine."}, NINE, high)
    ideal = 3 + 1 / 1.584962500721156
    assert scores(((NINE, high),), ids("visit#0"), located, "nDCG") == {"nDCG": pytest.approx(1 / ideal)}


def test_each_metric_takes_its_maximum_over_the_alternatives() -> None:
    located = locate({"visit#0": "Welcome. The museum opens at nine.", "visit#2": "The shop closes at six."}, NINE, SIX)
    alternatives = ((NINE, SIX), (SIX,))
    names = ("R@1", "R@3", "RR", "Rprec", "omnieval_map_compat")
    assert scores(alternatives, ids("visit#0", "shop#0", "visit#2"), located, *names) == {
        "R@1": 0.5, "R@3": 1.0, "RR": 1.0, "Rprec": 0.5, "omnieval_map_compat": pytest.approx(5 / 6),
    }  # fmt: skip


def test_parts_of_a_quote_at_different_places_do_not_add_up() -> None:
    other = EvidencePlace("menu", (5, 29), NINE.quote)
    located = LocatedEvidence(
        {NINE: (place_of(NINE.quote), other)},
        {"visit#0": Chunk("visit", (0, 19), DOCUMENT[:19]), "menu#0": Chunk("menu", (0, 15), "x" * 15)},
        lambda name: False,
    )
    assert scores(((NINE,),), ids("visit#0", "menu#0"), located, "R@2") == {"R@2": 0.0}  # 9 of 20 and 8 of 20


def test_passages_with_page_and_span_need_no_corpus_id() -> None:
    located = locate({}, NINE)
    passages = [ScoredPassage("17", page="visit", span=(0, 40)), ScoredPassage("18", page="shop", span=(0, 40))]
    assert scores(((NINE,),), passages[:1], located, "R@1") == {"R@1": 1.0}
    assert scores(((NINE,),), passages[::-1], located, "R@1", "R@2") == {"R@1": "no_texts", "R@2": "no_texts"}


def test_the_id_of_a_chunk_counts_only_with_the_text_of_the_chunk() -> None:
    located = locate({"visit#0": "Welcome. The museum opens at nine."}, NINE)
    stale = [ScoredPassage("visit#0", text="Dogs are not allowed.")]
    assert scores(((NINE,),), stale, located, "R@1") == {"R@1": 0.0}


@pytest.mark.parametrize(
    ("item", "value"),
    [
        (ScoredPassage("n1", text="…the MUSEUM\nopens at nine, and", page="visit"), 1.0),
        (ScoredPassage("n1", text="The museum opens at nine", page="shop"), 0.0),
        (ScoredPassage("visit#3", text="museum opens at"), 1.0),
        (ScoredPassage("shop#3", text="The museum opens at nine"), 0.0),
        (ScoredPassage("visit", text="The museum opens at nine"), 1.0),
        (ScoredPassage("text-1a", text="The museum opens at nine"), 1.0),
        (ScoredPassage("text-1a", text="The muse"), 0.0),
        (ScoredPassage("n1", text="The museum opens at nine", page="/home/ann/docs/visit"), 1.0),
        (ScoredPassage("n1", text="The museum opens at nine", page="C:\\docs\\visit"), 1.0),
        (ScoredPassage("n1", text="museum opens at", page="0b8f7a52-94d3-4c1e-8a63-6fd2f8a91c77"), 1.0),
    ],
)
@pytest.mark.parametrize("corpus", [True, False], ids=["corpus", "no-corpus"])
def test_a_passage_without_a_span_matches_by_its_longest_shared_run(
    item: ScoredPassage, value: float, corpus: bool
) -> None:
    located = locate({}, NINE) if corpus else None
    assert scores(((NINE,),), [item], located, "R@1") == {"R@1": value}


def test_short_shared_runs_do_not_count_and_long_ones_add_up() -> None:
    long = EvidenceUnit("visit", "The museum opens at nine o'clock, and the shop closes in the evening")
    parts = [
        ScoredPassage(f"n{n}", text=text, page="visit") for n, text in enumerate(["the museum", "o'clock", "evening"])
    ]
    assert scores(((long,),), parts, None, "R@3") == {"R@3": 0.0}
    longer_parts = [
        ScoredPassage("n0", text="museum opens at nine"),
        ScoredPassage("n1", text="the shop closes in the night"),
    ]
    assert scores(((long,),), longer_parts, None, "R@1", "R@2") == {"R@1": 0.0, "R@2": 1.0}
    chinese = EvidenceUnit("visit", "博物馆每天上午九点开门")
    assert scores(((chinese,),), [ScoredPassage("n0", text="每天上午九点。")], None, "R@1") == {"R@1": 1.0}
    assert scores(((chinese,),), [ScoredPassage("n0", text="博物馆每天。")], None, "R@1") == {"R@1": 0.0}


def test_half_of_a_short_quote_is_enough() -> None:
    short = EvidenceUnit("visit", "opens at 9:00")
    assert scores(((short,),), [ScoredPassage("n0", text="The museum opens at")], None, "R@1") == {"R@1": 1.0}
    assert scores(((short,),), [ScoredPassage("n0", text="The museum opens.")], None, "R@1") == {"R@1": 0.0}


def test_an_unknown_page_is_ignored_only_with_a_corpus() -> None:
    item = ScoredPassage("n1", text="The museum opens at nine", page="Visit us")
    assert scores(((NINE,),), [item], locate({}, NINE), "R@1") == {"R@1": 1.0}
    assert scores(((NINE,),), [item], None, "R@1") == {"R@1": 0.0}


def test_the_id_of_a_document_matches_all_of_its_passages() -> None:
    located = locate({}, NINE)
    located = LocatedEvidence(located.places, located.chunks, {"visit", "shop"}.__contains__)
    assert scores(((NINE,),), ids("shop", "visit"), located, "R@1", "R@2") == {"R@1": 0.0, "R@2": 1.0}


def test_a_ranking_of_ids_without_texts_needs_a_corpus_with_these_ids() -> None:
    located = locate({}, NINE)
    assert scores(((NINE,),), ids("shop#0"), located, "R@1") == {"R@1": 0.0}
    assert scores(((NINE,),), ids("other#0"), located, "R@1") == {"R@1": "no_texts"}
    assert scores(((NINE,),), ids("visit#0"), None, "R@1") == {"R@1": "no_texts"}


NAMES = ("R@5", "P@5", "AP", "RR", "nDCG@5", "Rprec", "Success@5", "page_R@5", "page_Rprec")


def test_rankings_are_unscored_if_the_corpus_lacks_the_evidence() -> None:
    located = locate({"visit#0": DOCUMENT}, NINE)
    assert set(scores(((SIX,), (NINE, SIX)), ids("visit#0"), located, *NAMES).values()) == {"evidence_not_in_corpus"}
    assert scores(((SIX,), (NINE,)), ids("visit#0"), located, "R@1", "page_Rprec") == {"R@1": 1.0, "page_Rprec": 1.0}


def test_evidence_by_span_needs_a_corpus() -> None:
    evidence: Evidence = ((EvidenceUnit("visit", span=(0, 5)),),)
    assert scores(evidence, ids("visit#0"), None, "R@1") == {"R@1": "evidence_needs_corpus"}


def test_an_empty_ranking_scores_0_and_a_missing_ranking_is_unscored() -> None:
    located = locate({}, NINE)
    assert set(scores(((NINE,),), [], located, *NAMES).values()) == {0.0}
    case = Case("q", Instance("q", "?", evidence=((NINE,),)), None, {}, located=located)
    assert METRICS.get("R@1").compute(Sample(case, Answer(""))) == Score(reason="no_ranking")


def test_the_judged_metric_does_not_apply_to_evidence() -> None:
    reason = "not_applicable: judged_by_evidence"
    assert scores(((NINE,),), ids("visit#0"), locate({}, NINE), "Judged", "Judged@5") == {
        "Judged": reason, "Judged@5": reason,
    }  # fmt: skip


def test_page_metrics_use_the_pages_of_the_units() -> None:
    shop = EvidenceUnit("shop", "x")
    assert scores(((NINE, SIX, shop), (NINE,)), ids("shop#0", "visit#0"), None, "page_Rprec", "page_R@1") == {
        "page_Rprec": 1.0, "page_R@1": 0.5,
    }  # fmt: skip


def test_evidence_overrides_qrels_and_another_relevance_overrides_evidence() -> None:
    instance = Instance("q", "?", (("six",),), qrels={"visit#0": 1}, evidence=((NINE,),))
    answer = Answer("", ranking_of([ScoredPassage("visit#0", text="closes at six", page="visit")]))
    values: dict[Relevance, float] = {"ids": 0.0, "answers": 1.0}
    for relevance, value in values.items():
        case = Case("q", instance, None, {}, relevance=relevance)
        assert METRICS.get("P@1").compute(Sample(case, answer)).value == value


def test_erag_metrics_use_the_labels_instead_of_the_evidence() -> None:
    case = Case("q", Instance("q", "?", evidence=((NINE,),)), None, {}, located=locate({}, NINE))
    sample = Sample(case, Answer("", ranking_of(ids("a", "b"))), labels={"a": Score(0.0), "b": Score(1.0)})
    assert METRICS.get("erag:RR").compute(sample).value == 0.5


def test_kilt_metrics_are_unscored_if_the_corpus_lacks_the_evidence() -> None:
    case = Case("q", Instance("q", "?", (("six",),), evidence=((SIX,),)), None, {}, located=locate({}, NINE))
    assert (
        METRICS.get("kilt:accuracy").compute(Sample(case, Answer("six", ranking_of([])))).reason
        == "evidence_not_in_corpus"
    )
    assert METRICS.get("kilt:accuracy").compute(Sample(case, Answer("six"))).reason == "evidence_not_in_corpus"


@pytest.mark.parametrize(
    ("names", "supplied", "share"),
    [
        (["visit#0"], None, 0.5),
        (["visit#0", "visit#1"], None, 1.0),
        ([], None, 0.0),
        (None, None, None),
        (None, "We say: the shop closes at six.", 0.5),
        (None, "Dogs.", 0.0),
    ],
)
def test_the_evidence_share_is_the_share_of_retrieved_units(
    names: list[str] | None, supplied: str | None, share: float | None
) -> None:
    located = locate({"visit#0": "The museum opens at nine.", "visit#1": "The shop closes at six."}, NINE, SIX)
    passages = None if supplied is None else (Passage("p0", supplied),)
    case = Case(
        "q", Instance("q", "?", evidence=((NINE, SIX),)), passages, {}, located=located if passages is None else None
    )
    ranking = None if names is None else ranking_of(ids(*names))
    assert evidence_of(Sample(case, Answer("", ranking))) == share


def test_the_share_of_the_evidence_is_unknown_if_the_corpus_lacks_it() -> None:
    case = Case("q", Instance("q", "?", evidence=((SIX,),)), None, {}, located=locate({}, NINE))
    assert evidence_of(Sample(case, Answer("", ranking_of(ids("visit#0"))))) is None


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True),
    st.permutations(range(12)),
    st.integers(1, 12),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
def test_units_in_separate_chunks_score_like_qrels(
    chunk_numbers: list[int], order: list[int], length: int, grades: list[int]
) -> None:
    """Chunk n has the characters 10 n to 10 n + 10 of a document; unit n is inside chunk n."""
    text = "abcdefghij"
    units = {n: EvidenceUnit("d", f"cdef{n}", grade=grade) for n, grade in zip(chunk_numbers, grades, strict=False)}
    located = LocatedEvidence(
        {unit: (EvidencePlace("d", (10 * n + 2, 10 * n + 6), "cdef"),) for n, unit in units.items()},
        {f"d#{n}": Chunk("d", (10 * n, 10 * n + 10), text) for n in range(12)},
        lambda name: True,
    )
    ranking = ids(*(f"d#{n}" for n in order[:length]))
    names = ("R@1", "R@3", "R@12", "P@3", "AP", "RR", "nDCG", "nDCG@3", "Rprec", "Success@2")
    qrels = {f"d#{n}": unit.grade for n, unit in units.items()}
    qrels_sample = Sample(Case("q", Instance("q", "?", qrels=qrels), None, {}), Answer("", ranking_of(ranking)))
    by_qrels = {name: METRICS.get(name).compute(qrels_sample).value for name in names}
    assert scores((tuple(units.values()),), ranking, located, *names) == pytest.approx(by_qrels)


@given(st.permutations(range(4)), st.integers(0, 4))
def test_values_never_fall_when_a_ranking_grows(order: list[int], length: int) -> None:
    chunk_texts = {f"visit#{n}": DOCUMENT[20 * n : 20 * n + 24] for n in range(4)}
    located = locate(chunk_texts, NINE, SIX)
    ranking = ids(*(f"visit#{n}" for n in order))
    shorter, longer = (
        scores(((NINE, SIX),), ranking[:n], located, "R@10", "Success@10", "RR") for n in (length, min(length + 1, 4))
    )
    assert all(float(longer[name] or 0) >= float(value or 0) for name, value in shorter.items())
