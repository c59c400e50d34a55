"""``diagnosis:TYPE``: whether the diagnosis of an answer has a type."""

from __future__ import annotations

from collections.abc import Callable

from pytest_rageval.errors import UnknownNameError
from pytest_rageval.metrics.diagnosis.diagnose import RIGHT, WRONG
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Diagnosis, DiagnosisType, Score
from pytest_rageval.model.sample import Sample

__all__ = ["DIAGNOSIS", "NO_DIAGNOSIS", "TYPES", "diagnosis_metric"]

DIAGNOSIS = "diagnosis"
"""The key of the diagnosis in ``sample.inputs``, and the name of the family."""

NO_DIAGNOSIS = Score.not_applicable("no_correctness_metric")
"""The reason if no metric of the testbed decides which answers are right."""

TYPES: dict[str, tuple[DiagnosisType, ...]] = {
    "EM": ("EM",),
    "AM": ("AM",),
    "A_unknown": ("A?",),
    "GE": ("GE",),
    "RE": ("RE",),
    "TE": ("TE",),
    "ME": ("ME",),
    "W_unknown": ("W?",),
    "ACC": RIGHT,
    "WA": WRONG,
}
"""The part of a metric's name after the colon -> the types that score 1."""

_HIGHER_IS_BETTER = ("EM", "AM", "ACC")


def diagnosis_metric(name: str, head: str, get: Callable[[str], Metric]) -> Metric:
    """Return the metric ``diagnosis:TYPE``."""
    word = name.removeprefix(f"{head}:")
    if word not in TYPES or word == name:
        raise UnknownNameError("metric", name, [f"{head}:{each}" for each in TYPES])
    types = TYPES[word]

    def has_type(sample: Sample) -> Score:
        """Score whether the diagnosis of the answer has one type.

        Formula: 1 if the answer's diagnosis has the type, else 0. EM: right, and the evidence or the gold answer was
        retrieved; AM: right, not retrieved; A_unknown: right, not known from where; GE: wrong, although retrieved; ME:
        wrong, because the model failed (context too long, no readable action, reply filtered or cut); TE: wrong,
        because the program failed, or the run reached a limit and most of its tool calls failed; RE: wrong, because the
        answer was not retrieved;
        W_unknown: wrong, not known why. ACC is EM, AM or A_unknown, WA is any other. An answer is right if the first
        metric of its testbed that scores answers, or that of ``rag_diagnosis``, reaches the threshold (0.5; 1 for
        metrics of 0 and 1).
        Range: 0 or 1; higher is better for EM, AM and ACC, lower is better for the others. Empty input: that
        metric decides whether an empty answer is right; not applicable if the case has no gold answer or is
        unanswerable, in testbeds of RGB's abilities, and if the answer has no trace, no ranking and no supplied
        passages.
        Source: R-Eval (Tu et al., KDD 2024), error analysis. Ours looks for the evidence only in the
        retrieved texts; `rageval analyze errors --compat reval` uses the published rule.
        """
        diagnosis = sample.inputs.get(DIAGNOSIS, NO_DIAGNOSIS)
        return Score(float(diagnosis.type in types)) if isinstance(diagnosis, Diagnosis) else diagnosis

    return Metric(
        name, has_type, higher_is_better=word in _HIGHER_IS_BETTER, binary=True, of="both", needs=(DIAGNOSIS,)
    )
