"""Expand instances and settings into cases, in the order of the file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from pytest_rageval.errors import DataError, short_repr
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
    """Cases with too few passages of a role for the settings.

    Attributes:
        count: number of such cases.
        total: number of all cases.
        ids: the first few distinct ids of such cases.
    """

    count: int
    total: int
    ids: tuple[str, ...]


def expand(settings: Settings, instances: Sequence[Instance], seed: int) -> tuple[tuple[str, Case], ...]:
    """Return the cases of a testbed, each with a parameter id that is unique in the testbed.

    The cases are ordered by instance, then by setting. A parameter id is the instance's id, followed by "-name=value"
    for each setting that is a list.

    Args:
        settings: the settings of the testbed.
        instances: the records of the dataset.
        seed: the effective seed; ``settings.seed`` is ignored.

    Raises:
        DataError: two instances have the same id, or an instance lacks passages that the ability needs.
    """
    _check_duplicates(instances)
    ability = ability_named(settings.ability)
    points = _points(settings, ability)
    cases = []
    for name, instance in zip(unique_ids(i.id for i in instances), instances, strict=True):
        ability.require(instance)
        instructions = ability.instructions(instance.language)
        facets = {**instance.facets, **settings.facets} if settings.facets else instance.facets
        for suffix, composition, point_facets in points:
            supplied = _supplied(settings, ability, instance, composition, seed)
            more = dict(point_facets)
            if settings.ability is not None:
                more["noise_realised"] = _share(supplied or (), "negative")
            if "correct_rate" in point_facets:
                more["correct_realised"] = _share(supplied or (), "positive")
            all_facets = {**facets, **more} if more else facets
            cases.append(
                (name + suffix, Case(instance.id, instance, supplied, all_facets, instructions, settings.relevance))
            )
    return tuple(cases)


def shortfalls(cases: Sequence[Case], first: int = 3) -> Shortfalls:
    """Count the cases for which `is_short` is true, and return their first ids."""
    short = [case.id for case in cases if is_short(case)]
    return Shortfalls(len(short), len(cases), tuple(dict.fromkeys(short))[:first])


def is_short(case: Case) -> bool:
    """Return whether the number of passages, noise passages or correct passages differs from the settings."""
    if case.supplied is None or "passages" not in case.facets:
        return False
    passages = int(case.facets["passages"])
    if len(case.supplied) != passages:
        return True
    if "ability" not in case.facets:  # the record states the rates of its whole pool
        return False
    # The facet has six digits of the rate. Subtract their rounding error before rounding the product up.
    return any(
        _count(case.supplied, role) != math.ceil(passages * float(case.facets[rate]) - passages * 1e-6)
        for rate, role in _ROLE_OF.items()
        if rate in case.facets
    )


def _check_duplicates(instances: Sequence[Instance]) -> None:
    seen: dict[str, str] = {}
    for instance in instances:
        if instance.id in seen:
            problem = f"the id {short_repr(instance.id)} is already used at {seen[instance.id]}, wanted each once"
            raise DataError(instance.origin or "dataset", problem, code="RAG203")
        seen[instance.id] = instance.origin


def _points(settings: Settings, ability: Ability) -> list[tuple[str, Composition | None, dict[str, str]]]:
    """Return the id suffix, the composition and the facets for each combination of settings.

    The composition is None if the system retrieves.
    """
    points = []
    for passages, *rates in product(settings.passages, settings.noise_rate, settings.correct_rate):
        texts = {name: facet_text(value) for name, value in zip(AXES, (passages, *rates), strict=True)}
        suffix = "".join(f"-{name}={texts[name]}" for name in settings.multiplied)
        if settings.ability is None:
            facets = {"passages": texts["passages"]} if "passages" in settings.explicit else {}
        else:
            facets = {"ability": ability.name, "passages": texts["passages"], "noise_rate": texts["noise_rate"]}
            if ability.evidence == "counterfactual":
                facets["correct_rate"] = texts["correct_rate"]
        composition = Composition(ability.evidence or "", passages, *rates) if isinstance(passages, int) else None
        points.append((suffix, composition, facets))
    return points


def _supplied(
    settings: Settings, ability: Ability, instance: Instance, composition: Composition | None, seed: int
) -> tuple[Passage, ...] | None:
    if composition is None:
        return None
    if ability.evidence is not None:
        return _ASSEMBLE[settings.assembly](instance, composition, seed)
    if "passages" not in settings.explicit:
        return instance.passages
    if composition.passages == 0:
        return ()
    return None if instance.passages is None else instance.passages[: composition.passages]


def _share(supplied: Sequence[Passage], role: Role) -> str:
    return facet_text(round(_count(supplied, role) / len(supplied), 4) if supplied else 0.0)


def _count(supplied: Sequence[Passage], role: Role) -> int:
    return sum(passage.role == role for passage in supplied)
