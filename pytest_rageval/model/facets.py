"""Facets: the one vocabulary of selection, gates and reports. A mapping of str to str."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = [
    "ABILITIES", "ANY", "DIALOGUE", "FACETS", "KNEW", "LEVELS", "MIN_N", "TASKS", "above", "facet_text", "matches",
    "place_of", "place_text", "sort_key",
]  # fmt: skip

FACETS = (
    "dataset", "ability", "task", "topic", "domain", "level", "language", "noise_rate", "passages", "system",
)  # fmt: skip
"""The facets every case may carry; a dataset or a marker may add its own."""

ABILITIES = ("noise_robustness", "negative_rejection", "information_integration", "counterfactual_robustness")
LEVELS = ("knowledge_seeking", "knowledge_understanding", "knowledge_application")
TASKS = (
    "extractive_qa", "multi_hop_qa", "contrast_qa", "long_form_qa", "conversational_qa",
    "fact_checking", "entity_linking", "slot_filling", "open_domain_qa", "dialogue",
)  # fmt: skip

ANY = "*"

DIALOGUE = "dialogue"
"""The facet that names the conversation of a turn. Turns of one conversation depend on each other."""

KNEW = "knew"
"""The facet that says whether the model knew the answer without any passage; a case has it once it was asked."""

MIN_N = "min_n"
"""What a gate says in its brackets of the size of cells; no facet is named so."""

WHOLE = 1e15  # floats below it hold whole numbers exactly


def facet_text(value: object) -> str:
    """Return a facet value as text: ``0.40`` -> "0.4", ``1.0`` -> "1", ``True`` -> "true".

    A whole number keeps all its digits, any other float six.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < WHOLE else format(value, "g")


def matches(facets: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """Return whether ``facets`` has every value in ``where``; "*" wants the facet present.

    Values are equal as text, or as numbers when both are numbers ("0.80" is "0.8").
    """
    return all(key in facets and (wanted == ANY or _same(facets[key], wanted)) for key, wanted in where.items())


def above(facet: str) -> str:
    """Return the name of the facet whose values group those of ``facet``."""
    return f"{facet}_1"


def place_of(facets: Mapping[str, str], facet: str) -> tuple[str, str]:
    """Return the value of the facet above ``facet`` and its own, "-" for none: what tells places of one name apart."""
    return facets.get(above(facet), "-"), facets.get(facet, "-")


def place_text(facets: Mapping[str, str] | None) -> str:
    """Return ``topic=Funds, task=qa``, or "" where no cell is meant."""
    return ", ".join(f"{key}={value}" for key, value in (facets or {}).items())


def sort_key(value: str) -> tuple[int, float, str]:
    """Order facet values: numbers by size, then texts; "-" (no value) last."""
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
    from decimal import Decimal  # exact, so that long numbers that name things are not taken for each other

    try:
        return Decimal(one) == Decimal(other)
    except ArithmeticError:
        return False
