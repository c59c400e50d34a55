"""Compare our values with trec_eval's output for its test data, to the printed digit."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest

from pytest_rageval.datasets.qrels import read_qrels
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.metrics.rankings.ranked_passages import by_rank
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
FAMILIES = {"P": "P", "R": "recall", "AP": "map_cut", "nDCG": "ndcg_cut"}
PRINTED = {
    "AP": "map",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "nDCG": "ndcg",
    **{f"{ours}@{k}": f"{theirs}_{k}" for ours, theirs in FAMILIES.items() for k in CUTOFFS},
    **{f"Success@{k}": f"success_{k}" for k in (1, 5, 10)},
}


@pytest.fixture(scope="module")
def trec(rageval_data: Path) -> Path:
    folder = rageval_data / "trec"
    if not folder.is_dir():
        pytest.skip(f"trec_eval's test data is not at {folder}")
    return folder


@pytest.fixture(scope="module")
def samples(trec: Path) -> dict[str, Sample]:
    qrels = read_qrels(trec / "qrels.test")
    result: dict[str, list[ScoredPassage]] = defaultdict(list)
    for line in (trec / "results.test").read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        result[query].append(ScoredPassage(document, float(score)))
    return {
        query: Sample(Case(query, Instance(query, "?", qrels=grades), None, {}), Answer("", Ranking((*result[query],))))
        for query, grades in qrels.items()
    }


@pytest.fixture(scope="module")
def printed(trec: Path) -> dict[tuple[str, str], str]:
    lines = (line.split() for line in (trec / "out.test.aq").read_text().splitlines())
    return {(measure, query): text for measure, query, text in lines}


@pytest.mark.parametrize("name", PRINTED)
def test_values_equal_trec_eval(name: str, samples: dict[str, Sample], printed: dict[tuple[str, str], str]) -> None:
    metric = Catalog().metrics.get(name)
    values = {query: metric.compute(sample).value for query, sample in samples.items()}
    assert len(values) == 3
    for query, value in values.items():
        assert f"{value:.4f}" == printed[PRINTED[name], query]
    assert f"{fmean(value or 0.0 for value in values.values()):.4f}" == printed[PRINTED[name], "all"]


def test_the_first_ten_ranks_equal_trec_evals(samples: dict[str, Sample], printed: dict[tuple[str, str], str]) -> None:
    for query, sample in samples.items():
        assert sample.answer.ranking is not None
        qrels = sample.case.instance.qrels
        relevant = ("1" if qrels.get(item.doc_id) else "0" for item in by_rank(sample.answer.ranking)[:10])
        assert printed["relstring", query] == f"'{''.join(relevant)}'"
