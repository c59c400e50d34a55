"""How often 95 % intervals hold people's mean, if a judge is 0.4 too high for one system.

    python tests/benchmarks/people_means.py [--draws N]

People would call 30 % of the biased system's 300 answers right, and the judge 70 %. The script prints
the shares of intervals of `people:METRIC` and of the judge's mean that hold 0.3, and the share of draws that detect
the bias.
"""

from __future__ import annotations

import argparse
import random
from statistics import fmean

from measuring import table

from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.people.bias import BIASED, biases_of
from pytest_rageval.datasets.labels import Label
from pytest_rageval.model.outcome import EarlierLabel, Outcome, Score

TRUTH, SIZE = 0.3, 300
RIGHT, WRONG = 0.95, 0.593
"""How often the judge accepts a right answer, and a wrong one: its mean is 0.7."""

LABELS = (15, 30, 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2_000, help="of each number of labels")
    draws = parser.parse_args().draws
    rows = [["labels", "own: people: holds", "earlier: people: holds", "judge's own mean holds", "bias seen"]]
    for n in LABELS:
        current = [holds(outcomes(seed, n)) for seed in range(draws)]
        earlier = [holds(outcomes(seed, n, earlier=True)) for seed in range(draws)]
        bias_share = fmean(detects_bias(outcomes(seed, n)) for seed in range(draws))
        shares = (
            fmean(each[0] for each in current),
            fmean(each[0] for each in earlier),
            fmean(each[1] for each in current),
        )
        rows.append([str(n), *(f"{share:.1%}" for share in (*shares, bias_share))])
    print(table(rows))


def outcomes(seed: int, n: int, *, earlier: bool = False) -> list[Outcome]:
    """Return the outcomes of the system, with labels of ``n`` answers or of as many earlier answers."""
    draw = random.Random(seed)
    result = []
    for at in range(SIZE):
        people, verdict = _answer(draw, TRUTH)
        label = Score(reason="not_applicable")
        if at < n:
            label = Score(people)
        if at < n and earlier:
            label = Score(reason="not_applicable", earlier=EarlierLabel(*_answer(draw, TRUTH)))
        scores = {"judged": Score(verdict), "people:judged": label}
        result.append(Outcome(f"t[{at}]", str(at), "t", {}, "system", "scored", scores=scores))
    return result


def _answer(draw: random.Random, truth: float) -> tuple[float, float]:
    right = draw.random() < truth
    return float(right), float(draw.random() < (RIGHT if right else WRONG))


def holds(of: list[Outcome]) -> tuple[bool, bool]:
    """Return whether the corrected interval holds the truth, and whether the interval of the judge's mean does."""
    intervals = [cell_of(metric, metric == "judged", of).ci95 for metric in ("people:judged", "judged")]
    corrected, raw = (each is not None and each[0] <= TRUTH <= each[1] for each in intervals)
    return corrected, raw


def detects_bias(of: list[Outcome]) -> bool:
    """Return whether the judge's bias is detected."""
    labels = [Label(each.case_id, each.scores["people:judged"].value, metric="judged") for each in of]
    (bias,) = biases_of(["judged"], labels, of, (), 0.1)
    return bias.verdict == BIASED


if __name__ == "__main__":
    main()
