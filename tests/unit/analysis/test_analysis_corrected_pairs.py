"""Comparison of the corrected means of two runs, each with labels of its own answers."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

import pytest

from pytest_rageval.analysis.baseline.comparison import difference, measured_pairs
from pytest_rageval.analysis.baseline.corrected_pairs import too_few_labels
from pytest_rageval.analysis.baseline.paired_tests import PairedTest
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.baseline.snapshot import Measured
from pytest_rageval.analysis.corrected_mean import corrected_mean

METRIC = "people:judged"


def run(people: Sequence[float], judge_scores: Sequence[float], labelled: Collection[int]) -> list[Measured]:
    """Return the cases of a run, of which people labelled some."""
    cases = []
    for at, value in enumerate(judge_scores):
        label = {METRIC: people[at]} if at in labelled else {}
        cases.append(Measured("test", f"c{at}", "system", {}, "", scores={"judged": value} | label))
    return cases


def comparison_of(before: Sequence[Measured], after: Sequence[Measured]) -> PairedTest:
    pairs = [Pair(one, other) for one, other in zip(before, after, strict=True)]
    return difference(measured_pairs(pairs, METRIC), METRIC, higher_is_better=True, alpha=0.05)


def random_run(draw: random.Random, people: Sequence[float], n: int) -> list[Measured]:
    """Return a run whose judge calls half of the wrong answers right, with labels of ``n`` answers."""
    judge_scores = [float(draw.random() < (0.95 if value else 0.5)) for value in people]
    return run(people, judge_scores, draw.sample(range(len(people)), n))


def test_both_means_are_the_corrected_ones() -> None:
    draw = random.Random(1)
    truth = [[float(draw.random() < share) for _ in range(80)] for share in (0.6, 0.4)]
    before, after = (random_run(draw, people, 20) for people in truth)
    comparison = comparison_of(before, after)
    for side, value in ((before, comparison.baseline), (after, comparison.value)):
        labelled = [case.scores for case in side if METRIC in case.scores]
        people, judge_scores = ([scores[name] for scores in labelled] for name in (METRIC, "judged"))
        rest = [case.scores["judged"] for case in side if METRIC not in case.scores]
        assert value == pytest.approx(corrected_mean(people, judge_scores, rest).value)
    assert comparison.n_pairs == 80


def test_answers_that_are_all_labelled_are_compared_by_labels_alone() -> None:
    before, after = run([1.0] * 12, [0.0] * 12, range(12)), run([1.0] * 6 + [0.0] * 6, [0.0] * 12, range(12))
    comparison = comparison_of(before, after)
    assert (comparison.baseline, comparison.value) == (1.0, 0.5)
    assert comparison.p_worse is not None
    assert comparison.p_worse < 0.05


def test_too_few_labels_are_not_compared() -> None:
    before, after = run([1.0] * 30, [1.0] * 30, range(30)), run([1.0] * 30, [1.0] * 30, range(9))
    pairs = [Pair(one, other) for one, other in zip(before, after, strict=True)]
    assert too_few_labels(pairs, METRIC) == "this run has 9 of 10 labels of its own answers"
    assert comparison_of(before, after).p_worse is None


@pytest.mark.parametrize(("n", "least_detected"), [(15, 10), (40, 18)])
def test_an_unchanged_system_rarely_seems_worse_and_a_drop_is_detected(n: int, least_detected: int) -> None:
    """A biased judge: at most 5 false alarms of 60, and most of 20 drops by 0.4 are detected."""
    draw = random.Random(5)
    truth, truth_after_drop = ([float(at < n_right) for at in range(100)] for n_right in (60, 20))
    same = [comparison_of(random_run(draw, truth, n), random_run(draw, truth, n)).p_worse for _ in range(60)]
    worse = [
        comparison_of(random_run(draw, truth, n), random_run(draw, truth_after_drop, n)).p_worse for _ in range(20)
    ]
    assert sum(p is not None and p <= 0.05 for p in same) <= 5
    assert sum(p is not None and p <= 0.05 for p in worse) >= least_detected
