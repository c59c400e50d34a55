"""Sessions of many baseline gates, for `regressions.py`: how often they turn red, and which drops they find.

Each case of an unchanged system changes with the same chance, up or down equally often. Gates have separate cases or
share them. Gates that share cases are metrics that follow a case's change in seven of ten cases. A drop breaks cases
permanently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_rageval.analysis.baseline.family import adjust_family, smallest_p
from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import PairedTest, paired_test
from pytest_rageval.analysis.baseline.power import least_drop

__all__ = ["METHODS", "Session", "detected", "red_shares"]

ALPHA = 0.05
AGREE = 0.7  # share of cases in which a metric follows the change of the case

Changes = NDArray[np.floating[Any]]


def alone(tests: Sequence[PairedTest]) -> list[float]:
    """Return the p-value of each gate without any correction."""
    return [1.0 if each.p_worse is None else each.p_worse for each in tests]


def plain_holm(tests: Sequence[PairedTest]) -> list[float]:
    """Return Holm's p-values over all gates."""
    return [1.0 if p is None else p for p in holm(alone(tests))]


def tarone_holm(tests: Sequence[PairedTest]) -> list[float]:
    """Return Holm's p-values with Tarone's factor: it counts only gates whose smallest attainable p is as small."""
    p_values, smallest = alone(tests), [smallest_p(len(each.changes)) for each in tests]
    order = sorted(range(len(tests)), key=lambda at: p_values[at])
    adjusted, least = list(p_values), 0.0
    for rank, at in enumerate(order):
        able = sum(smallest[other] <= p_values[at] for other in order[rank:])
        adjusted[at] = least = max(least, min(1.0, p_values[at] * max(1, able)))
    return adjusted


def joint_flips(tests: Sequence[PairedTest]) -> list[float]:
    """Return the plugin's p-values: Westfall and Young's step-down."""
    return [1.0 if each.p_value is None else each.p_value for each in adjust_family(tests, ALPHA)]


METHODS: dict[str, Callable[[Sequence[PairedTest]], list[float]]] = {
    "each alone": alone,
    "Holm": plain_holm,
    "Tarone + Holm": tarone_holm,
    "joint flips": joint_flips,
}
"""Ways to decide the gates of a session; the last one is the plugin's."""


@dataclass(frozen=True)
class Session:
    """Gates over cases.

    Attributes:
        gates: how many.
        cases: of each.
        changing: share of cases that change by chance.
        shared: whether all gates are over the same cases.
        graded: whether changes have sizes of 0..1, or all 1.
    """

    gates: int
    cases: int
    changing: float
    shared: bool = False
    graded: bool = False

    def changes(self, drop: float, draw: np.random.Generator) -> Changes:
        """Return the change of each case in one gate, positive for the worse."""
        at = draw.random(self.cases)
        signs = 1.0 * (at < self.changing / 2 + drop) - ((at >= self.changing / 2 + drop) & (at < self.changing + drop))
        changes: Changes = signs * draw.random(self.cases) if self.graded else signs
        return changes

    def tests(self, drop: float, draw: np.random.Generator) -> list[PairedTest]:
        """Return the tests of all gates; the drop is in the first gate, or in the shared cases of all gates."""
        if not self.shared:
            each = [self.changes(drop if not gate else 0.0, draw) for gate in range(self.gates)]
            return [paired_test_of(changes, f"{gate}-") for gate, changes in enumerate(each)]
        base, tests = self.changes(drop, draw), []
        for _ in range(self.gates):
            follows = draw.random(self.cases) < AGREE
            tests.append(paired_test_of(np.where(follows, base, self.changes(0.0, draw)), ""))
        return tests


def paired_test_of(changes: Changes, prefix: str) -> PairedTest:
    """Return the paired test of two runs with these changes; each case is a unit."""
    values = changes.tolist()
    test = paired_test([max(0.0, value) for value in values], [max(0.0, -value) for value in values], alpha=ALPHA)
    return replace(test, changes={f"{prefix}{at}": value for at, value in enumerate(values) if value})


def red_shares(session: Session, drop: float, experiments: int) -> dict[str, float]:
    """Return the share of red sessions by method; with a drop and separate cases, only its gate counts."""
    shares = dict.fromkeys(METHODS, 0.0)
    for draw in _draws(experiments):
        tests = session.tests(drop, draw)
        for name, method in METHODS.items():
            p_values = method(tests)
            lowest = p_values[0] if drop and not session.shared else min(p_values)
            shares[name] += (lowest <= ALPHA) / experiments
    return shares


def detected(session: Session, experiments: int) -> tuple[float, float]:
    """Return the first gate's mean smallest detectable drop at the true share of change, and how often it is found.

    The level is that of a session without a drop.
    """
    drops, hits = list[float](), 0
    for draw in _draws(experiments):
        tests = session.tests(0.0, draw)
        drop = least_drop(session.cases, changing=session.changing, alpha=adjust_family(tests, ALPHA)[0].level)
        if drop is None:
            raise SystemExit(f"{session.cases} cases are too few")
        drops.append(drop)
        tests[0] = paired_test_of(session.changes(drop, draw), "0-")
        hits += joint_flips(tests)[0] <= ALPHA
    return fmean(drops), hits / experiments


def share(of: float, experiments: int) -> str:
    """Return a share with its standard error."""
    return f"{of:.1%} ± {math.sqrt(of * (1 - of) / experiments):.1%}"


def _draws(experiments: int) -> Iterator[np.random.Generator]:
    return map(np.random.default_rng, range(experiments))
