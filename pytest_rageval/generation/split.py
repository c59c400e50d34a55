"""Split kept drafts into test and training sets that share no document."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import cast

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.leakage.settings import KNOWN
from pytest_rageval.generation.plan import Plan, SectionReader
from pytest_rageval.generation.section import Section

__all__ = ["READER", "Sets", "SplitSettings", "split", "split_settings"]

TEST, TRAIN = "auto_test", "auto_train"
PEOPLE = "human_per_cell"


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """The ``[split]`` of a plan.

    Attributes:
        shares: the share of cases of each set, in 0..1; their sum is 1 or less.
        human_per_cell: the number of cases of each topic and task for people.
    """

    shares: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({TEST: 0.8, TRAIN: 0.2}))
    human_per_cell: int = 5


@dataclass(frozen=True, slots=True)
class Sets:
    """The drafts of each set, sorted by id.

    Attributes:
        auto_test, auto_train: the kept drafts.
        human_test: a sample of ``auto_test``.
        known: name of a set -> drafts about its documents that were dropped because a model knows the answer.
    """

    auto_test: tuple[Draft, ...]
    auto_train: tuple[Draft, ...]
    human_test: tuple[Draft, ...]
    known: Mapping[str, tuple[Draft, ...]] = field(default_factory=dict)


def split_settings(plan: Plan) -> SplitSettings:
    """Return the ``[split]`` of a plan."""
    return cast("SplitSettings", plan.settings["split"])


def split(drafts: Iterable[Draft], settings: SplitSettings, seed: int, warnings: list[str]) -> Sets:
    """Split the kept drafts, and the drafts that a model knows, by documents.

    A document is the page of a source. Documents that a case uses together form a component, directly or through other
    cases. Each component goes to one set as a whole, the largest first; the seed decides among equal sizes. It goes to
    the set that lacks most cases in the component's cells (topic and task). A component larger than ``auto_train`` goes
    to ``auto_test``, with a warning. Known drafts also link documents, but do not count in shares.
    """
    splittable = sorted(
        (draft for draft in drafts if draft.state == "kept" or draft.reason == KNOWN), key=lambda at: at.id
    )
    kept = _kept_drafts(splittable)
    shares = {name: share for name, share in settings.shares.items() if share > 0} or {TEST: 1.0}
    total = sum(shares.values())
    wanted = {(name, cell): share / total * n for name, share in shares.items() for cell, n in _sizes(kept)}
    room = math.ceil(shares.get(TRAIN, 0.0) / total * len(kept))
    members: dict[str, list[Draft]] = {TEST: [], TRAIN: []}
    too_large: list[int] = []
    for component in sorted(
        _components(splittable), key=lambda each: (-len(_kept_drafts(each)), _rank(seed, each[0].id))
    ):
        count, sizes = len(_kept_drafts(component)), _sizes(_kept_drafts(component))
        name = max(sorted(shares), key=lambda each: round(sum(n * wanted[each, cell] for cell, n in sizes), 9))
        if name == TRAIN and count > room:
            too_large.append(count)
            name = TEST
        for cell, n in sizes:
            wanted[name, cell] = wanted.get((name, cell), 0.0) - n
        members[name] += component
    if too_large:
        problem = f"{max(too_large)} cases share documents, more than the {room} of {TRAIN}; they are all in {TEST}"
        warnings.append(problem + (f"; so are {len(too_large) - 1} smaller groups" if len(too_large) > 1 else ""))
    elif len(kept) > 1 and not _kept_drafts(members[TRAIN]) and shares.get(TRAIN):
        warnings.append(f"{TRAIN} has no case: the cases share their documents, or are too few")
    test, train = (tuple(sorted(_kept_drafts(members[name]), key=lambda draft: draft.id)) for name in (TEST, TRAIN))
    known = {
        name: tuple(sorted((draft for draft in each if draft.reason == KNOWN), key=lambda draft: draft.id))
        for name, each in members.items()
    }
    return Sets(test, train, tuple(_sample(test, settings.human_per_cell, seed)), known)


def _kept_drafts(drafts: Iterable[Draft]) -> list[Draft]:
    return [draft for draft in drafts if draft.state == "kept"]


def _sizes(drafts: Iterable[Draft]) -> list[tuple[tuple[str, str], int]]:
    """Return the number of drafts of each topic and task."""
    return list(Counter((draft.topic, draft.task) for draft in drafts).items())


def _components(drafts: Sequence[Draft]) -> list[list[Draft]]:
    """Group the drafts by the documents that they share, directly or through other drafts."""
    parents: dict[str, str] = {}

    def root(page: str) -> str:
        parents.setdefault(page, page)
        while parents[page] != page:
            parents[page] = parents[parents[page]]
            page = parents[page]
        return page

    for draft in drafts:
        first, *others = _pages(draft)
        for other in others:
            parents[root(other)] = root(first)
    groups: dict[str, list[Draft]] = {}
    for draft in drafts:
        groups.setdefault(root(_pages(draft)[0]), []).append(draft)
    return list(groups.values())


def _pages(draft: Draft) -> list[str]:
    return list(dict.fromkeys(source.page or source.id for source in draft.sources)) or [draft.id]


def _sample(drafts: Sequence[Draft], per_cell: int, seed: int) -> list[Draft]:
    """Sample drafts of each topic and task by the seed and their ids; return them sorted by id.

    A conversation is sampled as a whole.
    """
    units: dict[str, list[Draft]] = {}
    for draft in drafts:
        units.setdefault(draft.facets.get("dialogue") or draft.id, []).append(draft)
    sampled: dict[tuple[str, str], list[Draft]] = {}
    for name in sorted(units, key=lambda each: _rank(seed, each)):
        cell = sampled.setdefault((units[name][0].topic, units[name][0].task), [])
        if len(cell) < per_cell:
            cell += units[name]
    return sorted((draft for cell in sampled.values() for draft in cell), key=lambda draft: draft.id)


def _rank(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()


def _read(sections: tuple[Section, ...], folder: Path) -> SplitSettings:
    if not sections:
        return SplitSettings()
    section = sections[0]
    section.only((TEST, TRAIN, PEOPLE))
    shares_in_plan = {name: section.number(name, None, most=1.0) for name in (TEST, TRAIN) if name in section}
    test = (
        shares_in_plan.get(TEST)
        if TEST in shares_in_plan
        else 1.0 - (shares_in_plan.get(TRAIN) or 0.0 if TRAIN in shares_in_plan else 0.2)
    )
    train = shares_in_plan.get(TRAIN) if TRAIN in shares_in_plan else 1.0 - (test or 0.0)
    shares = {TEST: test or 0.0, TRAIN: train or 0.0}
    if sum(shares.values()) > 1.0 + 1e-9:
        raise section.error(
            TRAIN if TRAIN in section else TEST, f"the shares of [split] sum to {sum(shares.values()):g}; 1 is the most"
        )
    if not any(shares.values()):
        raise section.error(TEST, "the shares of [split] are all 0; give one of them a share")
    human_per_cell = section.whole(PEOPLE, 5)
    return SplitSettings(MappingProxyType(shares), 5 if human_per_cell is None else human_per_cell)


READER = SectionReader(many=False, read=_read)
