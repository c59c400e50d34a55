"""Compare the corrected means (``people:METRIC``) of two runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean

from pytest_rageval.analysis.baseline.paired_tests import PairedTest
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.baseline.snapshot import Measured
from pytest_rageval.analysis.baseline.units_of_pairs import units_of_pairs
from pytest_rageval.analysis.corrected_mean import FEWEST, corrected_mean, influences, standard_error
from pytest_rageval.metrics.judges.people import corrected_metric

__all__ = ["corrected_difference", "judged_pairs", "too_few_labels"]

Test = Callable[[Sequence[Pair]], PairedTest]
"""A function that tests whether the scores of pairs changed."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class _PseudoValues:
    """The pseudo-values of one run.

    Attributes:
        values: the pseudo-value of each case, see `corrected_difference`.
        error: the standard error of their mean.
        n: number of labelled cases.
    """

    values: tuple[float, ...]
    error: float
    n: int


def judged_pairs(pairs: Sequence[Pair], metric: str) -> list[Pair]:
    """Return the pairs that a comparison of ``people:METRIC`` tests: those with a value of METRIC in both runs.

    Return none if one of the runs has too few labelled answers.
    """
    judged = corrected_metric(metric)
    both = [pair for pair in pairs if judged in pair.before.scores and judged in pair.after.scores]
    return [] if too_few_labels(both, metric) else both


def too_few_labels(pairs: Sequence[Pair], metric: str) -> str:
    """Return why two runs have too few labels to compare their corrected means; "" if they have enough."""
    for run, is_before in (("the baseline", True), ("this run", False)):
        labelled = [pair for pair in pairs if metric in (pair.before if is_before else pair.after).scores]
        n = units_of_pairs(labelled).n if labelled else 0
        if n < FEWEST:
            return f"{run} has {n} of {FEWEST} labels of its own answers"
    return ""


def corrected_difference(
    pairs: Sequence[Pair], metric: str, test: Test, *, higher_is_better: bool, alpha: float
) -> PairedTest:
    """Test whether the corrected mean changed, over pairs from `judged_pairs`.

    Each case gets a pseudo-value in each run: the run's corrected mean plus K times the influence of the case on that
    mean (see `corrected_mean.influences`), with K cases. Their mean is the corrected mean and varies as much: a
    labelled case moves it by more than a case that only the judge scored. The paired test runs on the pseudo-values.

    A few labels often contain no error of the judge, which makes the paired test too optimistic. Each p is therefore at
    least the p of Student's test with the standard errors of both means; these allow for unseen errors.

    Args:
        pairs: the cases in both runs.
        metric: ``people:METRIC``.
        test: the paired test that runs on the pseudo-values.
        higher_is_better: whether a lower value is worse.
        alpha: level of the test; the smallest detectable drop depends on it.

    Sources: J. W. Tukey, "Bias and confidence in not-quite large samples", Annals of Mathematical Statistics 29 (1958),
    the pseudo-values; D. L. Wallace, "Bounds on normal approximations to Student's and the chi-square distributions",
    Annals of Mathematical Statistics 30 (1959), the tail of t.
    """
    if not pairs:
        return test(())
    cases = _cases(pairs, metric)
    before, after = ([case[at] for case in cases] for at in (0, 1))
    was, now = _pseudo_values(before, metric), _pseudo_values(after, metric)
    result = test(
        [
            Pair(replace(one, scores={metric: first}), replace(other, scores={metric: second}))
            for one, other, first, second in zip(before, after, was.values, now.values, strict=True)
        ]
    )
    error = math.hypot(was.error, now.error)
    worse = (result.delta or 0.0) * (-1 if higher_is_better else 1)
    tail = _tail(worse / error, min(was.n, now.n) - 1)
    result = replace(
        result,
        p_worse=max(result.p_worse or 0.0, tail),
        p_value=max(result.p_value or 0.0, 2 * min(tail, 1 - tail)),
        changing=1.0,
        step=error * math.sqrt(result.n_units),
    )
    return result.at_level(alpha)


def _cases(pairs: Sequence[Pair], metric: str) -> list[tuple[Measured, Measured]]:
    """Return each case as (before, after), with its scores averaged over its settings."""
    cases: dict[tuple[str, str, str, str], list[Pair]] = {}
    for pair in pairs:
        key = pair.before.testbed, pair.before.case, pair.after.testbed, pair.after.case
        cases.setdefault(key, []).append(pair)
    return [
        (_mean([pair.before for pair in each], metric), _mean([pair.after for pair in each], metric))
        for each in cases.values()
    ]


def _mean(settings: Sequence[Measured], metric: str) -> Measured:
    names = corrected_metric(metric), metric
    values = {name: [each.scores[name] for each in settings if name in each.scores] for name in names}
    return replace(settings[0], scores={name: fmean(each) for name, each in values.items() if each})


def _pseudo_values(cases: Sequence[Measured], metric: str) -> _PseudoValues:
    judged = corrected_metric(metric)
    labelled, others = ([case for case in cases if (metric in case.scores) is is_in] for is_in in (True, False))
    people, judge = ([case.scores[name] for case in labelled] for name in (metric, judged))
    rest = [case.scores[judged] for case in others]
    weight = (corrected_mean(people, judge, rest).weight or 0.0) if rest else 0.0
    errors = [person - weight * value for person, value in zip(people, judge, strict=True)]
    mean = fmean(errors) + (weight * fmean(rest) if rest else 0.0)
    moves = influences(people, judge, rest, weight)
    by_case = dict(zip(map(id, (*labelled, *others)), moves, strict=True))
    values = tuple(mean + len(cases) * by_case[id(case)] for case in cases)
    return _PseudoValues(values, standard_error(errors, rest, weight), len(labelled))


def _tail(t: float, df: int) -> float:
    """Return the chance of a value above ``t`` under Student's t, to about 0.001."""
    z = (8 * df + 1) / (8 * df + 3) * math.sqrt(df * math.log1p(t * t / df))
    return 1 - _NORMAL.cdf(math.copysign(z, t))
