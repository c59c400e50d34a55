"""Correct the mean of a metric over one system's outcomes by people's labels of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated, Literal

from pytest_rageval.analysis.corrected_mean import (
    FEWEST,
    CorrectedMean,
    corrected_mean_of_units,
    shifted_mean_of_units,
)
from pytest_rageval.analysis.statistics import Mean
from pytest_rageval.analysis.units import Units, units_of_outcomes
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import Bounds

__all__ = ["EARLIER_LABELS", "OWN_LABELS", "LabelSource", "Labelling", "LabelsUsed", "corrected_cases", "corrected_of"]


LabelSource = Literal["labels of this run's answers", "labels of earlier answers"]

OWN_LABELS: LabelSource = "labels of this run's answers"
EARLIER_LABELS: LabelSource = "labels of earlier answers"


@dataclass(frozen=True, slots=True)
class LabelsUsed:
    """The labels behind a corrected mean.

    Attributes:
        n: number of labelled cases.
        source: which answers the labels are of; earlier answers are used if too few answers of the run are labelled.
    """

    n: Annotated[int, Bounds(0)]
    source: LabelSource


@dataclass(frozen=True, slots=True)
class Labelling:
    """One outcome with the judge's value and people's value.

    Attributes:
        outcome: the outcome.
        judged: the judge's value of the labelled answer, in 0..1.
        people: people's value of the same answer; None if it has no label.
    """

    outcome: Outcome
    judged: float
    people: float | None = None


def corrected_cases(metric: str, outcomes: Sequence[Outcome]) -> tuple[int, CorrectedMean, LabelsUsed, Units]:
    """Return the corrected mean of ``people:METRIC`` over the outcomes of one system.

    The labels of this run's answers are used if they cover at least `FEWEST` independent units. Otherwise labels of
    earlier answers of the same system are used.

    Returns:
        The number of judged outcomes; the corrected mean, without a value if there are too few labels or several
        systems; the labels that it uses; the units of the judged cases.
    """
    current: list[Labelling] = []
    earlier: list[Labelling] = []
    for outcome in outcomes:
        scores = outcome.scores
        judged = scores[corrected_metric(metric)].judged if corrected_metric(metric) in scores else None
        if outcome.status != "scored" or judged is None:
            continue
        label = scores.get(metric)
        current.append(Labelling(outcome, judged, None if label is None else label.value))
        if label is not None and label.value is not None:
            earlier.append(current[-1])
        elif label is not None and label.earlier is not None:
            earlier.append(Labelling(outcome, label.earlier.judged, label.earlier.people))
    units = units_of_outcomes([each.outcome for each in _by_case(current)])
    several = len({each.outcome.system for each in current}) > 1
    labelled = [each for each in current if each.people is not None]
    if several or not current:
        unknown = Mean(None, 0, None)
        return (
            len(current),
            CorrectedMean(0, len(current), unknown, unknown, reason="too_few"),
            LabelsUsed(0, OWN_LABELS),
            units,
        )
    result = corrected_of(current)
    if result.value is not None or len(earlier) == len(labelled):
        return len(current), result, LabelsUsed(result.n_labelled, OWN_LABELS), units
    result = _shifted(current, earlier)
    return len(current), result, LabelsUsed(result.n_labelled, EARLIER_LABELS), units


def corrected_of(answers: Sequence[Labelling]) -> CorrectedMean:
    """Return the corrected mean of one system's answers; each case counts once, with the mean of its answers."""
    people = _by_case(each for each in answers if each.people is not None)
    labelled_ids = {each.outcome.case_id for each in people}
    others = _by_case(each for each in answers if each.outcome.case_id not in labelled_ids)
    labels = [each.people for each in people if each.people is not None]
    units = units_of_outcomes([each.outcome for each in (*people, *others)])
    judged, rest = [each.judged for each in people], [each.judged for each in others]
    result = corrected_mean_of_units(labels, judged, rest, units)
    if others or units.n < FEWEST:
        return result
    return replace(result, value=result.labelled.value, ci95=result.labelled.ci95, weight=0.0, reason=None)


def _shifted(current: Sequence[Labelling], labelled: Sequence[Labelling]) -> CorrectedMean:
    """Return the mean of current answers, corrected by labels of earlier answers."""
    people, now = _by_case(labelled), _by_case(current)
    labels = [each.people for each in people if each.people is not None]
    units = units_of_outcomes([each.outcome for each in (*people, *now)])
    return shifted_mean_of_units(labels, [each.judged for each in people], [each.judged for each in now], units)


def _by_case(answers: Iterable[Labelling]) -> list[Labelling]:
    """Return each case once, with its values averaged over its answers."""
    groups: dict[str, list[Labelling]] = {}
    for answer in answers:
        groups.setdefault(answer.outcome.case_id, []).append(answer)
    return [each[0] if len(each) == 1 else _mean(each) for each in groups.values()]


def _mean(answers: Sequence[Labelling]) -> Labelling:
    people = [each.people for each in answers if each.people is not None]
    judged = fmean(each.judged for each in answers)
    return Labelling(answers[0].outcome, judged, fmean(people) if people else None)
