from __future__ import annotations

import pytest
from support.samples.metric_samples import value
from support.samples.ranking_samples import ranking, retrieved

from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.metrics.published.omnieval_compat import OMNIEVAL_MAP_COMPAT

AP = Catalog().metrics.get("AP")


@pytest.mark.parametrize(
    ("documents", "relevant", "published"),
    [
        ("abcde", "az", 1.0),
        ("abcde", "ce", 0.366667),
        ("baaca", "a", 0.588889),  # a repeated document counts each time
        ("abc", "z", 0.0),
    ],
)
def test_values_equal_the_published_ones(documents: str, relevant: str, published: float) -> None:
    ranking_sample = retrieved(ranking(*documents), dict.fromkeys(relevant, 1))
    assert value(OMNIEVAL_MAP_COMPAT, ranking_sample) == pytest.approx(published, abs=1e-6)


def test_missed_documents_do_not_lower_the_value_unlike_in_average_precision() -> None:
    ranking_sample = retrieved(ranking(*"abcde"), {"a": 1, "z": 1})
    assert (value(OMNIEVAL_MAP_COMPAT, ranking_sample), value(AP, ranking_sample)) == (1.0, 0.5)


def test_the_order_of_the_answer_decides_and_its_scores_are_ignored() -> None:
    ranking_sample = retrieved(ranking(("x", 1.0), ("a", 2.0)), {"a": 1, "x": 0})
    assert (value(OMNIEVAL_MAP_COMPAT, ranking_sample), value(AP, ranking_sample)) == (0.5, 1.0)


def test_cases_without_qrels_or_ranking_are_unscored_and_an_empty_ranking_scores_0() -> None:
    assert value(OMNIEVAL_MAP_COMPAT, retrieved(ranking("a"))) == "not_applicable: no_qrels"
    assert value(OMNIEVAL_MAP_COMPAT, retrieved(None, {"a": 1})) == "no_ranking"
    assert value(OMNIEVAL_MAP_COMPAT, retrieved(ranking(), {"a": 1})) == 0.0
