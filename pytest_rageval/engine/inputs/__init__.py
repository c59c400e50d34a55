"""Scoring inputs: what metrics read in addition to a case and its answer; see `table`."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from pytest_rageval.model.metric import Metric

if TYPE_CHECKING:
    from pytest_rageval.engine.inputs.scoring_input import ScoringInput

__all__ = ["inputs_named", "inputs_of"]


def inputs_of(metrics: Iterable[Metric]) -> tuple[ScoringInput, ...]:
    """Return the inputs that metrics read, in the order in which they are asked."""
    reading = [metric for metric in metrics if metric.reads_inputs]
    if not reading:  # the usual case: no module of an input is imported
        return ()
    from pytest_rageval.engine.inputs import table

    return tuple(
        each for each in table.INPUTS if any(each.needed_by(metric) or each.name in metric.needs for metric in reading)
    )


def inputs_named(names: Container[str]) -> tuple[ScoringInput, ...]:
    """Return the inputs with these names."""
    from pytest_rageval.engine.inputs import table

    return tuple(each for each in table.INPUTS if each.name in names)
