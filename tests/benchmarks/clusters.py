"""How often gates raise false alarms, and how often intervals hold the truth, if cases depend on each other.

    python tests/benchmarks/clusters.py [--experiments N]

Targets, for 15 to 200 units: an unchanged system turns a baseline gate red in at most 5 % of runs, and 95 % intervals
hold the truth in at least 93 %.

Each experiment draws units (dialogues, documents or cases) and two runs of an unchanged system over them, and compares
the runs as a session does. Each experiment draws for each unit a chance of being right. In each run the
unit as a whole goes well or badly. The worlds:

- whole dialogues: 5 turns that are right or wrong together;
- first mistake: 5 turns, all wrong from the first mistake on;
- documents x 5: 5 questions about one document, right with the document's chance of this run;
- repeats: each case is asked 3 times;
- all together: documents with 1 to 3 dialogues of 1 to 4 turns with first mistakes, each asked twice.

For comparison, the column "cases" treats each case as independent.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from measuring import table

from pytest_rageval.analysis.baseline.comparison import difference
from pytest_rageval.analysis.baseline.pairing import pair_up
from pytest_rageval.analysis.baseline.snapshot import measured_of
from pytest_rageval.analysis.cells import cell_of
from pytest_rageval.analysis.statistics import Interval
from pytest_rageval.model.outcome import Outcome, Score

ALPHA = 0.05
SIZES = (15, 30, 60, 200)
MANY = 20_000  # units that represent the population

Draw = np.random.Generator
Turn = tuple[str, dict[str, str], float]
"""The case, its facets and its value."""


@dataclass(frozen=True)
class World:
    """How units make turns: ``run`` yields the turns of one unit from its number and its chance of being right."""

    name: str
    run: Callable[[int, float, Draw], Iterator[Turn]]
    shape: tuple[float, float] = (1.5, 1.0)

    def chances(self, n: int, draw: Draw) -> list[float]:
        """Return the chance of each unit."""
        chances: list[float] = draw.beta(*self.shape, n).tolist()
        return chances

    def outcomes(self, chances: list[float], draw: Draw) -> list[Outcome]:
        """Return a run over the units."""
        return [
            Outcome(f"t[{case}-{facets.get('repeat', '')}]", case, "t", facets, "s", "scored",
                    scores={"m": Score(value)}, data=case, cluster="document")
            for unit, chance in enumerate(chances)
            for case, facets, value in self.run(unit, chance, draw)
        ]  # fmt: skip

    def truth(self) -> float:
        """Return the mean over all units of the population."""
        draw = np.random.default_rng(0)
        return cell_of("m", True, self.outcomes(self.chances(MANY, draw), draw)).mean or 0.0


def whole_dialogues(unit: int, chance: float, draw: Draw) -> Iterator[Turn]:
    right = float(draw.random() < chance)
    for turn in range(5):
        yield f"{unit}-{turn}", {"dialogue": str(unit)}, right


def first_mistake(unit: int, chance: float, draw: Draw) -> Iterator[Turn]:
    right = 1.0
    for turn in range(5):
        right *= draw.random() < chance**0.3
        yield f"{unit}-{turn}", {"dialogue": str(unit)}, right


def documents(unit: int, chance: float, draw: Draw) -> Iterator[Turn]:
    goes_well = draw.random() < chance
    for question in range(5):
        yield f"{unit}-{question}", {"document": str(unit)}, float(draw.random() < (0.9 if goes_well else 0.2))


def repeats(unit: int, chance: float, draw: Draw) -> Iterator[Turn]:
    for repeat in range(3):
        yield str(unit), {"repeat": str(repeat + 1)}, float(draw.random() < chance)


def all_together(unit: int, chance: float, draw: Draw) -> Iterator[Turn]:
    sizes = [1 + (unit * 7 + dialogue * 3) % 4 for dialogue in range(1 + unit % 3)]
    for repeat in range(2):
        goes_well = draw.random() < chance
        for dialogue, turns in enumerate(sizes):
            right, name = 1.0, f"{unit}-{dialogue}"
            for turn in range(turns):
                right *= draw.random() < (0.95 if goes_well else 0.4)
                yield f"{name}-{turn}", {"document": str(unit), "dialogue": name, "repeat": str(repeat + 1)}, right


WORLDS = (
    World("whole dialogues", whole_dialogues),
    World("first mistake", first_mistake),
    World("documents x 5", documents),
    World("documents x 5, mostly right", documents, (9.0, 1.0)),
    World("repeats", repeats),
    World("all together", all_together),
)


def loose(outcomes: list[Outcome]) -> list[Outcome]:
    """Return the outcomes as if each case, or repeat of it, were independent."""
    return [replace(each, facets={}, case_id=each.nodeid, data=each.nodeid) for each in outcomes]


def experiment(world: World, n: int, truth: float, draw: Draw, *, apart: bool) -> tuple[bool, bool, bool]:
    """Return whether the gate fails, and whether the intervals of the mean and of the difference hold the truth."""
    chances = world.chances(n, draw)
    before, after = world.outcomes(chances, draw), world.outcomes(chances, draw)
    if apart:
        before, after = loose(before), loose(after)
    pairs = pair_up(measured_of(before), measured_of(after)).pairs
    comparison = difference(pairs, "m", higher_is_better=True, alpha=ALPHA)
    fails = comparison.p_worse is not None and comparison.p_worse <= ALPHA and (comparison.delta or 0) < 0
    return fails, _holds(cell_of("m", True, after).ci95, truth), _holds(comparison.ci95, 0.0)


def _holds(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval[0] - 1e-12 <= truth <= interval[1] + 1e-12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=1_000, help="of each row; with 200 units a quarter")
    experiments = parser.parse_args().experiments
    started = time.perf_counter()
    head = ["world", "units", "red", "cases", "mean held", "cases", "difference held", "cases"]
    rows = [head]
    for world in WORLDS:
        truth = world.truth()
        for n in SIZES:
            of = max(50, experiments // 4) if n == max(SIZES) else experiments
            shares = []
            for apart in (False, True):
                count = of // 4 if apart else of
                results = [
                    experiment(world, n, truth, np.random.default_rng([n, at]), apart=apart) for at in range(count)
                ]
                shares.append([_share(fmean(each), count) for each in zip(*results, strict=True)])
            rows.append([world.name, str(n), *(text for pair in zip(*shares, strict=True) for text in pair)])
            print(f"{world.name} {n}: {' '.join(rows[-1][2:])}", flush=True)
    print(table(rows))
    print(f"{time.perf_counter() - started:.0f} s")


def _share(share: float, experiments: int) -> str:
    """Return a share with its standard error."""
    return f"{share:.1%} ± {math.sqrt(share * (1 - share) / experiments):.1%}"


if __name__ == "__main__":
    main()
