"""The input of a metric: everything that it may read about one case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.phrases import DEFAULT_MARKERS, Markers
from pytest_rageval.model.verdict import Verdict

__all__ = ["Sample"]

_NO_VERDICTS: Mapping[str, Verdict] = MappingProxyType({})
_NO_INPUTS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sample:
    """The input of a metric.

    Attributes:
        case: the case.
        answer: the system's answer to it.
        markers: the session's markers of a rejection or a detected error.
        verdicts: name of a judge -> its verdict, for the judges of the session's metrics.
        closed_book: the model's answer to the question without passages; None if no metric needs it or there is no
            model.
        labels: id of each retrieved document -> the score, by the testbed's downstream metric, of the answer that the
            system gives with this document alone; None if no metric needs it or no system can answer.
        vectors: text -> its embedding, for the texts that the session's metrics need; None without an embedding model.
        inputs: name -> value of all other inputs that the session's metrics need.
    """

    case: Case
    answer: Answer
    markers: Markers = DEFAULT_MARKERS
    verdicts: Mapping[str, Verdict] = field(default_factory=lambda: _NO_VERDICTS)
    closed_book: Answer | None = None
    labels: Mapping[str, Score] | None = None
    vectors: Mapping[str, Sequence[float]] | None = None
    inputs: Mapping[str, Any] = field(default_factory=lambda: _NO_INPUTS)

    def with_inputs(self, values: Mapping[str, Any]) -> Sample:
        """Return this sample with added inputs: each in the field with its name, else in ``inputs``."""
        fields = {name: value for name, value in values.items() if name in self.__dataclass_fields__}
        rest = {name: value for name, value in values.items() if name not in fields}
        return replace(self, **fields, inputs=rest or self.inputs)
