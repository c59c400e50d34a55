"""Rank correlations, checked against scipy."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_rageval.analysis import correlation
from pytest_rageval.analysis.correlation import RankCorrelation, rank_correlation

RANDOM = np.random.default_rng(7)


def tied(n: int, values: int) -> list[float]:
    return [float(value) / values for value in RANDOM.integers(0, values + 1, n)]


def distinct(n: int) -> list[float]:
    return [float(value) for value in RANDOM.random(n)]


@pytest.mark.parametrize("n", [3, 10, 257])
@pytest.mark.parametrize("one", [lambda n: tied(n, 1), lambda n: tied(n, 5), distinct], ids=["0/1", "P@5", "distinct"])
@pytest.mark.parametrize("other", [lambda n: tied(n, 1), distinct], ids=["0/1", "distinct"])
def test_the_coefficients_are_those_of_scipy(n: int, one: object, other: object) -> None:
    x, y = ([*generate(n - 2), 0.0, 1.0] for generate in (one, other))  # type: ignore[operator] # neither is constant
    result = rank_correlation(x, y)
    assert result.n == n
    assert result.tau_b == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert result.rho == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_full_agreement_is_1_and_full_disagreement_is_minus_1() -> None:
    x = [0.1, 0.2, 0.4, 0.8]
    same, opposite = rank_correlation(x, [v * v for v in x]), rank_correlation(x, [1 - v for v in x])
    assert (same.tau_b, same.rho, opposite.tau_b, opposite.rho) == (1.0, 1.0, -1.0, -1.0)
    assert same.tau_b_ci95 == same.rho_ci95 == (1.0, 1.0)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "too_few"), ([0.0, 1.0], [0.0, 1.0], "too_few"),
        ([1.0, 1.0, 1.0], [0.0, 0.5, 1.0], "constant"), ([0.0, 0.5, 1.0], [0.0, 0.0, 0.0], "constant"),
    ],
)  # fmt: skip
def test_an_undefined_correlation_has_a_reason(x: Sequence[float], y: Sequence[float], reason: str) -> None:
    assert rank_correlation(x, y) == RankCorrelation(len(x), reason=reason)


def test_the_interval_equals_the_bootstraps_and_is_the_same_each_time() -> None:
    x = distinct(60)
    y = [a + 0.5 * b for a, b in zip(x, distinct(60), strict=True)]
    result = rank_correlation(x, y)
    assert result == rank_correlation(x, y)
    resamples = np.random.default_rng(3).integers(0, 60, (2_000, 60))
    for measure, ci95 in ((stats.kendalltau, result.tau_b_ci95), (stats.spearmanr, result.rho_ci95)):
        each = [measure(np.take(x, at), np.take(y, at)).statistic for at in resamples[:1_000]]
        assert ci95 == pytest.approx(np.quantile(each, (0.025, 0.975)), abs=0.03)


def test_resamples_that_are_constant_are_left_out() -> None:
    result = rank_correlation([0, 0, 0, 1], [0, 0, 1, 1])
    assert result.tau_b == pytest.approx(stats.kendalltau([0, 0, 0, 1], [0, 0, 1, 1]).statistic)
    assert result.tau_b_ci95 is not None
    assert -1 <= result.tau_b_ci95[0] <= result.tau_b_ci95[1] <= 1


@pytest.mark.parametrize("n", [2_000, 5_000])
def test_many_distinct_values_take_little_longer_than_drawing_the_resamples(n: int) -> None:
    x = distinct(n)
    y = [a + b for a, b in zip(x, distinct(n), strict=True)]
    start = time.process_time()
    np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=2_000_000 // n)
    middle = time.process_time()
    result = rank_correlation(x, y)
    assert time.process_time() - middle < 10 * (middle - start)
    assert result.tau_b == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)


def test_without_intervals_nothing_is_resampled(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = distinct(50), distinct(50)
    expected = replace(rank_correlation(x, y), tau_b_ci95=None, rho_ci95=None)
    computed: list[int] = []
    coefficients = correlation.tau_b_and_rho

    def counting_coefficients(table: Any, *columns: Any) -> Any:
        computed.append(table.shape[1])
        return coefficients(table, *columns)

    monkeypatch.setattr(correlation, "tau_b_and_rho", counting_coefficients)
    assert rank_correlation(x, y, intervals=False) == expected
    assert sum(computed) == 1
    rank_correlation(x, y)
    assert sum(computed) == 1_002


def test_no_numpy_is_imported_for_an_undefined_correlation() -> None:
    script = (
        "import sys; from pytest_rageval.analysis.correlation import rank_correlation as r\n"
        "r([1.0, 1.0, 1.0], [0.0, 1.0, 0.5]); r([], []); print('numpy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False"]
