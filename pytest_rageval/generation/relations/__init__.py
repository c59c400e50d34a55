"""Relations: small changes of a case with a known effect on its answer."""

from __future__ import annotations

__all__ = ["BUILTIN"]

_QUESTION = "pytest_rageval.generation.relations.question_form"
_PASSAGES = "pytest_rageval.generation.relations.passages"
_EVIDENCE = "pytest_rageval.generation.relations.evidence"

BUILTIN: dict[str, str] = {
    "case": f"{_QUESTION}:CASE",
    "drop_irrelevant": f"{_PASSAGES}:DROP_IRRELEVANT",
    "duplicate_passage": f"{_PASSAGES}:DUPLICATE_PASSAGE",
    "irrelevant_passage": "pytest_rageval.generation.relations.irrelevant_passage:IRRELEVANT_PASSAGE",
    "number_format": "pytest_rageval.generation.relations.number_format:NUMBER_FORMAT",
    "passage_order": f"{_PASSAGES}:PASSAGE_ORDER",
    "politeness": "pytest_rageval.generation.relations.politeness:POLITENESS",
    "punctuation": f"{_QUESTION}:PUNCTUATION",
    "remove_evidence": f"{_EVIDENCE}:REMOVE_EVIDENCE",
    "swap_evidence": f"{_EVIDENCE}:SWAP_EVIDENCE",
    "typo": "pytest_rageval.generation.relations.typo:TYPO",
    "whitespace": f"{_QUESTION}:WHITESPACE",
    "width": f"{_QUESTION}:WIDTH",
}
"""Name -> ``"module:attribute"`` of its `Relation`."""
