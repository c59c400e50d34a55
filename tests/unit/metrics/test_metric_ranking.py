from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
from support.samples.metric_samples import value
from support.samples.ranking_samples import ranking, retrieved

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError, UnknownNameError
from pytest_rageval.metrics.rankings.ranked_passages import by_rank
from pytest_rageval.metrics.rankings.ranking import MEASURES
from pytest_rageval.metrics.rankings.trec import MAX_GRADE, TrecEval
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.ranking import Ranking, ScoredPassage

METRICS = Catalog().metrics
NAMES = ["AP", "AP@3", "Judged", "Judged@3", "P@3", "R@3", "RR", "RR@3", "Rprec", "Success@3", "nDCG", "nDCG@3"]

GRADED = {"a": 2, "b": 0, "c": 1, "e": 1}
RANKING = ranking("b", "a", "x", "c")  # ranks 2 and 4 are relevant, x has no grade, e is missing


single_precision: Any = np.float32


def log2(rank: int) -> float:
    return math.log2(rank + 1)


IDEAL = 2 / log2(1) + 1 / log2(2) + 1 / log2(3)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AP", (1 / 2 + 2 / 4) / 3),
        ("AP@3", (1 / 2) / 3),
        ("Judged", 3 / 4),
        ("Judged@3", 2 / 3),
        ("Judged@10", 3 / 4),
        ("P@1", 0.0),
        ("P@4", 2 / 4),
        ("P@10", 2 / 10),
        ("R@2", 1 / 3),
        ("R@1000000", 2 / 3),
        ("RR", 1 / 2),
        ("RR@1", 0.0),
        ("RR@2", 1 / 2),
        ("Rprec", 1 / 3),
        ("Success@1", 0.0),
        ("Success@2", 1.0),
        ("nDCG", (2 / log2(2) + 1 / log2(4)) / IDEAL),
        ("nDCG@2", (2 / log2(2)) / (2 / log2(1) + 1 / log2(2))),
    ],
)
def test_values_with_grades_equal_those_computed_by_hand(name: str, expected: float) -> None:
    assert value(METRICS.get(name), retrieved(RANKING, GRADED)) == pytest.approx(expected, abs=1e-12)


def test_each_metric_has_its_name_and_direction() -> None:
    for name in NAMES:
        metric = METRICS.get(name)
        assert (metric.name, metric.higher_is_better, metric.binary) == (name, True, name.startswith("Success"))


@pytest.mark.parametrize("name", NAMES)
def test_cases_without_qrels_or_ranking_are_unscored_and_rankings_without_hits_score_0(name: str) -> None:
    metric = METRICS.get(name)
    assert value(metric, retrieved(RANKING)) == "not_applicable: no_qrels"
    assert value(metric, retrieved(None, GRADED)) == "no_ranking"
    assert value(metric, retrieved(ranking(), GRADED)) == 0.0
    if not name.startswith("Judged"):
        assert value(metric, retrieved(RANKING, {"b": 0})) == 0.0
        assert value(metric, retrieved(RANKING, {"z": 1})) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_a_duplicate_document_is_refused(name: str) -> None:
    duplicates = retrieved(ranking("b", "a", "c", "a"), GRADED)
    with pytest.raises(CaseError, match=r"^the ranking has the document 'a' at ranks 2 and 4, wanted each once$"):
        METRICS.get(name).compute(duplicates)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_a_score_that_is_not_finite_is_refused(score: float) -> None:
    with pytest.raises(CaseError, match=r"^the score of 'b' is -?(nan|inf), wanted a finite number or None$"):
        METRICS.get("AP").compute(retrieved(ranking(("a", 1.0), ("b", score)), GRADED))


def test_a_grade_above_the_maximum_is_refused() -> None:
    assert value(METRICS.get("nDCG"), retrieved(ranking("a"), {"a": MAX_GRADE})) == 1.0
    with pytest.raises(CaseError, match=r"^the grade of 'a' is 1000000000, wanted at most 1,000$"):
        METRICS.get("nDCG").compute(retrieved(ranking("a"), {"a": 10**9}))


@pytest.mark.parametrize("name", NAMES)
def test_a_grade_below_zero_is_not_relevant(name: str) -> None:
    """With only negative grades, the library may never return."""
    negative_grades = value(METRICS.get(name), retrieved(RANKING, {"a": -1, "b": -2}))
    assert negative_grades == value(METRICS.get(name), retrieved(RANKING, {"a": 0, "b": 0}))


def ids(result: Ranking) -> str:
    return "".join(item.doc_id for item in by_rank(result))


