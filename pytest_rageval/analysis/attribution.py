"""Whose fault it is that a case broke: retrieval's, as the evidence is gone, or generation's, as it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pytest_rageval.analysis.pairing import Pair
from pytest_rageval.model.facets import ABILITIES

__all__ = ["CAUSES", "Cause", "cause_of", "causes_of"]

Cause = Literal["retrieval", "generation", "both", "unknown"]

CAUSES: tuple[Cause, ...] = ("retrieval", "generation", "both", "unknown")


def cause_of(pair: Pair) -> Cause:
    """Return what broke a case, by the share of the evidence that the system had then and has now.

    Now it has none of it, and had some: retrieval. It has as much as then, and answers wrong all the same: generation.
    Some of it is gone and some is there: both. It never had any, or one of the shares is not known: unknown; but where
    it has all of it now, whatever it had then is no matter: generation. So it is where an ability's testbed withholds
    all of it, as what the system is handed is the same, and to notice is what it is asked for.
    """
    then, now = pair.before.evidence, pair.after.evidence
    if now == 1:
        return "generation"
    if then is None or now is None:
        return "unknown"
    if then == now == 0:
        return "generation" if pair.after.facets.get("ability") in ABILITIES else "unknown"
    if now >= then:
        return "generation"
    return "both" if now else "retrieval"


def causes_of(broken: Iterable[Pair]) -> dict[Cause, int]:
    """Return how many of the broken cases have each cause, all of `CAUSES`."""
    found = Counter(map(cause_of, broken))
    return {cause: found[cause] for cause in CAUSES}
