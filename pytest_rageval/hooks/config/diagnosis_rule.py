"""Parse ``rag_diagnosis``: the metric and its threshold that decide whether an answer is right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_rageval.errors import SettingError, did_you_mean, short_repr

__all__ = ["DIAGNOSIS", "DiagnosisRule", "diagnosis_rule"]

DIAGNOSIS = "rag_diagnosis"
"""The name of the ini setting."""

_EXAMPLE = "write 'metric=hotpot_f1; threshold=0.5'"


@dataclass(frozen=True, slots=True)
class DiagnosisRule:
    """The rule that decides whether an answer is right, from ``rag_diagnosis``.

    Attributes:
        metric: the metric; "" for each testbed's first metric that scores answers.
        threshold: smallest value of the metric for a right answer; None means 0.5, or 1 for a metric of only 0 and 1.
    """

    metric: str = ""
    threshold: float | None = None

    def __str__(self) -> str:
        metric = f"metric={self.metric}" if self.metric else ""
        threshold = "" if self.threshold is None else f"threshold={self.threshold:g}"
        return "; ".join(filter(None, (metric, threshold)))


def diagnosis_rule(text: str) -> DiagnosisRule | None:
    """Parse ``metric=NAME; threshold=NUMBER``, either or both; return None for an empty text.

    Raises:
        SettingError: the text is malformed.
    """
    values: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, mark, value = (each.strip() for each in part.partition("="))
        if not mark or not value:
            raise SettingError(f"{DIAGNOSIS} has the part {short_repr(part)}; {_EXAMPLE}")
        if name not in ("metric", "threshold"):
            hint = did_you_mean(name, ("metric", "threshold"))
            raise SettingError(f"{DIAGNOSIS} has the unknown option {short_repr(name)}; {hint}")
        if name in values:
            raise SettingError(f"{DIAGNOSIS} has {name} twice; write it once")
        values[name] = value
    if not values:
        return None
    return DiagnosisRule(values.get("metric", ""), _threshold(values["threshold"]) if "threshold" in values else None)


def _threshold(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= 1:
        raise SettingError(f"{DIAGNOSIS} has threshold={short_repr(text)}; write a number above 0 and up to 1")
    return number
