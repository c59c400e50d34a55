"""Independent units: groups of cases that depend on each other.

Two cases depend on each other if they share a link: their id, their dialogue or the value of their testbed's cluster
facet. The units are the connected components of cases under these links, within one system.
A case without a dialogue and without that facet is a unit of its own. Intervals, paired tests and resamples count
units, because the turns of one conversation or five questions about one document are not five independent facts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.outcome import Outcome

__all__ = ["Link", "Units", "are_separate", "links_of", "units_of", "units_of_outcomes"]

CASE = ""
"""The kind of the link that every case has: its id."""

SEVERAL = "unit"
"""Name of units that are not the values of one facet."""

Link = tuple[str, ...]
"""Its kind (the facet, or `CASE`), then the system and the value."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Units:
    """The units of some cases.

    Attributes:
        names: the unit of each case, in the order of the cases. The name is one of the unit's links: of a cluster, else
            of a dialogue, else of a case. It does not depend on the order of the cases, and the unit of a dialogue has
            the same name in every cell.
        n: number of units.
        facet: the facet whose values are the units; `SEVERAL` if it takes more than one facet or if some cases have
            none, "" if no different cases are joined.
    """

    names: tuple[Link, ...]
    n: int
    facet: str

    def grouped(self, values: Iterable[Value]) -> dict[Hashable, list[Value]]:
        """Return the values of each unit, from one value for each case."""
        by_unit: dict[Hashable, list[Value]] = {}
        for name, value in zip(self.names, values, strict=True):
            by_unit.setdefault(name, []).append(value)
        return by_unit


def links_of(case: str, system: str, facets: Mapping[str, str], cluster: str) -> tuple[Link, ...]:
    """Return the links of one case.

    Args:
        case: its id, unique in the session.
        system: the system that answered it.
        facets: its facets. A dialogue belongs to its dataset; the value of another facet means the same everywhere.
        cluster: the cluster facet of its testbed.
    """
    links: list[Link] = [(CASE, system, case)]
    if DIALOGUE in facets:
        links.append((DIALOGUE, system, facets[DIALOGUE], facets.get("dataset", "")))
    if cluster != DIALOGUE and cluster in facets:
        links.append((cluster, system, facets[cluster]))
    return tuple(links)


def units_of(cases: Sequence[Sequence[Link]]) -> Units:
    """Return the units of cases from the links of each case (at least one)."""
    first: dict[Link, int] = {}
    parents = list(range(len(cases)))
    kinds: dict[str, None] = {}
    for at, links in enumerate(cases):
        for link in links:
            other = first.setdefault(link, at)
            if other != at:
                parents[_root(parents, at)] = _root(parents, other)
                if link[0] != CASE and cases[other][0] != links[0]:
                    kinds[link[0]] = None
    names: dict[int, Link] = {}
    for at, links in enumerate(cases):
        root = _root(parents, at)
        names[root] = min((*links, names[root]) if root in names else links, key=_rank)
    return Units(
        tuple(names[_root(parents, at)] for at in range(len(cases))), len(names), _facet(cases, kinds, len(names))
    )


def _rank(link: Link) -> tuple[bool, bool, Link]:
    return link[0] == CASE, link[0] == DIALOGUE, link


def _facet(cases: Sequence[Sequence[Link]], kinds: Iterable[str], n: int) -> str:
    """Return the facet whose values are the ``n`` units; `SEVERAL` if there is no such facet, "" without kinds."""
    joining = list(kinds)
    for kind in joining:
        values = {next((link for link in links if link[0] == kind), None) for links in cases}
        if None not in values and len(values) == n:
            return kind
    return SEVERAL if joining else ""


def units_of_outcomes(outcomes: Sequence[Outcome], *, across_systems: bool = False) -> Units:
    """Return the units of outcomes; ``across_systems`` a case is in the same unit under every system."""
    systems = [""] * len(outcomes) if across_systems else [each.system for each in outcomes]
    pairs = list(zip(outcomes, systems, strict=True))
    if not any(DIALOGUE in each.facets or each.cluster in each.facets for each in outcomes):
        names = tuple((CASE, system, each.case_id) for each, system in pairs)
        return Units(names, len(set(names)), "")
    return units_of([links_of(each.case_id, system, each.facets, each.cluster) for each, system in pairs])


def are_separate(outcomes: Sequence[Outcome]) -> bool:
    """Return whether no two of the outcomes depend on each other, with less memory than `units_of_outcomes` needs.

    False may also mean that only their units can say: the same case under two systems is two units.
    """
    if any(DIALOGUE in each.facets or each.cluster in each.facets for each in outcomes):
        return False
    return len({each.case_id for each in outcomes}) == len(outcomes)


def _root(parents: list[int], at: int) -> int:
    while parents[at] != at:
        parents[at] = at = parents[parents[at]]
    return at
