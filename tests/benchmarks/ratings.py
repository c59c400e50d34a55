"""Coverage of the 95 % intervals of Bradley-Terry ratings, for drawn duels of systems of known strength.

    python tests/benchmarks/ratings.py

Prints one line for each strength, share of ties and number of cases: the share of intervals that hold the true rating,
and their mean width in points.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from pytest_rageval.analysis.systems.duels import MIDDLE, POINTS, Duel, ratings

STRENGTHS = {
    "alike": ((0.3, 0.0, -0.3), (0.0, 0.4)),
    "two": ((0.5, -0.5), (0.0, 0.4)),
    "far apart": ((2.0, 0.0, -2.0), (0.0,)),
}
"""Logarithms of the strengths, with mean 0, and shares of ties. Systems far apart have no share of 0.4."""


def coverage_and_width(logs: tuple[float, ...], n: int, ties: float, rounds: int) -> tuple[float, float]:
    """Return the coverage and the mean width for ``n`` cases; ``ties`` is the share of ties, in 0..1."""
    generator = np.random.default_rng(3)
    names = [str(at) for at in range(len(logs))]
    hits, widths = 0, []
    for _ in range(rounds):
        duels = []
        for one, other in combinations(range(len(logs)), 2):
            expected = 1 / (1 + np.exp(logs[other] - logs[one]))
            wins = np.clip((expected - ties / 2) / (1 - ties), 0, 1)
            for case in range(n):
                value = 0.5 if generator.random() < ties else float(generator.random() < wins)
                duels.append(Duel(names[one], names[other], value, case))
        for rated, log in zip(ratings(duels, names), logs, strict=True):
            low, high = rated.ci95 or (0.0, 0.0)
            hits += low <= MIDDLE + POINTS * log / np.log(10) <= high
            widths.append(high - low)
    return hits / len(widths), float(np.mean(widths))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="drawn experiments for each line")
    rounds = parser.parse_args().rounds
    for name, (logs, shares) in STRENGTHS.items():
        for ties in shares:
            for n in (5, 15, 40, 120):
                coverage, width = coverage_and_width(logs, n, ties, rounds)
                print(f"{name:9}  ties {ties:.1f}  cases {n:3}  coverage {coverage:.3f}  width {width:3.0f}")


if __name__ == "__main__":
    main()
