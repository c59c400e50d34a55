"""Variants of cases in a session: make them, and check the metric ``stable`` and the gates over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.variants import STABLE
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.hooks.collect.testbed import Testbed
from pytest_rageval.model.facets import RELATION, VARIANT, is_variant

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Responder
    from pytest_rageval.model.case import Case, Instance

__all__ = ["check_stability", "is_answered", "lacks_answers", "note_left_out", "refuse_unsliced", "with_variants"]


def with_variants(
    testbed: Testbed, cases: Sequence[tuple[str, Case]], instances: Iterable[Instance]
) -> Sequence[tuple[str, Sequence[tuple[str, Case]]]]:
    """Return name -> a case and its variants, each with the suffix of its own name ("" for the original).

    Args:
        testbed: their testbed; it gets the facets of variants, and a note for each relation that changes no case.
        cases: its cases by name.
        instances: the records of its dataset.

    Raises:
        SettingError: a relation is unknown or cannot be used with these cases.
    """
    if not testbed.settings.relations:
        return [(name, (("", case),)) for name, case in cases]
    from pytest_rageval.generation.relations.expanding import expand_by_relations

    expanded = expand_by_relations(testbed.settings, cases, instances, testbed.seed)
    testbed.facets.update((RELATION, VARIANT))
    testbed.notes = expanded.notes
    return expanded.cases


def is_answered(testbed: Testbed, responder: Responder, case: Case, name: str) -> bool:
    """Return whether a case is a case of its testbed, if recorded answers decide that.

    A dataset with answers of its own has only the cases that they answer. Other recorded answers lack variants, which
    are then left out: the answer to an original says nothing about them.
    """
    if testbed.recorded is None or not (testbed.labelled or is_variant(case.facets)):
        return True
    return testbed.recorded.find(responder.name, case, name) is not None


def note_left_out(testbed: Testbed, groups: Iterable[tuple[str, Sequence[object]]], made: Iterable[Case]) -> None:
    """Add a note to a testbed if recorded answers lack its variants."""
    n_left_out = sum(len(versions) - 1 for _, versions in groups) - sum(is_variant(case.facets) for case in made)
    if testbed.recorded is not None and n_left_out > 0:
        what = "1 variant is" if n_left_out == 1 else f"{n_left_out} variants are"
        testbed.notes += (f"{what} left out, because the recorded answers hold none for them",)


def check_stability(testbed: Testbed, gates: Iterable[Gate], catalog: Catalog) -> None:
    """Compute ``stable`` for a testbed with relations, as its last metric; refuse a use without effect.

    Raises:
        SettingError: the testbed has no relations, ``stable`` is its primary metric, or a gate names no relation.
    """
    where = testbed.settings.origin
    if next(iter(testbed.metrics)) == STABLE:
        problem = f"metric {STABLE!r} compares values of the primary metric, which is the first one"
        raise SettingError(f"{where}: {problem}; name another one first")
    if testbed.settings.relations:
        testbed.compute(STABLE, catalog.metrics.get(STABLE, where))
    elif STABLE in testbed.metrics:
        problem = f"metric {STABLE!r} compares cases with their variants, and there are none"
        raise SettingError(f'{where}: {problem}; add relations=["typo"], for instance')
    for gate in gates:
        refuse_unsliced(gate, where)


def refuse_unsliced(gate: Gate, where: str) -> None:
    """Refuse a gate on ``stable`` that names no relation, because only variants have a value."""
    if gate.metric == STABLE and not _is_over_variants(gate):
        problem = f"gate {short_repr(str(gate))} takes originals, and only variants have a value"
        raise SettingError(f"{where}: {problem}; write {STABLE}[{RELATION}=*] {gate.op} {gate.bound_text}")


def lacks_answers(gate: Gate, testbeds: Iterable[Testbed]) -> bool:
    """Return whether a gate is over variants that recorded answers may lack; it is then skipped, not refused."""
    return _is_over_variants(gate) and any(each.settings.relations and each.recorded is not None for each in testbeds)


def _is_over_variants(gate: Gate) -> bool:
    return RELATION in gate.slice or VARIANT in gate.slice
