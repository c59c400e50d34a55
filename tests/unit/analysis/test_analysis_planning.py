"""Number of cases that a test needs, and the smallest drop that it detects."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_rageval.analysis.baseline.power import at_least, cases_needed, least_drop, power_of


def power_by_definition(n: int, drop: float, changing: float, alpha: float) -> float:
    """Return the power from its definition: the sum over all numbers of pairs that fall and that rise."""
    worse, better = np.divmod(np.arange((n + 1) ** 2), n + 1)
    worse, better = worse[worse + better <= n], better[worse + better <= n]
    passes = stats.binom.sf(worse - 1, worse + better, 0.5) <= alpha
    total = min(1.0, changing + drop)
    shares = [(total + drop) / 2, (total - drop) / 2, 1 - total]
    kinds = np.stack([worse, better, n - worse - better], axis=-1)[passes]
    return float(stats.multinomial.pmf(kinds, n, shares).sum())


@pytest.mark.parametrize(
    ("n", "drop", "changing", "alpha"),
    [(40, 0.1, 0.3, 0.05), (60, 0.2, 0.25, 0.01), (30, 0.5, 0.9, 0.05), (25, 0.2, 1.0, 0.05), (50, 0.0, 0.4, 0.2)],
)
def test_the_power_of_few_changes_is_exact(n: int, drop: float, changing: float, alpha: float) -> None:
    assert power_of(n, drop, changing=changing, alpha=alpha) == pytest.approx(
        power_by_definition(n, drop, changing, alpha), abs=1e-6
    )


@pytest.mark.parametrize(("n", "drop", "changing"), [(150, 0.15, 0.4), (120, 0.2, 0.5), (99, 0.25, 0.9), (81, 0.2, 1)])
def test_the_power_of_many_changes_is_approximate(n: int, drop: float, changing: float) -> None:
    assert power_of(n, drop, changing=changing) == pytest.approx(power_by_definition(n, drop, changing, 0.05), abs=0.03)


@pytest.mark.parametrize(("alpha", "needed"), [(0.05, 5), (0.03125, 5), (0.0312, 6), (0.5, 1), (0.05 / 80, 11)])
def test_without_rises_a_drop_is_significant_from_a_number_of_falls_on(alpha: float, needed: int) -> None:
    assert power_of(200, 0.04, changing=0.0, alpha=alpha) == pytest.approx(stats.binom.sf(needed - 1, 200, 0.04))


def test_300_cases_without_chance_changes_detect_a_drop_of_two_points() -> None:
    assert least_drop(300, changing=0.0) == pytest.approx(0.0223, abs=1e-4)
    assert least_drop(300, changing=0.1) == pytest.approx(0.0595, abs=1e-4)
    assert least_drop(300, changing=0.1, step=0.2) == pytest.approx(0.0595 / 5, abs=1e-4)


@pytest.mark.parametrize(
    ("drop", "changing", "expected"), [(0.1, 0.0, 66), (0.1, 0.12, 146), (0.05, 0.1, 398), (0.02, 0.1, 1_952)]
)
def test_the_needed_cases_are_the_smallest_number_that_detects_the_drop(
    drop: float, changing: float, expected: int
) -> None:
    assert cases_needed(drop, changing=changing) == expected
    assert power_of(expected, drop, changing=changing) >= 0.8 > power_of(expected - 1, drop, changing=changing)


def test_the_needed_cases_depend_on_the_drop_relative_to_the_step() -> None:
    assert cases_needed(0.01, changing=0.1, step=0.2) == cases_needed(0.05, changing=0.1)


@pytest.mark.parametrize("drop", [0.3, 0.0, 1e-7])
def test_no_number_of_cases_detects_a_drop_beyond_the_step_or_near_0(drop: float) -> None:
    assert cases_needed(drop, changing=0.5, step=0.2) is None


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30, 1_001])
def test_the_tail_of_fair_coins_is_that_of_scipy(n: int) -> None:
    for successes in {0, 1, n // 2, n // 2 + 1, n - 1, n, n + 1} - {-1}:
        assert at_least(successes, n) == pytest.approx(stats.binom.sf(successes - 1, n, 0.5), rel=1e-9)
