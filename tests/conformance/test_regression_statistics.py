"""Compare paired tests and corrections with scipy and statsmodels, on two recorded, labelled systems."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import paired_test

SYSTEMS = ("claude-2", "gpt-4-1106-preview")
N = 150

Answers = dict[str, dict[str, dict[str, str]]]
Sides = tuple[list[float], list[float]]


def rows_of(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def answers(rageval_data: Path) -> Answers:
    """Return system -> question's id -> its recorded answer, with its label."""
    source = rageval_data / "financebench"
    if not source.is_dir():
        pytest.skip(f"FinanceBench is not at {source}")
    return {
        system: {row["financebench_id"]: row for row in rows_of(source / f"{system}_inContext.jsonl")}
        for system in SYSTEMS
    }


def sides(answers: Answers) -> Sides:
    """Return whether people called each answer right, for the first system and for the second."""
    one, other = (answers[system] for system in SYSTEMS)
    before, after = ([float(side[case]["label"] == "Correct Answer") for case in one] for side in (one, other))
    return before, after


def table(before: Sequence[float], after: Sequence[float]) -> list[list[int]]:
    """Return how many cases are right in both, in the first only, in the second only, and in none."""
    both = list(zip(before, after, strict=True))
    return [[both.count((x, y)) for y in (1.0, 0.0)] for x in (1.0, 0.0)]


def test_the_p_value_of_two_systems_equals_mcnemars(answers: Answers) -> None:
    before, after = sides(answers)
    result = paired_test(before, after)
    counts = table(before, after)
    assert (result.n_pairs, result.n_worse, result.n_better) == (N, counts[0][1], counts[1][0])
    assert result.p_value == pytest.approx(mcnemar(counts, exact=True).pvalue)
    assert result.p_worse == pytest.approx(
        stats.binomtest(counts[0][1], counts[0][1] + counts[1][0], alternative="greater").pvalue
    )
    assert result.delta == pytest.approx((sum(after) - sum(before)) / N)
    assert result.p_worse is not None
    assert result.p_worse < 0.05
    assert result.ci95 is not None
    assert result.ci95[1] < 0


def test_p_values_of_every_part_of_the_questions_equal_statsmodels(answers: Answers) -> None:
    before, after = sides(answers)
    for start, size in itertools.product(range(0, N, 10), (5, 20, 60, N)):
        one, other = before[start : start + size], after[start : start + size]
        assert paired_test(one, other).p_value == pytest.approx(mcnemar(table(one, other), exact=True).pvalue)


def test_corrections_over_cells_equal_scipy_and_statsmodels(answers: Answers) -> None:
    before, after = sides(answers)
    cells = [slice(at, at + size) for size in (10, 30, N) for at in range(0, N, size)]
    p_values = [paired_test(before[cell], after[cell]).p_value for cell in cells]
    assert len({*p_values}) > 3
    raw = [p for p in p_values if p is not None]
    assert holm(p_values) == pytest.approx(multipletests(raw, method="holm")[1])


def similarity(answer: str, gold: str) -> float:
    """Return the share of words that the two have in common."""
    one, other = set(answer.lower().split()), set(gold.lower().split())
    return len(one & other) / len(one | other)


def test_the_difference_of_graded_scores_equals_scipys(answers: Answers) -> None:
    one, other = (answers[system] for system in SYSTEMS)
    before, after = (
        [similarity(side[c]["model_answer"], str(side[c]["gold_answer"])) for c in one] for side in (one, other)
    )
    result = paired_test(before, after)
    for alternative, got in (("two-sided", result.p_value), ("less", result.p_worse)):
        expected = stats.permutation_test(
            (after, before),
            lambda x, y, axis=-1: np.mean(x - y, axis=axis),
            permutation_type="samples", alternative=alternative, n_resamples=5_000, vectorized=True, random_state=1,
        ).pvalue  # fmt: skip
        assert got == pytest.approx(expected, abs=0.03)
    interval = stats.bootstrap(
        (np.subtract(after, before),), np.mean, n_resamples=5_000, random_state=np.random.default_rng(1)
    ).confidence_interval
    assert result.ci95 == pytest.approx(tuple(interval), abs=0.08 * (interval.high - interval.low))
