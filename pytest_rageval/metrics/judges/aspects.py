"""Read from a record whether a metric applies to its case, independently of the system."""

from __future__ import annotations

import re

from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.model.case import Case
from pytest_rageval.text.sentences import sentences

__all__ = ["has_several_aspects", "true_false_facet"]

_LIST = re.compile(r"\S\s*[、；;]\s*\w|,[^,\n]*\S,? (?:and|or) \w")
"""Two items separated by 、 or a semicolon, or "one, two and three"."""


def has_several_aspects(case: Case) -> bool:
    """Return whether an answer to the case can be partly complete.

    The record's facet ``several_aspects`` decides. Without it, the gold answer must have several slots, or the first
    alias of its only slot must have several sentences or lines, or contain a list: items separated by 、 or ;, or
    written like "salt, rice and tea".
    """
    facet = true_false_facet(case, "several_aspects")
    if facet is not None:
        return facet
    gold = case.instance.gold
    if len(gold) != 1:
        return len(gold) > 1
    first = next(iter(gold[0]), "")
    return len(sentences(first)) > 1 or _LIST.search(first) is not None


def true_false_facet(case: Case, facet: str) -> bool | None:
    """Return the value of a facet with the values true and false; None if the record lacks it.

    Raises:
        CaseError: the facet has another value.
    """
    text = case.facets.get(facet)
    if text not in ("true", "false", None):
        raise CaseError("bad_facet", f"{facet} of case {case.id!r}: found {short_repr(text)}, wanted true or false")
    return None if text is None else text == "true"
