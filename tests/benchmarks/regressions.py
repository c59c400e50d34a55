"""How often a gate on a baseline raises a false alarm, and how often it finds a true drop.

    python tests/benchmarks/regressions.py [--experiments N]

Targets: at most 5 % of unchanged runs fail, with one gate, with 80 cells and with 10 to 40 gates. A drop of 10 points
over 300 cases is found in 80 % of runs. The smallest detectable drop at the true share of change is found in
77 % to 83 %; the one that a run reports, from the share it estimates, in at least 77 %.

Every experiment draws cases, a baseline and a new run over them. Most cases are right or wrong in every run, the others
are right now and then; the graded scores of half of the cases vary from run to run. The drop breaks some of the cases
permanently: their score is 0. A gate fails if the drop exceeds its tolerance and the one-sided
p-value, after Holm's correction over its cells, is at most 0.05. `many_gates` describes sessions of many gates, and
compares ways to decide them together.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from many_gates import METHODS, Session, detected, red_shares, share
from measuring import table
from numpy.typing import NDArray

from pytest_rageval.analysis.baseline.multiplicity import holm
from pytest_rageval.analysis.baseline.paired_tests import PairedTest, paired_test
from pytest_rageval.analysis.baseline.power import least_drop

ALPHA = 0.05
CELLS = 80
MEAN = 0.8  # of the runs without a drop
FLAKY = 0.2  # share of cases that are sometimes right

Run = list[float]
Shares = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Kind:
    """A metric and how often a case is asked; whether its score is 0 or 1."""

    name: str
    binary: bool
    repeats: int = 1

    def shares(self, n: int, draw: np.random.Generator) -> Shares:
        """Return the mean score of each case."""
        if not self.binary:
            chances: Shares = draw.beta(4, 1, n)
            return chances
        steady = draw.random(n) < (MEAN - FLAKY / 2) / (1 - FLAKY)
        return np.where(draw.random(n) < FLAKY, draw.beta(2, 2, n), steady)

    def scores(self, shares: Shares, draw: np.random.Generator) -> Shares:
        """Return a run's scores of the cases."""
        size = (self.repeats, len(shares))
        if self.binary:
            hits: Shares = (draw.random(size) < shares).mean(axis=0)
            return hits
        noise = draw.normal(0, 0.15, size) * (np.arange(len(shares)) % 2)
        noisy: Shares = np.clip(shares + noise, 0, 1).mean(axis=0)
        return noisy


KINDS = (
    Kind("0/1", binary=True),
    Kind("0/1, 3 repeats", binary=True, repeats=3),
    Kind("graded", binary=False),
    Kind("graded, 3 repeats", binary=False, repeats=3),
)


def runs(kind: Kind, n: int, drop: float, draw: np.random.Generator) -> tuple[Run, Run]:
    """Return two runs over ``n`` cases, the new one lower by ``drop`` in the mean."""
    shares = kind.shares(n, draw)
    broken = draw.random(n) < drop / MEAN
    before, after = kind.scores(shares, draw), np.where(broken, 0.0, kind.scores(shares, draw))
    return before.tolist(), after.tolist()


def fails(cells: list[PairedTest], tolerance: float = 0.0) -> bool:
    """Return whether a gate over the cells fails."""
    decided = zip(cells, holm([cell.p_worse for cell in cells]), strict=True)
    return any((cell.delta or 0) < -tolerance and p is not None and p <= ALPHA for cell, p in decided)


def alarms(kind: Kind, n: int, cells: int, experiments: int) -> float:
    """Return the share of gates that fail although nothing became worse."""
    return fmean(
        fails([paired_test(*runs(kind, n, 0.0, draw), alpha=ALPHA, cells=cells) for _ in range(cells)])
        for draw in _draws(experiments)
    )


def detection_rate(kind: Kind, n: int, drop: float, tolerance: float, experiments: int) -> float:
    """Return the share of drops for which a gate fails."""
    return fmean(
        fails([paired_test(*runs(kind, n, drop, draw), alpha=ALPHA)], tolerance) for draw in _draws(experiments)
    )


def reported_drop(kind: Kind, n: int, cells: int, experiments: int) -> tuple[float, float]:
    """Return the mean smallest detectable drop that runs without a drop report, and how often it is found."""
    drops, hits = list[float](), 0
    for draw in _draws(experiments):
        least = paired_test(*runs(kind, n, 0.0, draw), alpha=ALPHA, cells=cells).least_drop
        if least is None or least > MEAN:
            raise SystemExit(f"{n} cases are too few")
        drops.append(least)
        p_worse = paired_test(*runs(kind, n, least, draw), alpha=ALPHA, cells=cells).p_worse
        hits += p_worse is not None and p_worse <= ALPHA / cells
    return fmean(drops), hits / experiments


