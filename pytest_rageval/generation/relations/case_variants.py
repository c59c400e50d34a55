"""Add the variants of relations to the cases of a testbed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.generation.relations.records import Records
from pytest_rageval.generation.relations.relation import Relation, relation_named
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.facets import OF_SYSTEMS, RELATION, VARIANT
from pytest_rageval.testbeds.selection import select
from pytest_rageval.testbeds.settings import Settings

__all__ = ["ExpandedCases", "expand_by_relations"]


@dataclass(frozen=True, slots=True)
class ExpandedCases:
    """The cases of a testbed with their variants.

    Attributes:
        cases: for each original case its name and its versions, as (suffix, case): first the original with the
            suffix "", then its variants.
        notes: one sentence for each relation that changes no case.
    """

    cases: tuple[tuple[str, tuple[tuple[str, Case], ...]], ...]
    notes: tuple[str, ...]


def expand_by_relations(
    settings: Settings, cases: Sequence[tuple[str, Case]], instances: Iterable[Instance], seed: int
) -> ExpandedCases:
    """Return the cases of a testbed, each selected case with its variants.

    Args:
        settings: the settings of the testbed.
        cases: the names and cases of the testbed.
        instances: the records of its dataset.
        seed: the seed of the testbed, for the selection and the variants.

    Raises:
        UnknownNameError: a relation is unknown.
        SettingError: a relation changes passages and the testbed supplies none, or a case has a reserved facet.
    """
    origin = settings.origin
    relations = [relation_named(name, f"{origin}: relations") for name in settings.relations]
    _check_passages(relations, cases, origin)
    _check_reserved_facets(cases, origin)
    records, counts = Records.of(instances), dict.fromkeys(settings.relations, 0)
    selected, expanded = _selected_indices(settings, [case for _, case in cases], seed), []
    for index, (name, case) in enumerate(cases):
        relations_of_case = relations if index in selected else ()
        variants = [v for each in relations_of_case for v in each.variants(case, seed, settings.variants, records)]
        for variant in variants:
            counts[variant.relation] += 1
        suffixed = ((f"-{RELATION}={v.relation}-{VARIANT}={v.number}", v.case) for v in variants)
        expanded.append((name, (("", case), *suffixed)))
    unused = [name for name, count in counts.items() if not count]
    return ExpandedCases(tuple(expanded), tuple(f"the relation {name} changes none of its cases" for name in unused))


def _selected_indices(settings: Settings, cases: Sequence[Case], seed: int) -> frozenset[int]:
    """Return the indices of the selected cases; the others never run, so they need no variants.

    Facets of systems are unknown here; they exclude no case, because each system answers every case.
    """
    where = {name: value for name, value in settings.where.items() if name not in OF_SYSTEMS}
    return frozenset(select(cases, where, settings.limit, settings.sample, seed, settings.origin))


def _check_passages(relations: Iterable[Relation], cases: Sequence[tuple[str, Case]], origin: str) -> None:
    """Raise a `SettingError` if a relation changes supplied passages and no case has any."""
    if not any(case.supplied for _, case in cases):
        for relation in relations:
            if relation.target == "passages":
                problem = f"the relation {relation.name} changes supplied passages, and this testbed supplies none"
                raise SettingError(f"{origin}: {problem}; leave it out, or use a dataset with passages")


def _check_reserved_facets(cases: Iterable[tuple[str, Case]], origin: str) -> None:
    """Raise a `SettingError` if a case has a facet that only relations may set."""
    for name in (RELATION, VARIANT):
        cases_with_facet: Iterator[Case] = (case for _, case in cases if name in case.facets)
        if (case := next(cases_with_facet, None)) is not None:
            problem = f"the case {short_repr(case.id)} has the facet {name!r}, which relations set; rename it"
            raise SettingError(f"{origin}: {problem}")
