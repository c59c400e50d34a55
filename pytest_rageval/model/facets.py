"""Facets (a mapping of str to str), by which cases are selected, gated and reported."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_rageval.model.fixed_dict import FixedDict

__all__ = [
    "ABILITIES", "ANY", "DIALOGUE", "FACETS", "KNEW", "LEVELS", "MIN_N", "MODEL", "OF_SYSTEMS", "RELATION",
    "SYSTEM", "TASKS", "VARIANT", "WORKFLOW", "SharedFacets", "facet_text", "in_slice", "is_variant", "matches",
    "parent_facet", "place_of", "place_text", "sort_key", "workflow_and_model",
]  # fmt: skip

FACETS = (
    "dataset", "ability", "task", "topic", "domain", "level", "language", "noise_rate", "passages", "system",
    "workflow", "model",
)  # fmt: skip
"""The facets that any case may have; a dataset or a marker may add its own."""

ABILITIES = ("noise_robustness", "negative_rejection", "information_integration", "counterfactual_robustness")
LEVELS = ("knowledge_seeking", "knowledge_understanding", "knowledge_application")
TASKS = (
    "extractive_qa", "multi_hop_qa", "contrast_qa", "long_form_qa", "conversational_qa",
    "fact_checking", "entity_linking", "slot_filling", "open_domain_qa", "dialogue",
)  # fmt: skip

ANY = "*"

SYSTEM, WORKFLOW, MODEL = OF_SYSTEMS = ("system", "workflow", "model")
"""The facets of the system that answers: its name, its workflow and its model. If a case has a facet with one of
these names itself, that facet has priority."""

DIALOGUE = "dialogue"
"""The facet with the name of a turn's conversation. Turns of the same conversation depend on each other."""

KNEW = "knew"
"""The facet that says whether the model knew the answer without passages; the closed-book arm sets it."""

RELATION, VARIANT = "relation", "variant"
"""The facets of a variant of a case: how it was changed, and its number, from "1". An original has neither."""

MIN_N = "min_n"
"""The key in a gate's brackets for the smallest size of a cell; no facet has this name."""

WHOLE = 1e15  # floats below it represent whole numbers exactly


class SharedFacets:
    """Shares one read-only mapping among all cases with the same facets, which saves memory."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
        self._labelled: dict[tuple[int, tuple[tuple[str, str], ...]], tuple[Mapping[str, str], Mapping[str, str]]] = {}

    def of(self, facets: Mapping[str, str]) -> Mapping[str, str]:
        """Return the shared mapping that equals ``facets``; it is read-only."""
        key = tuple(facets.items())
        if key not in self._known:
            self._known[key] = FixedDict(facets)
        return self._known[key]

    def with_labels(self, facets: Mapping[str, str], labels: Mapping[str, str]) -> Mapping[str, str]:
        """Return the shared mapping of a case's facets and the facets of its system; see `workflow_and_model`."""
        place = id(facets), tuple(labels.items())
        if place not in self._labelled:  # the value refers to the facets, so no other object gets their id
            self._labelled[place] = facets, self.of({**facets, **labels, **workflow_and_model(facets)})
        return self._labelled[place][1]


def facet_text(value: object) -> str:
    """Return a facet value as text: ``0.40`` -> "0.4", ``1.0`` -> "1", ``True`` -> "true".

    A whole number keeps all its digits, any other float keeps six.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < WHOLE else format(value, "g")


def matches(facets: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """Return whether ``facets`` has every value in ``where``; "*" matches any value that is present.

    Values are equal as text, or as numbers if both are numbers ("0.80" equals "0.8").
    """
    if not where:
        return True
    return all(key in facets and (value == ANY or _same(facets[key], value)) for key, value in where.items())


def in_slice(facets: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """Return whether a case counts in a slice: it matches, and a variant only if the slice names its facets.

    All gates, means, matrices and comparisons use this rule, so a case counts once however many variants it has.
    """
    return matches(facets, where) and (RELATION in where or VARIANT in where or not is_variant(facets))


def is_variant(facets: Mapping[str, str]) -> bool:
    """Return whether a case is a variant: a relation made it from another case."""
    return RELATION in facets and VARIANT in facets


def parent_facet(facet: str) -> str:
    """Return the name of the parent facet, whose values group those of ``facet``: ``topic_1`` for ``topic``."""
    return f"{facet}_1"


def workflow_and_model(facets: Mapping[str, str]) -> dict[str, str]:
    """Return the facets ``workflow`` and ``model`` of a case; they have priority over those of its system."""
    return {name: facets[name] for name in (WORKFLOW, MODEL) if name in facets}


def place_of(facets: Mapping[str, str], facet: str) -> tuple[str, str]:
    """Return the values of the parent facet of ``facet`` and of ``facet``; "-" if missing.

    Values with the same name under different parents stay separate.
    """
    return facets.get(parent_facet(facet), "-"), facets.get(facet, "-")


def place_text(facets: Mapping[str, str] | None) -> str:
    """Return ``topic=Funds, task=qa``; "" for all cases."""
    return ", ".join(f"{key}={value}" for key, value in (facets or {}).items())


def sort_key(value: str) -> tuple[int, float, str]:
    """Return a key that sorts facet values: numbers by size, then texts, then "-" (no value)."""
    if value == "-":
        return (2, 0.0, value)
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    return (0, number, value) if math.isfinite(number) else (1, 0.0, value)


def _same(one: str, other: str) -> bool:
    if one == other:
        return True
    from decimal import Decimal  # exact: floats would make different long ids equal

    try:
        return Decimal(one) == Decimal(other)
    except ArithmeticError:
        return False
