"""The scoring inputs: what metrics read in addition to a case and its answer, one module each."""

from __future__ import annotations

from collections.abc import Container, Iterable

from pytest_rageval.engine.inputs.closed_book import CLOSED_BOOK
from pytest_rageval.engine.inputs.document_answers import LABELS
from pytest_rageval.engine.inputs.embeddings import VECTORS
from pytest_rageval.engine.inputs.scoring_input import ScoringInput
from pytest_rageval.engine.inputs.verdicts import VERDICTS
from pytest_rageval.model.metric import Metric

__all__ = ["INPUTS", "inputs_named", "inputs_of"]

INPUTS: tuple[ScoringInput, ...] = (LABELS, VERDICTS, CLOSED_BOOK, VECTORS)
"""The declared inputs, in the order in which they are asked."""


def inputs_of(metrics: Iterable[Metric]) -> tuple[ScoringInput, ...]:
    """Return the inputs that metrics read, in the order in which they are asked."""
    needed, listed = [], tuple(metrics)
    for each in INPUTS:  # in plain loops, as this runs for every case
        for metric in listed:
            if each.needed_by(metric) or each.name in metric.needs:
                needed.append(each)
                break
    return tuple(needed)


def inputs_named(names: Container[str]) -> tuple[ScoringInput, ...]:
    """Return the inputs with these names."""
    return tuple(each for each in INPUTS if each.name in names)
