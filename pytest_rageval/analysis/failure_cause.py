"""What broke a case: retrieval, if its evidence is gone, or generation, if the evidence is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pytest_rageval.analysis.measured import Measured
from pytest_rageval.analysis.pairing import Pair
from pytest_rageval.model.facets import ABILITIES

__all__ = ["CAUSES", "Cause", "cause_of", "cause_text", "causes_of", "n_by_answer"]

Cause = Literal["retrieval", "generation", "both", "unknown"]

CAUSES: tuple[Cause, ...] = ("retrieval", "generation", "both", "unknown")


def cause_of(pair: Pair, of: str = "answer") -> Cause:
    """Return what broke a case, by the share of the evidence that the system had then and has now.

    ``of`` is the `MetricInfo.of` of the metric that broke. Only retrieval breaks a case of a metric of "retrieval": its
    evidence may all be there, but lower in the ranking. For other metrics:

    - It has none now and had some: retrieval.
    - It has as much as then, or all of it, and still answers wrong: generation.
    - It has some now and had more: both.
    - It never had any, or a share is unknown: unknown. But if an ability's testbed withholds all evidence, the system
      was given the same and had to notice: generation.

    Without labels of the evidence the gold answer takes its place: retrieval if the passages that the system saw hold
    less of it than then, down to nothing; both if they hold some; generation if they hold as much. The cause then is
    unknown only if their texts are. If only one run knows the evidence, because the corpus of the other does not hold
    it, that run's share of the evidence is compared with the other's share of the answer.
    """
    if of == "retrieval":
        return "retrieval"
    then, now = pair.before.evidence, pair.after.evidence
    if now == 1:
        return "generation"
    if then is None or now is None:
        return _by_answer(pair)
    if then == now == 0:
        return "generation" if pair.after.facets.get("ability") in ABILITIES else "unknown"
    return _changed(then, now)


def cause_text(pair: Pair, of: str = "answer") -> str:
    """Return the cause in words: ``retrieval``, or ``retrieval by answer`` where there are no labels."""
    return f"{cause_of(pair, of)} by answer" if _is_by_answer(pair, of) else cause_of(pair, of)


def causes_of(broken: Iterable[Pair], of: str = "answer") -> dict[Cause, int]:
    """Return how many of the broken cases have each cause, all of `CAUSES`."""
    found = Counter(cause_of(pair, of) for pair in broken)
    return {cause: found[cause] for cause in CAUSES}


def n_by_answer(broken: Iterable[Pair], of: str = "answer") -> int:
    """Return how many of the broken cases have a cause that the gold answer alone tells, as there are no labels."""
    return sum(_is_by_answer(pair, of) for pair in broken)


def _by_answer(pair: Pair) -> Cause:
    then, now = _share(pair.before), _share(pair.after)
    if now == 1:
        return "generation"
    return "unknown" if then is None or now is None else _changed(then, now)


def _share(case: Measured) -> float | None:
    """Return the share of the answer that the system saw, which is unknown if that of the evidence is known."""
    return case.evidence if case.answer_seen is None else case.answer_seen


def _is_by_answer(pair: Pair, of: str) -> bool:
    if of == "retrieval":
        return False
    known = pair.after.evidence == 1 or None not in (pair.before.evidence, pair.after.evidence)
    return not known and _by_answer(pair) != "unknown"


def _changed(then: float, now: float) -> Cause:
    if now >= then:
        return "generation"
    return "both" if now else "retrieval"
