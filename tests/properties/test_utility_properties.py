"""Laws of eRAG's measures and of rank correlations for any labels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.analysis.correlation import rank_correlation
from pytest_rageval.metrics import BUILTIN, FAMILIES
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.model.sample import Sample
from pytest_rageval.registry import Registry

METRICS: Registry[Metric] = Registry("metric", BUILTIN, families=FAMILIES)
MEASURES = ("AP", "AP@3", "P@1", "P@5", "R@3", "RR", "Rprec", "Success@2", "nDCG", "nDCG@4")

SHARES = st.floats(0, 1)
SCORES = st.none() | st.integers(0, 4).map(float)
PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30)


def sample(labels: list[float], scores: list[float | None] | None = None) -> Sample:
    """Return a sample whose documents have these labels; its qrels are the labels as integers."""
    document_scores = scores or [None] * len(labels)
    result = Ranking(tuple(ScoredPassage(f"d{at}", score) for at, score in enumerate(document_scores)))
    names = result.doc_ids
    qrels = {name: int(label) for name, label in zip(names, labels, strict=True)}
    instance = Instance("q", "?", (("Paris",),), qrels=qrels)
    document_labels = {name: Score(label) for name, label in zip(names, labels, strict=True)}
    return Sample(Case("q", instance, None, {}), Answer("", result), labels=document_labels)


def value(metric: str, of: Sample) -> float | None:
    return METRICS.get(metric).compute(of).value


@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), SCORES), min_size=1, max_size=12))
def test_0_1_labels_give_the_same_values_as_qrels(measure: str, pairs: list[tuple[float, float | None]]) -> None:
    of = sample([label for label, _ in pairs], [score for _, score in pairs])
    assert value(f"erag:{measure}", of) == pytest.approx(value(measure, of), abs=1e-12)


@given(st.integers(1, 12), st.integers(1, 12))
def test_a_ranking_of_fully_useful_documents_scores_one(k: int, more: int) -> None:
    of = sample([1.0] * (k + more))
    assert value(f"erag:P@{k}", of) == value(f"erag:Success@{k}", of) == 1


@given(st.lists(SHARES, max_size=8), st.integers(1, 10))
def test_the_mean_never_exceeds_the_best(labels: list[float], k: int) -> None:
    mean, best = (value(f"erag:{measure}@{k}", sample(labels)) for measure in ("P", "Success"))
    assert mean is not None
    assert best is not None
    assert 0 <= mean <= best + 1e-12 <= 1 + 1e-12
    assert mean == pytest.approx(value(f"erag:P@{k}", sample([*labels, *[0.0] * k])))  # padding changes nothing


@settings(deadline=None, max_examples=50)
@given(PAIRS)
def test_a_correlation_is_symmetric_bounded_and_unchanged_by_monotone_changes(pairs: list[tuple[int, int]]) -> None:
    x, y = [float(one) for one, _ in pairs], [float(other) for _, other in pairs]
    result, swapped = rank_correlation(x, y), rank_correlation(y, x)
    assert (result.n, result.reason, result.tau_b is None) == (swapped.n, swapped.reason, result.rho is None)
    if result.tau_b is None or result.rho is None:
        assert result.reason == ("too_few" if len(pairs) < 3 else "constant")
        return
    assert result.tau_b == pytest.approx(swapped.tau_b)
    assert result.rho == pytest.approx(swapped.rho)
    for ci95 in (result.tau_b_ci95, result.rho_ci95, (result.tau_b, result.rho)):
        assert ci95 is None or all(-1 <= end <= 1 for end in ci95)
    assert rank_correlation([2 * v**3 + 1 for v in x], y) == result
    against = rank_correlation([-v for v in x], y)
    assert against.tau_b == pytest.approx(-result.tau_b)
    assert against.rho == pytest.approx(-result.rho)
