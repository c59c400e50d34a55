from __future__ import annotations

import random

import pytest
from scipy import stats

from pytest_rageval.analysis.baseline.multiplicity import benjamini_hochberg, holm


def test_holm_multiplies_the_smallest_by_all_and_keeps_the_order() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.4, 1.0]) == [1.0, 1.0, 1.0]


def test_what_could_not_be_tested_does_not_count() -> None:
    assert holm([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert benjamini_hochberg([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert holm([None]) == benjamini_hochberg([None]) == [None]
    assert holm([]) == benjamini_hochberg([]) == []


@pytest.mark.parametrize("n", [1, 2, 7, 80])
def test_q_values_are_those_of_scipy(n: int) -> None:
    draw = random.Random(n)
    p_values = [round(draw.random() ** 3, 2) or 0.001 for _ in range(n)]
    assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values))
