"""Find independent units: groups of cases that depend on each other.

Two cases depend on each other if they share a link: the case id, the dialogue, or the value of their testbed's cluster
facet. Units are the connected components of cases under these links, within one system. A case without a dialogue and
without the cluster facet is a unit by itself.

Intervals, paired tests and resamples count units, because five turns of one conversation or five questions about one
document are not five independent observations.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_rageval.model.facets import DIALOGUE
from pytest_rageval.model.outcome import Outcome

__all__ = ["CASE", "Link", "Units", "are_separate", "links_of", "units_of", "units_of_outcomes"]

CASE = ""
"""The kind of the link that every case has: its id."""

SEVERAL = "unit"
"""The name that replaces the facet if units are not the values of a single facet."""

Link = tuple[str, ...]
"""A link: its kind (a facet or `CASE`), the system, the value, and for a dialogue its dataset."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Units:
    """The units of some cases.

    Attributes:
        names: the name of each case's unit, in the order of the cases. It is one of the unit's links: that of a
            cluster, else of a dialogue, else of a case. It does not depend on the order of the cases, and the unit of
            a dialogue has the same name in every cell.
        n: number of units.
        facet: the facet whose values are the units; `SEVERAL` if several facets join cases or some cases lack the
            facet; "" if every case is its own unit.
    """

    names: tuple[Link, ...]
    n: int
    facet: str

    def grouped(self, values: Iterable[Value]) -> dict[Hashable, list[Value]]:
        """Return unit -> its values, from one value for each case."""
        by_unit: dict[Hashable, list[Value]] = {}
        for name, value in zip(self.names, values, strict=True):
            by_unit.setdefault(name, []).append(value)
        return by_unit


def links_of(case: str, system: str, facets: Mapping[str, str], cluster: str) -> tuple[Link, ...]:
    """Return the links of one case.

    Args:
        case: its id, unique in the session.
        system: the system that answered it.
        facets: its facets. Dialogues with the same name in two datasets differ; values of other facets do not.
        cluster: the cluster facet of its testbed.
    """
    links: list[Link] = [(CASE, system, case)]
    if DIALOGUE in facets:
        links.append((DIALOGUE, system, facets[DIALOGUE], facets.get("dataset", "")))
    if cluster != DIALOGUE and cluster in facets:
        links.append((cluster, system, facets[cluster]))
    return tuple(links)


def units_of(cases: Sequence[Sequence[Link]]) -> Units:
    """Return the units of cases; each case has one or more links."""
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
    """Return `Units.facet` of ``n`` units; ``kinds`` are the facets that join cases."""
    joining = list(kinds)
    for kind in joining:
        values = {next((link for link in links if link[0] == kind), None) for links in cases}
        if None not in values and len(values) == n:
            return kind
    return SEVERAL if joining else ""


def units_of_outcomes(outcomes: Sequence[Outcome], *, across_systems: bool = False) -> Units:
    """Return the units of outcomes; with ``across_systems``, a case is in the same unit under every system."""
    systems = [""] * len(outcomes) if across_systems else [each.system for each in outcomes]
    pairs = list(zip(outcomes, systems, strict=True))
    if not any(DIALOGUE in each.facets or each.cluster in each.facets for each in outcomes):
        names = tuple((CASE, system, each.case_id) for each, system in pairs)
        return Units(names, len(set(names)), "")
    return units_of([links_of(each.case_id, system, each.facets, each.cluster) for each, system in pairs])


def are_separate(outcomes: Sequence[Outcome]) -> bool:
    """Return whether all outcomes are independent; needs less memory than `units_of_outcomes`.

    False means that they may depend on each other: the same case under two systems is False, although it is two units.
    """
    if any(DIALOGUE in each.facets or each.cluster in each.facets for each in outcomes):
        return False
    return len({each.case_id for each in outcomes}) == len(outcomes)


def _root(parents: list[int], at: int) -> int:
    while parents[at] != at:
        parents[at] = at = parents[parents[at]]
    return at
