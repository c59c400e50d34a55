"""Laws of means and pass rates over repeated cases."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.repeats import repeats_of
from pytest_rageval.analysis.statistics import mean_of, mean_of_cases
from pytest_rageval.model.outcome import Outcome, Score

RATES = st.sampled_from([0.0, 1.0])
SHARES = st.floats(0, 1)
RUNS = st.integers(2, 6).flatmap(
    lambda k: st.lists(st.lists(RATES, min_size=k, max_size=k), min_size=1, max_size=12).map(lambda cases: (k, cases))
)


def outcomes_of(cases: list[list[float]]) -> list[Outcome]:
    return [
        Outcome(f"t[{at}-{run}]", str(at), "t", {"repeat": str(run)}, "s", "scored", scores={"m": Score(value)})
        for at, case in enumerate(cases)
        for run, value in enumerate(case, 1)
    ]


@given(RUNS)
def test_pass_rates_are_the_published_estimators(repeats_and_cases: tuple[int, list[list[float]]]) -> None:
    """pass^k = E[C(c, k) / C(n, k)] (Yao et al., 2024); pass@k = E[1 - C(n - c, k) / C(n, k)] (Chen et al., 2021)."""
    k, cases = repeats_and_cases
    result = repeats_of("m", True, [], outcomes_of(cases))
    assert result is not None
    passed = [int(sum(case)) for case in cases]
    assert result.pass_hat_k == pytest.approx(fmean(math.comb(c, k) / math.comb(k, k) for c in passed))
    assert result.pass_at_1 == pytest.approx(fmean(1 - math.comb(k - c, 1) / math.comb(k, 1) for c in passed))
    assert len(result.flips) == sum(0 < c < k for c in passed)
    assert len(result.always_missed) == passed.count(0)
    assert result.pass_hat_k is not None
    assert result.pass_at_1 is not None
    assert result.pass_hat_k <= result.pass_at_1 <= 1 - len(result.always_missed) / len(cases) + 1e-12


@given(st.lists(st.lists(SHARES, min_size=1, max_size=5), min_size=1, max_size=12), st.booleans())
def test_an_interval_over_cases_lies_in_the_range_and_contains_its_mean(cases: list[list[float]], binary: bool) -> None:
    values = [[float(round(value)) for value in case] for case in cases] if binary else cases
    mean = mean_of_cases(values, binary=binary)
    assert (mean.n, mean.n_cases) == (sum(map(len, values)), len(values))
    assert mean.value == pytest.approx(fmean(map(fmean, values)))
    if mean.ci95 is not None and mean.value is not None:
        assert 0 <= mean.ci95[0] <= mean.value <= mean.ci95[1] <= 1


@given(st.lists(SHARES, min_size=1, max_size=20), st.integers(1, 5), st.booleans())
def test_repeats_with_equal_values_do_not_narrow_the_interval(values: list[float], k: int, binary: bool) -> None:
    shares = [float(round(value)) for value in values] if binary else values
    once, often = mean_of(shares, binary=binary), mean_of_cases([[value] * k for value in shares], binary=binary)
    assert often.value == pytest.approx(once.value)
    assert often.ci95 == (None if once.ci95 is None else pytest.approx(once.ci95, abs=1e-9))


@given(RUNS, st.randoms())
def test_the_order_of_the_runs_does_not_matter(
    repeats_and_cases: tuple[int, list[list[float]]], random: object
) -> None:
    outcomes = outcomes_of(repeats_and_cases[1])
    shuffled = list(outcomes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert cell_of("m", True, shuffled) == cell_of("m", True, outcomes)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20))
def test_differences_have_an_interval_between_minus_one_and_one(values: list[float]) -> None:
    mean = mean_of(values, binary=False, low=-1.0)
    assert mean.ci95 is not None
    assert mean.value is not None
    assert -1 <= mean.ci95[0] <= mean.value + 1e-12
    assert mean.value - 1e-12 <= mean.ci95[1] <= 1
