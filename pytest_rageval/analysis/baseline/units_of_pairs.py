"""Find the independent units of cases that are compared in two runs."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.units import CASE, Link, Units, links_of, units_of
from pytest_rageval.model.facets import DIALOGUE

__all__ = ["units_of_pairs"]


def units_of_pairs(pairs: Sequence[Pair]) -> Units:
    """Return the unit of each pair. Without dialogues and clusters a fast path is used."""
    runs = [(pair.after, pair.before) for pair in pairs]
    if not any(DIALOGUE in case.facets or case.cluster in case.facets for each in runs for case in each):
        ids = [(CASE, "after", after.system, after.case) for after, _ in runs]
        # If ids are unique in both runs, no link joins two pairs: each pair is its own unit.
        if len(set(ids)) == len({(before.system, before.case) for _, before in runs}) == len(ids):
            return Units(tuple(ids), len(ids), "")
    return units_of([_links(pair) for pair in pairs])


def _links(pair: Pair) -> list[Link]:
    """Return the keys that join a case with others, of both runs; those of the later run come first."""
    return [
        (kind, run, *rest)
        for run, case in (("after", pair.after), ("before", pair.before))
        for kind, *rest in links_of(case.case, case.system, case.facets, case.cluster)
    ]
