"""The metadata of a metric that gates and tables read."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_rageval.model.storage import ALWAYS, NEEDED, Share, stored

__all__ = ["MetricInfo"]


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """Metadata of a metric, without its function.

    Attributes:
        binary: whether every value is 0 or 1.
        higher_is_better: whether a higher value is better.
        of: what a value measures: "answer", "retrieval" or "both".
        downstream: whether a value measures the quality of the system's answer: ``of`` is "answer", and the metric does
            not read the closed-book answer.
        judge: the judge whose model it depends on, or "".
        escalate: the confidence from which a local judge decides alone; None if it does not pass answers on.
    """

    binary: bool = field(default=False, metadata=NEEDED)
    higher_is_better: bool = field(default=True, metadata=NEEDED)
    of: str = field(default="answer", metadata=stored(always=True, schema={"enum": ["answer", "retrieval", "both"]}))
    downstream: bool = field(default=True, metadata=ALWAYS)
    judge: str = field(default="", metadata=ALWAYS)
    escalate: Share | None = None
