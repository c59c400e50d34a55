"""The table of scoring inputs; each has its own module."""

from __future__ import annotations

from pytest_rageval.engine.inputs.closed_book import CLOSED_BOOK
from pytest_rageval.engine.inputs.document_answers import LABELS
from pytest_rageval.engine.inputs.embeddings import VECTORS
from pytest_rageval.engine.inputs.scoring_input import ScoringInput
from pytest_rageval.engine.inputs.verdicts import VERDICTS

__all__ = ["INPUTS"]

INPUTS: tuple[ScoringInput, ...] = (LABELS, VERDICTS, CLOSED_BOOK, VECTORS)
"""All scoring inputs, in the order in which they are asked."""
