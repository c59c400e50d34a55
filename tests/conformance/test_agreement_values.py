"""Compare agreement with scikit-learn's kappa and Krippendorff's definition and worked examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.analysis.people.agreement import Rating, agreement
from pytest_rageval.analysis.people.reliability import alpha

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)

places = st.integers(0, 4)


@settings(deadline=None)
@given(st.lists(st.tuples(places, places), min_size=2, max_size=30))
def test_kappa_and_accuracy_equal_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn, whose values ours shall equal, is missing")
    people, verdicts = zip(*pairs, strict=True)
    ratings = [Rating(at, LEVELS[two], (LEVELS[one],)) for at, (one, two) in enumerate(pairs)]
    result = agreement(ratings, LEVELS, intervals=False)
    assert result.accuracy.value == pytest.approx(metrics.accuracy_score(people, verdicts))
    assert [list(row) for row in result.confusion] == metrics.confusion_matrix(
        people, verdicts, labels=range(5)
    ).tolist()
    if len({*people, *verdicts}) == 1:
        assert result.kappa.value is result.kappa_quadratic.value is None
        return
    for ours, weights in ((result.kappa, None), (result.kappa_quadratic, "quadratic")):
        theirs = metrics.cohen_kappa_score(people, verdicts, labels=range(5), weights=weights)
        assert ours.value == pytest.approx(theirs, abs=1e-12)


def by_definition(units: Sequence[Sequence[float]]) -> float | None:
    """Return interval alpha from Krippendorff's definition of the coincidence matrix, value by value."""
    together: Counter[tuple[float, float]] = Counter()
    for unit in units:
        for one, other in permutations(unit, 2):
            together[one, other] += 1 / (len(unit) - 1)  # type: ignore[assignment] # a count may be a fraction
    by_value: Counter[float] = Counter()
    for (one, _), count in together.items():
        by_value[one] += count
    n = sum(by_value.values())
    observed = sum(count * (one - other) ** 2 for (one, other), count in together.items()) / n if n else 0
    expected = sum(by_value[a] * by_value[b] * (a - b) ** 2 for a in by_value for b in by_value)
    return 1 - observed * n * (n - 1) / expected if expected else None


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(LEVELS), max_size=4), max_size=20))
def test_alpha_equals_its_definition(units: list[list[float]]) -> None:
    ours, target = alpha(units, LEVELS), by_definition(units)
    assert ours == (target if target is None else pytest.approx(target, abs=1e-12))


RELIABILITY_DATA = """
    1 2 3 3 2 1 4 1 2 * * *
    1 2 3 3 2 2 4 1 2 5 * 3
    * 3 3 3 2 3 4 2 2 5 1 *
    1 2 3 3 2 4 4 1 2 5 1 *
"""
"""Krippendorff's data C: four observers, twelve units, values missing."""


def test_alpha_equals_krippendorffs_example() -> None:
    rows = [row.split() for row in RELIABILITY_DATA.strip().splitlines()]
    units = [[float(value) for value in column if value != "*"] for column in zip(*rows, strict=True)]
    assert alpha(units, (1.0, 2.0, 3.0, 4.0, 5.0)) == pytest.approx(0.849, abs=5e-4)


def test_alpha_equals_krippendorffs_binary_example() -> None:
    one, other = ["0", "1", "0", "0", "0", "0", "0", "0", "1", "0"], ["1", "1", "1", "0", "0", "1", "0", "0", "0", "0"]
    units = [(float(a), float(b)) for a, b in zip(one, other, strict=True)]
    assert alpha(units, (0.0, 1.0)) == pytest.approx(0.095, abs=5e-4)
