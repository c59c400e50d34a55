"""Parse the key ``evidence``: quotes or spans, as one list or as several alternatives."""

from __future__ import annotations

from pytest_rageval.datasets.fields import Fields
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.evidence import Evidence, EvidenceUnit, Span

__all__ = ["evidence_in"]

KEYS = ("grade", "page", "quote", "span")
WANTED = "a list of objects with page and quote or span, or a list of such lists"


def evidence_in(record: Fields) -> Evidence:
    """Return the alternatives of a record's evidence; empty if the record has no evidence.

    Raises:
        DataError: the evidence is malformed.
    """
    items = record.items("evidence", WANTED)
    if not any(isinstance(item, list) for item in items):
        return (_units(record, "evidence", items),) if items else ()
    alternatives = []
    for index, item in enumerate(items):
        name = f"evidence[{index}]"
        if not isinstance(item, list) or not item:
            raise record.wrong(name, item, "a list of at least one unit, because other items are lists")
        alternatives.append(_units(record, name, item))
    return tuple(alternatives)


def _units(record: Fields, name: str, items: list[object]) -> tuple[EvidenceUnit, ...]:
    wanted = "an object with page and quote or span"
    return tuple(_unit(record.inner(f"{name}[{index}]", item, wanted)) for index, item in enumerate(items))


def _unit(fields: Fields) -> EvidenceUnit:
    fields.only(KEYS)
    page = fields.identifier("page")
    if ("quote" in fields) == ("span" in fields):
        keys = "both quote and span" if "quote" in fields else "neither quote nor span"
        raise DataError(fields.where, f"{fields.prefix.rstrip('.')}: found {keys}, wanted one of them")
    quote = fields.text("quote") if "quote" in fields else ""
    return EvidenceUnit(page, quote, _span(fields) if "span" in fields else None, _grade(fields))


def _span(fields: Fields) -> Span:
    value = fields.values["span"]
    whole = isinstance(value, list) and all(type(edge) is int for edge in value)
    if not isinstance(value, list) or not whole or len(value) != 2 or not 0 <= value[0] < value[1]:
        wanted = "[start, end] in code points of the document, with 0 <= start < end"
        raise DataError(fields.where, f"{fields.prefix}span: found {short_repr(value)}, wanted {wanted}")
    return value[0], value[1]


def _grade(fields: Fields) -> int:
    return fields.count("grade", least=1) or 1
