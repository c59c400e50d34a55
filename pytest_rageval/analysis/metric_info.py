"""Metadata of a metric that gates and tables read."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MetricInfo"]


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """Metadata of a metric, without its function; the attributes are those of `Metric`.

    ``judge`` is the name of the judge that the metric depends on, or "".
    """

    binary: bool = False
    higher_is_better: bool = True
    of: str = "answer"
    downstream: bool = True
    judge: str = ""
