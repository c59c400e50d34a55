"""Encode and decode evidence for results.json, as the record states it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_rageval.model.evidence import Evidence, EvidenceUnit
from pytest_rageval.model.plain import Plain, plain_text

__all__ = ["bare_evidence", "decode_evidence", "encode_evidence"]


def encode_evidence(evidence: Evidence) -> list[list[Plain]]:
    """Return the alternatives of evidence as builtins."""
    return [[_encode_unit(unit) for unit in alternative] for alternative in evidence]


def decode_evidence(plain: Sequence[Sequence[dict[str, Any]]]) -> Evidence:
    """Return the evidence that `encode_evidence` wrote."""
    return tuple(tuple(map(_decode_unit, alternative)) for alternative in plain)


def bare_evidence(plain: Sequence[Sequence[Plain]]) -> list[list[Plain]]:
    """Return encoded evidence without its quotes."""
    return [[{key: unit[key] for key in unit if key != "quote"} for unit in alternative] for alternative in plain]


def _encode_unit(unit: EvidenceUnit) -> Plain:
    text: Plain = {"quote": plain_text(unit.quote)} if unit.span is None else {"span": [int(at) for at in unit.span]}
    return {"page": plain_text(unit.page), **text, "grade": int(unit.grade)}


def _decode_unit(plain: dict[str, Any]) -> EvidenceUnit:
    span = plain.get("span")
    return EvidenceUnit(
        plain["page"], plain.get("quote", ""), None if span is None else (span[0], span[1]), plain["grade"]
    )
