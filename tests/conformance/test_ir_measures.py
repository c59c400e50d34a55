"""Compare our values with those of ir_measures, on random judgements and rankings with many ties."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

ir_measures = pytest.importorskip("ir_measures", reason="ir_measures, whose values ours shall equal, is not installed")

NAMES = ("AP", "AP@3", "P@1", "P@3", "P@20", "R@3", "R@20", "RR", "Rprec", "Success@2", "nDCG", "nDCG@3", "nDCG@20")
OF_RANKS = (*NAMES, "Judged", "Judged@3", "Judged@20")
DOCUMENTS = [f"d{number}" for number in range(12)]

runs = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1.5, 0.0, 0.1, 0.1 + 1e-9, 2.0]), min_size=1)
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1)


def ours(name: str, qrels: dict[str, int], run: dict[str, float]) -> float | None:
    ranking = Ranking(tuple(ScoredPassage(document, score) for document, score in run.items()))
    case = Case("q", Instance("q", "?", qrels=qrels), None, {})
    return Catalog().metrics.get(name).compute(Sample(case, Answer("", ranking))).value


def theirs(names: tuple[str, ...], qrels: dict[str, int], run: dict[str, float]) -> dict[str, float]:
    measures = [ir_measures.parse_measure(name) for name in names]
    return {str(each.measure): each.value for each in ir_measures.iter_calc(measures, {"q": qrels}, {"q": run})}


@settings(deadline=None)
@given(grades, runs)
def test_values_equal_ir_measures(qrels: dict[str, int], run: dict[str, float]) -> None:
    assert {name: ours(name, qrels, run) for name in NAMES} == theirs(NAMES, qrels, run)


@settings(deadline=None)
@given(grades, st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True))
def test_values_of_ranks_without_scores_equal_ir_measures(qrels: dict[str, int], documents: list[str]) -> None:
    run = {document: float(-rank) for rank, document in enumerate(documents)}
    assert {name: ours(name, qrels, run) for name in OF_RANKS} == pytest.approx(theirs(OF_RANKS, qrels, run))
