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
        ("baaca", "a", 0.588889),  # a hit again is a hit again
        ("abc", "z", 0.0),
    ],
)
def test_values_are_the_published(documents: str, relevant: str, published: float) -> None:
    of = retrieved(ranking(*documents), dict.fromkeys(relevant, 1))
    assert value(OMNIEVAL_MAP_COMPAT, of) == pytest.approx(published, abs=1e-6)


def test_it_differs_from_average_precision_by_missed_documents() -> None:
    of = retrieved(ranking(*"abcde"), {"a": 1, "z": 1})
    assert (value(OMNIEVAL_MAP_COMPAT, of), value(AP, of)) == (1.0, 0.5)


def test_ranks_follow_the_answer_and_ignore_its_scores() -> None:
    of = retrieved(ranking(("x", 1.0), ("a", 2.0)), {"a": 1, "x": 0})
    assert (value(OMNIEVAL_MAP_COMPAT, of), value(AP, of)) == (0.5, 1.0)


def test_unjudged_cases_are_unscored_and_rankings_without_hits_are_zero() -> None:
    assert value(OMNIEVAL_MAP_COMPAT, retrieved(ranking("a"))) == "not_applicable: no_qrels"
    assert value(OMNIEVAL_MAP_COMPAT, retrieved(None, {"a": 1})) == "no_ranking"
    assert value(OMNIEVAL_MAP_COMPAT, retrieved(ranking(), {"a": 1})) == 0.0