def planned_drop(n: int, changing: float, cells: int, experiments: int) -> tuple[float, float]:
    """Return the smallest detectable drop at this share of change of 0/1 scores, and how often it is found."""
    least = least_drop(n, changing=changing, alpha=ALPHA / cells)
    if least is None:
        raise SystemExit(f"{n} cases are too few")
    total, hits = min(1.0, changing + least), 0
    for draw in _draws(experiments):
        at = draw.random(n)
        worse, better = at < (total + least) / 2, (at >= (total + least) / 2) & (at < total)
        before, after = np.where(worse, 1.0, 0.0).tolist(), np.where(better, 1.0, 0.0).tolist()
        p_worse = paired_test(before, after, alpha=ALPHA, cells=cells).p_worse
        hits += p_worse is not None and p_worse <= ALPHA / cells
    return least, hits / experiments


def _draws(experiments: int) -> Iterator[np.random.Generator]:
    return map(np.random.default_rng, range(experiments))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=300, help="of each row; over 80 cells a quarter")
    experiments = parser.parse_args().experiments
    started = time.perf_counter()
    rows = [["false alarms, wished at most 5 %", "cases", "cells", "gates that fail"]]
    for kind in KINDS:
        for n, cells, of in ((300, 1, experiments), (142 if kind.binary else 40, CELLS, experiments // 4)):
            rows.append([kind.name, f"{n}", f"{cells}", share(alarms(kind, n, cells, of), of)])
    print(table(rows))
    rows = [["a drop of 10 points, wished 80 %", "cases", "tolerance", "found"]]
    for kind in KINDS:
        for tolerance in (0.0, 0.02):
            hits = detection_rate(kind, 300, 0.1, tolerance, experiments)
            rows.append([kind.name, "300", f"{tolerance}", share(hits, experiments)])
    print(table(rows))
    rows = [["smallest detectable drop, as reported, wished 77 % or more", "cases", "cells", "points", "found"]]
    for kind in KINDS:
        for n, cells in ((100, 1), (300, 1), (300, CELLS)):
            least, hits = reported_drop(kind, n, cells, experiments)
            rows.append([kind.name, f"{n}", f"{cells}", f"{100 * least:.1f}", share(hits, experiments)])
    print(table(rows))
    rows = [["smallest detectable drop at the true share, wished 77 % to 83 %", "cases", "cells", "points", "found"]]
    for n, changing, cells in ((20, 0.0, 1), (300, 0.0, 1), (300, 0.1, 1), (300, 0.3, 1), (142, 0.1, CELLS)):
        least, hits = planned_drop(n, changing, cells, experiments)
        rows.append([f"0/1, {changing:.0%} change", f"{n}", f"{cells}", f"{100 * least:.1f}", share(hits, experiments)])
    print(table(rows))
    many_gates(experiments)
    print(f"{time.perf_counter() - started:.0f} s")


def many_gates(experiments: int) -> None:
    """Print how often sessions of many gates turn red, by how their gates are decided, and what they find."""
    rows = [["sessions without a drop that turn red, wished at most 5 %", "gates", *METHODS]]
    for gates in (10, 20, 40):
        for each in (
            Session(gates, 60, 0.1), Session(gates, 60, 0.4), Session(gates, 60, 0.2, shared=True),
            Session(gates, 60, 0.4, graded=True),
        ):  # fmt: skip
            shares = red_shares(each, 0.0, experiments)
            rows.append([_label(each), f"{gates}", *(share(of, experiments) for of in shares.values())])
    print(table(rows), flush=True)
    rows = [["sessions that find a drop of 15 points", "gates", *METHODS]]
    for each in (
        Session(40, 60, 0.02), Session(40, 60, 0.05), Session(40, 60, 0.1), Session(10, 60, 0.05, shared=True),
        Session(10, 60, 0.2, shared=True), Session(20, 60, 0.1, shared=True), Session(20, 60, 0.1, True, True),
    ):  # fmt: skip
        shares = red_shares(each, 0.15, experiments)
        rows.append([_label(each), f"{each.gates}", *(share(of, experiments) for of in shares.values())])
    print(table(rows), flush=True)
    rows = [["smallest detectable drop at the true share, wished 77 % to 83 %", "gates", "points", "found"]]
    for each in (Session(1, 60, 0.1), Session(10, 60, 0.1), Session(40, 60, 0.05), Session(40, 300, 0.1)):
        drop, hits = detected(each, experiments)
        rows.append([_label(each), f"{each.gates}", f"{100 * drop:.1f}", share(hits, experiments)])
    print(table(rows))


def _label(session: Session) -> str:
    kind, cases = "graded" if session.graded else "0/1", "shared" if session.shared else "separate"
    return f"{kind}, {session.cases} {cases} cases, {session.changing:.0%} change"


if __name__ == "__main__":
    main()
