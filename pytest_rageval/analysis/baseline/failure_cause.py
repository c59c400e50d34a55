"""Find the cause of a broken case: retrieval lost the evidence, or generation failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.baseline.snapshot import Measured
from pytest_rageval.model.facets import ABILITIES

__all__ = ["CAUSES", "Cause", "cause_of", "cause_text", "causes_of", "n_by_answer"]

Cause = Literal["retrieval", "generation", "both", "unknown"]

CAUSES: tuple[Cause, ...] = ("retrieval", "generation", "both", "unknown")


def cause_of(pair: Pair, of: str = "answer") -> Cause:
    """Return the cause of a broken case, from the share of the evidence that the system received before and now.

    ``of`` is the `MetricInfo.of` of the metric that broke. For a metric of "retrieval" the cause is always retrieval:
    all evidence may be retrieved, but lower in the ranking. For other metrics:

    - Some evidence before, none now: retrieval.
    - As much evidence as before, or all of it: generation.
    - Some evidence now, but more before: both.
    - No evidence in either run, or an unknown share: unknown. But if the testbed of an ability withholds all evidence,
      the system got the same passages and had to notice: generation.

    Without evidence labels the gold answer replaces the evidence: retrieval if the passages that the system saw now
    hold none of it but held some before; both if they hold less than before; generation if they hold as much. The
    cause is then unknown only if the passage texts are unknown. If only one run knows the evidence, because the corpus
    of the other does not hold it, that run's share of the evidence is compared with the other's share of the answer.
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
    """Return the cause in words: ``retrieval``, or ``retrieval by answer`` if there are no labels."""
    return f"{cause_of(pair, of)} by answer" if _is_by_answer(pair, of) else cause_of(pair, of)


def causes_of(broken: Iterable[Pair], of: str = "answer") -> dict[Cause, int]:
    """Return cause -> number of broken cases, for all `CAUSES`."""
    counts = Counter(cause_of(pair, of) for pair in broken)
    return {cause: counts[cause] for cause in CAUSES}


def n_by_answer(broken: Iterable[Pair], of: str = "answer") -> int:
    """Return the number of broken cases whose cause follows from the gold answer, because labels are missing."""
    return sum(_is_by_answer(pair, of) for pair in broken)


def _by_answer(pair: Pair) -> Cause:
    then, now = _share(pair.before), _share(pair.after)
    if now == 1:
        return "generation"
    return "unknown" if then is None or now is None else _changed(then, now)


def _share(case: Measured) -> float | None:
    """Return the share of the answer that the system saw or, if unknown, the share of the evidence."""
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
