"""Instances times settings -> cases, in the order of the file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from pytest_rageval.errors import DataError, found
from pytest_rageval.model.case import Case, Instance, Passage, Role
from pytest_rageval.model.facets import facet_text
from pytest_rageval.testbeds import balanced, rgb_compat
from pytest_rageval.testbeds.ability import Ability, ability_named
from pytest_rageval.testbeds.composition import Assemble, Composition
from pytest_rageval.testbeds.ids import unique_ids
from pytest_rageval.testbeds.settings import AXES, Settings

__all__ = ["Shortfalls", "expand", "is_short", "shortfalls"]

_ASSEMBLE: dict[str, Assemble] = {"balanced": balanced.assemble, "rgb-compat": rgb_compat.assemble}

_ROLE_OF: dict[str, Role] = {"noise_rate": "negative", "correct_rate": "positive"}


@dataclass(frozen=True, slots=True)
class Shortfalls:
    """Cases whose passages are not what was asked for, because the record has too few of a kind.

    Attributes:
        count: how many such cases there are.
        total: how many cases there are in all.
        ids: the ids of the first few, each once.
    """

    count: int
    total: int
    ids: tuple[str, ...]


def expand(settings: Settings, instances: Sequence[Instance], seed: int) -> tuple[tuple[str, Case], ...]:
    """Return the cases of a testbed with the parameter id of each, unique within the testbed.

    All settings of one instance follow each other; an id is the instance's, and for each setting given as a list
    "-name=value".

    Args:
        settings: what is asked.
        instances: the records of the dataset.
        seed: the seed in force (``settings.seed`` is not looked at).

    Raises:
        DataError: two instances of one id, or an instance that lacks what the ability needs.
    """
    _refuse_duplicates(instances)
    ability = ability_named(settings.ability)
    points = _points(settings, ability)
    cases = []
    for name, instance in zip(unique_ids(i.id for i in instances), instances, strict=True):
        ability.require(instance)
        instructions = ability.instructions(instance.language)
        facets = {**instance.facets, **settings.facets}
        for suffix, asked, asked_facets in points:
            supplied = _supplied(settings, ability, instance, asked, seed)
            every = {**facets, **asked_facets}
            if settings.ability is not None:
                every["noise_realised"] = _share(supplied or (), "negative")
            if "correct_rate" in asked_facets:
                every["correct_realised"] = _share(supplied or (), "positive")
            cases.append(
                (name + suffix, Case(instance.id, instance, supplied, every, instructions, settings.relevance))
            )
    return tuple(cases)


def shortfalls(cases: Sequence[Case], first: int = 3) -> Shortfalls:
    """Return how many cases are short."""
    short = [case.id for case in cases if is_short(case)]
    return Shortfalls(len(short), len(cases), tuple(dict.fromkeys(short))[:first])


def is_short(case: Case) -> bool:
    """Return whether a case was not given the number of passages, of noise or of correct ones that was asked for."""
    if case.supplied is None or "passages" not in case.facets:
        return False
    asked = int(case.facets["passages"])
    if len(case.supplied) != asked:
        return True
    if "ability" not in case.facets:  # the rates are the record's own, of all the passages that it holds
        return False
    # A facet has six digits of the rate; the count is its product rounded up, but for what those digits may add.
    return any(
        _count(case.supplied, role) != math.ceil(asked * float(case.facets[rate]) - asked * 1e-6)
        for rate, role in _ROLE_OF.items()
        if rate in case.facets
    )


def _refuse_duplicates(instances: Sequence[Instance]) -> None:
    seen: dict[str, str] = {}
    for instance in instances:
        if instance.id in seen:
            problem = f"the id {found(instance.id)} was used at {seen[instance.id]} already, wanted each once"
            raise DataError(instance.origin or "dataset", problem)
        seen[instance.id] = instance.origin


def _points(settings: Settings, ability: Ability) -> list[tuple[str, Composition | None, dict[str, str]]]:
    """Return what is asked at each point of the axes: the end of its ids, the composition and its facets.

    There is no composition where the system retrieves.
    """
    points = []
    for passages, *rates in product(settings.passages, settings.noise_rate, settings.correct_rate):
        texts = {name: facet_text(value) for name, value in zip(AXES, (passages, *rates), strict=True)}
        suffix = "".join(f"-{name}={texts[name]}" for name in settings.multiplied)
        if settings.ability is None:
            facets = {"passages": texts["passages"]} if "passages" in settings.given else {}
        else:
            facets = {"ability": ability.name, "passages": texts["passages"], "noise_rate": texts["noise_rate"]}
            if ability.evidence == "counterfactual":
                facets["correct_rate"] = texts["correct_rate"]
        asked = Composition(ability.evidence or "", passages, *rates) if isinstance(passages, int) else None
        points.append((suffix, asked, facets))
    return points


def _supplied(
    settings: Settings, ability: Ability, instance: Instance, asked: Composition | None, seed: int
) -> tuple[Passage, ...] | None:
    if asked is None:
        return None
    if ability.evidence is not None:
        return _ASSEMBLE[settings.assembly](instance, asked, seed)
    if "passages" not in settings.given:
        return instance.passages
    if asked.passages == 0:
        return ()
    return None if instance.passages is None else instance.passages[: asked.passages]


def _share(supplied: Sequence[Passage], role: Role) -> str:
    return facet_text(round(_count(supplied, role) / len(supplied), 4) if supplied else 0.0)


def _count(supplied: Sequence[Passage], role: Role) -> int:
    return sum(passage.role == role for passage in supplied)
