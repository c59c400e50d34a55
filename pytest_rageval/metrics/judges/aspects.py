"""What a case's gold answer is made of, which decides whether a metric applies: the same for every system."""

from __future__ import annotations

import re

from pytest_rageval.errors import CaseError, found
from pytest_rageval.model.case import Case
from pytest_rageval.text.sentences import sentences

__all__ = ["has_several_aspects", "stated"]

_LIST = re.compile(r"\S\s*[、；;]\s*\w|,[^,\n]*\S,? (?:and|or) \w")
"""Two items with 、 or a semicolon between them, or English's "one, two and three"."""


def has_several_aspects(case: Case) -> bool:
    """Return whether an answer to the case can be complete in a part only.

    What the record says in its facet ``several_aspects`` holds; else the gold answer has several slots, or the first
    spelling of its one slot has several sentences or lines, or lists: items with 、 or ; between them, or as in
    "salt, rice and tea".
    """
    said = stated(case, "several_aspects")
    if said is not None:
        return said
    gold = case.instance.gold
    if len(gold) != 1:
        return len(gold) > 1
    first = next(iter(gold[0]), "")
    return len(sentences(first)) > 1 or _LIST.search(first) is not None


def stated(case: Case, facet: str) -> bool | None:
    """Return what a record says in a facet that is true or false, None where it has none; else a `CaseError`."""
    said = case.facets.get(facet)
    if said not in ("true", "false", None):
        raise CaseError("bad_facet", f"{facet} of case {case.id!r}: found {found(said)}, wanted true or false")
    return None if said is None else said == "true"
