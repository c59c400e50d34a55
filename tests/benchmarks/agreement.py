"""What agreement with intervals costs over a million label pairs, against resampling the pairs.

    python tests/benchmarks/agreement.py [--pairs N]

Target: under 10 s. We resample counts of kinds of cases 1,000 times. The other side resamples the pairs a few times,
computes kappa of each sample, and its time is extrapolated to 1,000. Both sides run in this process.
"""

from __future__ import annotations

import argparse
import random
import time

import numpy as np
from measuring import table

from pytest_rageval.analysis.people.agreement import MAX_RESAMPLES, Rating, agreement

DRAWS = 3
SCALE = (0.0, 0.5, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    n = parser.parse_args().pairs
    rows = [["pairs", "levels", "people", "answers a case", "ours, s", "drawing pairs, s", "ratio"]]
    for levels, people, answers in (((0.0, 1.0), 1, 1), (SCALE, 1, 1), (SCALE, 2, 1), (SCALE, 1, 2)):
        ratings = _ratings(n // people, levels, people, answers)
        start = time.perf_counter()
        result = agreement(ratings, levels)
        ours = time.perf_counter() - start
        assert result.kappa.ci95 is not None
        other = _drawing_pairs(ratings, levels) if people == answers == 1 else None
        other_columns = ("", "") if other is None else (f"{other:.0f}", f"{other / ours:.0f} x")
        rows.append([f"{result.n:,}", str(len(levels)), str(people), str(answers), f"{ours:.2f}", *other_columns])
    print(table(rows))


def _ratings(n: int, levels: tuple[float, ...], people: int, answers: int) -> list[Rating]:
    """Return ``n`` answers; a judge and each person know the truth in 7 of 10 cases and guess in the others."""
    draw = random.Random(n)

    def say(truth: float) -> float:
        return truth if draw.random() < 0.7 else draw.choice(levels)

    truths = [draw.choice(levels) for _ in range(n)]
    return [
        Rating(f"q{at // answers}", say(truth), tuple(say(truth) for _ in range(people)))
        for at, truth in enumerate(truths)
    ]


def _drawing_pairs(ratings: list[Rating], levels: tuple[float, ...]) -> float:
    """Return the seconds that a bootstrap of kappa over the pairs takes."""
    start, size = time.perf_counter(), len(levels)
    cells = np.array([levels.index(each.people[0]) * size + levels.index(each.judged) for each in ratings])
    ready = time.perf_counter()
    generator = np.random.default_rng(0)
    for _ in range(DRAWS):
        sample = cells[generator.integers(len(cells), size=len(cells))]
        shares = np.bincount(sample, minlength=size * size).reshape(size, size) / len(cells)
        expected = float(shares.sum(axis=1) @ shares.sum(axis=0))
        assert (float(np.trace(shares)) - expected) / (1 - expected) < 1
    return ready - start + (time.perf_counter() - ready) / DRAWS * MAX_RESAMPLES


if __name__ == "__main__":
    main()
