"""Compute statistics of repeated cases: spread between repeats, reliability, and flips.

Sources: pass@1 is pass@k with k = 1, Chen et al., "Evaluating Large Language Models Trained on Code" (2021);
pass^k is from Yao et al., "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains" (2024).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Annotated

from pytest_rageval.analysis.cells import cell_of, value_of
from pytest_rageval.analysis.clusters import REPEAT, by_case, case_names
from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.misses import is_miss
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import Amount, Bounds, Share

__all__ = ["Repeats", "repeats_of"]


@dataclass(frozen=True, slots=True)
class Repeats:
    """The repeats of one testbed under one system, by its primary metric.

    A repeat passes if it is scored and does not miss, see `misses.is_miss`.

    Attributes:
        testbed: the testbed's node id.
        system: the system that answered.
        metric: the primary metric.
        k: number of repeats of each case.
        n_cases: number of cases that were scored at least once.
        n_complete: number of cases that were scored in all ``k`` repeats.
        mean: mean of the cases' means.
        spread: standard deviation, over the repeats, of the mean of all cases scored in a repeat; None for fewer than
            two repeats.
        pass_at_1: mean over the scored cases of the share of scored repeats that pass.
        pass_hat_k: share of the complete cases that pass in all ``k`` repeats; None if none is complete.
        flips: names of the cases that pass in some repeats and miss in others.
        always_missed: names of the cases that miss in every scored repeat.
    """

    testbed: str
    system: str
    metric: str
    k: Annotated[int, Bounds(2)]
    n_cases: int
    n_complete: int
    mean: float | None
    spread: Amount | None
    pass_at_1: Share | None
    pass_hat_k: Share | None
    flips: tuple[str, ...]
    always_missed: tuple[str, ...]


def repeats_of(
    metric: str, higher_is_better: bool, gates: Sequence[Gate], outcomes: Sequence[Outcome]
) -> Repeats | None:
    """Return the statistics of the repeats; None without repeated cases.

    Args:
        metric: the testbed's primary metric.
        higher_is_better: its direction.
        gates: the testbed's gates, which define a miss.
        outcomes: the outcomes of one testbed under one system; skipped ones are left out.
    """
    repeats = [outcome for outcome in outcomes if outcome.status != "skipped" and REPEAT in outcome.facets]
    cases = list(by_case(repeats).values())
    k = max(map(len, cases), default=0)
    if k < 2:
        return None
    passes = _passes(cases, metric, lambda outcome: not is_miss(outcome, metric, higher_is_better, gates))
    complete = [runs for runs in passes.values() if len(runs) == k]
    return Repeats(
        testbed=repeats[0].testbed,
        system=repeats[0].system,
        metric=metric,
        k=k,
        n_cases=len(passes),
        n_complete=len(complete),
        mean=cell_of(metric, False, repeats).mean,
        spread=_spread(metric, repeats),
        pass_at_1=fmean(fmean(runs) for runs in passes.values()) if passes else None,
        pass_hat_k=fmean(all(runs) for runs in complete) if complete else None,
        flips=tuple(name for name, runs in passes.items() if any(runs) and not all(runs)),
        always_missed=tuple(name for name, runs in passes.items() if not any(runs)),
    )


def _passes(
    cases: Sequence[Sequence[Outcome]], metric: str, passed: Callable[[Outcome], bool]
) -> dict[str, list[bool]]:
    """Return case name -> whether each scored repeat passes, for cases with a scored repeat."""
    runs = {
        name: [passed(outcome) for outcome in case if _is_scored(metric, outcome)]
        for name, case in zip(case_names(cases), cases, strict=True)
    }
    return {name: passes for name, passes in runs.items() if passes}


def _spread(metric: str, repeats: Sequence[Outcome]) -> float | None:
    by_repeat: dict[str, list[float]] = {}
    for outcome in repeats:
        value = value_of(metric, outcome)
        if outcome.status == "scored" and value is not None:
            by_repeat.setdefault(outcome.facets[REPEAT], []).append(value)
    means = [fmean(values) for values in by_repeat.values()]
    return stdev(means) if len(means) > 1 else None


def _is_scored(metric: str, outcome: Outcome) -> bool:
    return outcome.status == "scored" and value_of(metric, outcome) is not None
