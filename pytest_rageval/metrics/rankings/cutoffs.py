"""Parse the names of metrics with a cutoff: ``P@5``, ``nDCG`` and ``nDCG@10``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper

from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.metrics.rankings.relevance import UNKNOWN_RELEVANT
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["DEEPEST", "Measure", "cut"]

DEEPEST = 1_000_000
"""The highest valid cutoff."""

_CUTOFF = re.compile("[1-9][0-9]{0,6}")


@dataclass(frozen=True, slots=True)
class Measure:
    """The common properties of the metrics of one family.

    Attributes:
        compute: scores a sample down to a rank, or the whole ranking if that is None.
        whole: whether a cutoff can be left out.
        cuts: whether a cutoff is allowed.
        binary: whether every value is 0 or 1.
        needs_all: whether values depend on relevant documents that were not retrieved.
    """

    compute: Callable[[Sample, int | None], Score]
    whole: bool = False
    cuts: bool = True
    binary: bool = False
    needs_all: bool = False

    def metric(self, name: str, k: int | None) -> Metric:
        """Return the metric with a name and a cutoff."""

        def compute(sample: Sample) -> Score:
            unknown = self.needs_all and sample.case.relevance == "answers"
            return UNKNOWN_RELEVANT if unknown else self.compute(sample, k)

        return Metric(
            name, update_wrapper(compute, self.compute), binary=self.binary, needs_all=self.needs_all, of="retrieval"
        )


def cut(name: str, head: str, measure: Measure) -> Metric:
    """Return the metric ``name`` of the family ``head``.

    Raises:
        SettingError: the cutoff is missing or invalid.
    """
    cutoff = name.removeprefix(f"{head}@")
    if name == head and measure.whole:
        return measure.metric(name, None)
    if cutoff != name and measure.cuts and _CUTOFF.fullmatch(cutoff) and int(cutoff) <= DEEPEST:
        return measure.metric(name, int(cutoff))
    if not measure.cuts:
        raise SettingError(f"metric {short_repr(name)} takes no cutoff; write {head}")
    advice = f"write {head}@K with a whole number K from 1 to {DEEPEST}, as in {head}@10"
    raise SettingError(f"metric {short_repr(name)} has no valid cutoff; {advice}")
