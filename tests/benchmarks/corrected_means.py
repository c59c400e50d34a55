"""How often 95 % intervals hold people's mean over all cases: the judge's mean, and the corrected one.

    python tests/benchmarks/corrected_means.py [--experiments N]

In each experiment people would call 60 % of the cases right; the judge says so of a share of the right ones and of a
share of the wrong ones, and people label a few cases. The script prints the shares of intervals that hold 0.6, and the
widths of the corrected interval and of the interval from the labels alone.
"""

from __future__ import annotations

import argparse
import random
from statistics import fmean

from measuring import table

from pytest_rageval.analysis.corrected_mean import CorrectedMean, corrected_mean
from pytest_rageval.analysis.statistics import Interval

TRUTH = 0.6
JUDGES = {"fair": (0.95, 0.05), "lenient": (0.95, 0.3), "strict": (0.7, 0.05), "guessing": (0.5, 0.5)}
"""Name -> how often the judge says right of right answers, and of wrong answers."""

SIZES = ((10, 200), (15, 300), (20, 400), (30, 600), (50, 1_000), (200, 1_000))
"""Number of cases that people labelled, and that the judge judged."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=2_000, help="of each judge and size")
    experiments = parser.parse_args().experiments
    rows = [["judge", "labelled", "judged", "raw holds", "labels hold", "corrected holds", "width", "labels alone"]]
    for name, shares in JUDGES.items():
        for n, size in SIZES:
            means = [_experiment(n, size, shares, seed) for seed in range(experiments)]
            rows.append([name, str(n), str(size), *_row(means)])
    print(table(rows))


def _experiment(n: int, size: int, shares: tuple[float, float], seed: int) -> CorrectedMean:
    draw = random.Random(seed)
    people = [float(draw.random() < TRUTH) for _ in range(size)]
    verdicts = [float(draw.random() < shares[0 if right else 1]) for right in people]
    return corrected_mean(people[:n], verdicts[:n], verdicts[n:])


def _row(means: list[CorrectedMean]) -> list[str]:
    holds = [fmean(_holds(interval) for interval in intervals) for intervals in _intervals(means)]
    widths = [fmean(_width(interval) for interval in intervals) for intervals in _intervals(means)]
    return [*(f"{share:.1%}" for share in holds), f"{widths[2]:.3f}", f"{widths[1]:.3f}"]


def _intervals(means: list[CorrectedMean]) -> list[list[Interval]]:
    """Return the intervals of the raw means, of the labels alone and of the corrected means."""
    each = [(one.raw.ci95, one.labelled.ci95, one.ci95) for one in means]
    return [[interval for interval in side if interval is not None] for side in zip(*each, strict=True)]


def _holds(interval: Interval) -> bool:
    return interval[0] <= TRUTH <= interval[1]


def _width(interval: Interval) -> float:
    return interval[1] - interval[0]


if __name__ == "__main__":
    main()