def test_scores_decide_the_order_if_each_passage_has_one() -> None:
    assert ids(ranking(("a", 0.1), ("b", 0.3), ("c", 0.2))) == "bca"
    assert ids(ranking(("a", 0.1), ("b", 0.3), ("c", None))) == "abc"
    assert ids(ranking("b", "a", "c")) == "bac"
    assert ids(ranking(("a", 1), ("b", 3), ("c", 2))) == "bca"
    assert ids(Ranking((ScoredPassage("a", single_precision(0.5)), ScoredPassage("b", single_precision(0.75))))) == "ba"


def test_scores_equal_in_single_precision_are_ordered_by_descending_id() -> None:
    assert ids(ranking(("a", 1.0), ("c", 1.0), ("b", 1.0))) == "cba"
    assert ids(ranking(("a", 1.00000001), ("b", 1.0))) == "ba"
    assert ids(ranking(("a", 1.000001), ("b", 1.0))) == "ab"
    assert ids(ranking(("ｚ", 1.0), ("𝐳", 1.0), ("z", 1.0))) == "𝐳ｚz"  # ordered by their bytes in UTF-8


@pytest.mark.parametrize(
    "result",
    [ranking(("a", 1.00000001), ("b", 1.0)), ranking(("ａ", 1.0), ("𝐳", 1.0)), ranking(("a", 1), ("b", 3))],
)
def test_trec_eval_ranks_like_our_order(result: Ranking) -> None:
    for rank, item in enumerate(by_rank(result), 1):
        assert value(METRICS.get("RR"), retrieved(result, {item.doc_id: 1})) == pytest.approx(1 / rank)


def test_numpy_numbers_are_valid_scores() -> None:
    result = Ranking((ScoredPassage("a", single_precision(0.5)), ScoredPassage("b", single_precision(0.75))))
    assert value(METRICS.get("RR"), retrieved(result, {"a": 1})) == 0.5


def test_another_measure_or_sample_is_computed_again() -> None:
    trec, ranking_sample = TrecEval(), retrieved(RANKING, GRADED)
    assert trec.score(ranking_sample, "P", 4).value == 0.5
    assert trec.score(ranking_sample, "P", 2).value == 0.5
    assert trec.score(ranking_sample, "map").value == pytest.approx(1 / 3)
    assert trec.score(retrieved(ranking("x"), GRADED), "P", 4).value == 0.0
    assert trec.score(ranking_sample, "P", 4).value == 0.5


@pytest.mark.parametrize(
    "name", ["nDCG@0", "P@", "nDCG@x", "P", "R@-1", "R@5.0", "P@05", "P@ 5", "AP@٣", "AP:5", "P@1000001"]
)
def test_an_invalid_cutoff_gives_one_sentence(name: str) -> None:
    measure = name.partition("@")[0].partition(":")[0]
    problem = (
        f"test_a.py:3: metric '{name}' has no valid cutoff; write {measure}@K with a whole number K from 1 to 1000000, "
    )
    with pytest.raises(SettingError) as caught:
        METRICS.get(name, "test_a.py:3")
    assert str(caught.value) == f"{problem}as in {measure}@10"


def test_r_precision_takes_no_cutoff() -> None:
    with pytest.raises(SettingError, match=r"^metric 'Rprec@5' takes no cutoff; write Rprec$"):
        METRICS.get("Rprec@5")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("ndcg@10", "nDCG@10"), ("page_r@5", "page_R@5"), ("rprec", "Rprec"), ("Sucess@1", "Success@1")],
)
def test_a_misspelt_name_gives_a_suggestion_with_its_cutoff(name: str, suggestion: str) -> None:
    if suggestion == "Rprec":
        METRICS.get("Rprec")
    with pytest.raises(UnknownNameError, match=f"unknown metric '{name}'; did you mean '{suggestion}'"):
        METRICS.get(name)


def test_a_name_of_a_metric_family_cannot_be_registered() -> None:
    for name in ("P@7", "nDCG", "kilt:accuracy"):
        with pytest.raises(SettingError, match="is already registered"):
            Catalog().metrics.register(name, Metric(name, lambda sample: MEASURES["P"].compute(sample, 1)))


def test_the_error_without_the_ranking_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytrec_eval_ext", None)
    with pytest.raises(MissingDependencyError, match=r"^a ranking metric needs .*'pytest-rageval\[ranking\]'$"):
        TrecEval().prepare()


def test_ids_may_have_any_characters() -> None:
    unusual_ids = retrieved(ranking("x\ud800", "x\0y", "x\0a", "维", "a"), {"x\0a": 1, "x\0": 1, "维": 2, "\udfff": 1})
    names = ["RR", "P@2", "R@3", "R@5", "Rprec"]
    assert [value(METRICS.get(name), unusual_ids) for name in names] == [1 / 3, 0.0, 1 / 4, 2 / 4, 2 / 4]
