"""Everything a metric may read about one case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.phrases import DEFAULT_MARKERS, Markers
from pytest_rageval.model.verdict import Verdict

__all__ = ["Sample"]

_NO_VERDICTS: Mapping[str, Verdict] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sample:
    """The one value a metric is given.

    Attributes:
        case: the case.
        answer: the system's answer to it.
        markers: what marks a rejection or a detected error in the session.
        verdicts: name of a judge -> its verdict, of the judges that the session's metrics name.
        closed_book: the model's answer to the question alone; None when no metric asks for it or there is no model.
        labels: id of each retrieved document -> what the answer from it alone scores by the testbed's downstream
            metric; None when no metric asks for it or there is no system that could be asked.
        vectors: text -> its embedding, of the texts that the session's metrics name; None without an embedding model.
    """

    case: Case
    answer: Answer
    markers: Markers = DEFAULT_MARKERS
    verdicts: Mapping[str, Verdict] = field(default_factory=lambda: _NO_VERDICTS)
    closed_book: Answer | None = None
    labels: Mapping[str, Score] | None = None
    vectors: Mapping[str, Sequence[float]] | None = None
