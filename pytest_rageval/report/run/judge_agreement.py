"""Agreement of judges with people, measured on the labelled answers of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pytest_rageval.analysis.corrected_cases import Labelling, corrected_of
from pytest_rageval.analysis.corrected_mean import CorrectedMean
from pytest_rageval.analysis.people.agreement import (
    Agreement,
    Rating,
    TooManyLevelsError,
    agreement,
    levels_of,
    without_levels,
)
from pytest_rageval.analysis.people.correlations import Correlations, correlations
from pytest_rageval.analysis.people.labelled_answers import (
    ComparableRatings,
    JudgedAnswer,
    MatchedLabels,
    comparable_ratings,
    judged_answers,
    units_of_answers,
)
from pytest_rageval.analysis.people.reliability import alpha
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.model.facets import FACETS, sort_key
from pytest_rageval.model.outcome import Outcome

__all__ = ["CorrectedSystemMean", "LabelAgreement", "MetricAgreement", "measure_label_agreement"]

ABSENT = "-"


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How far a metric agrees with people.

    Attributes:
        metric: name of the metric.
        agreement: agreement over all answers that have a label and a score.
        correlations: correlations of the raw scores with the means of people's labels, over the same answers.
        slices: value of the slicing facet -> agreement and correlations over the answers with that value.
        unscored: reason -> number of labelled answers without a score.
        compared: scores and labels on one scale; without levels if labels have too many values.
    """

    metric: str
    agreement: Agreement
    correlations: Correlations
    slices: Mapping[str, tuple[Agreement, Correlations]]
    unscored: Mapping[str, int]
    compared: ComparableRatings


@dataclass(frozen=True, slots=True)
class CorrectedSystemMean:
    """A metric's mean over all answers of a system, raw and corrected by people's labels."""

    metric: str
    system: str
    mean: CorrectedMean


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """How the metrics of a run agree with people's labels.

    Attributes:
        matched: the labels, matched to the run's answers.
        judges: agreement of each metric, in the requested order.
        means: corrected mean of each metric and system that also has unlabelled answers.
        by: the facet of the slices, or "".
        people: (alpha among people, number of answers with at least two labels); None if no answer has two.
    """

    matched: MatchedLabels
    judges: tuple[MetricAgreement, ...]
    means: tuple[CorrectedSystemMean, ...]
    by: str = ""
    people: tuple[float | None, int] | None = None


def measure_label_agreement(
    matched: MatchedLabels,
    outcomes: Sequence[Outcome],
    metrics: Sequence[str],
    *,
    by: str = "",
    label_values: Mapping[str, Collection[float]],
    threshold: float | None = None,
) -> LabelAgreement:
    """Measure how metrics agree with people's labels.

    Args:
        matched: the labels, matched to the outcomes.
        outcomes: the outcomes of the run.
        metrics: which metrics to measure.
        by: a facet to slice by, or "".
        label_values: metric -> the declared values of its labels; a metric without declared values is missing.
        threshold: smallest score that counts as 1; None rounds scores to label values, see `comparable_ratings`.

    Raises:
        UnknownNameError: no outcome has such a metric or facet.
        SettingError: no labelled answer has a score of any of the metrics.
    """
    computed = {name for outcome in outcomes for name in outcome.scores}
    for metric in metrics:
        if metric not in computed:
            raise UnknownNameError("metric", metric, computed)
    facets = {"system", *FACETS}.union(*(outcome.facets for outcome in outcomes))
    if by and by not in facets:
        raise UnknownNameError("facet", by, facets, "--by")
    by_metric = [(metric, *judged_answers(metric, matched.answers)) for metric in metrics]
    if not any(answers for _, answers, _ in by_metric):
        reasons = sum((unscored for _, _, unscored in by_metric), Counter[str]())
        why = ", ".join(f"{n} {reason}" for reason, n in reasons.most_common()) or "no label is of this metric"
        raise SettingError(f"no labelled answer has a score ({why}); name another metric with --metric, or another run")
    judges = []
    for metric, answers, unscored in by_metric:
        pairs = _compare_scores(answers, label_values.get(metric, ()), threshold)
        whole = _agreement_at(answers, pairs, range(len(answers)))
        slices = {value: _agreement_at(answers, pairs, indexes) for value, indexes in _slices(answers, by).items()}
        judges.append(MetricAgreement(metric, *whole, slices, dict(unscored.most_common()), pairs))
    means = tuple(mean for metric, answers, _ in by_metric for mean in _means(metric, answers, outcomes))
    return LabelAgreement(matched, tuple(judges), means, by, _alpha_among_people(matched))


def _compare_scores(
    answers: Sequence[JudgedAnswer], declared: Collection[float], threshold: float | None
) -> ComparableRatings:
    """Return scores and labels on one scale; it has no levels if the labels have too many values."""
    try:
        return comparable_ratings(answers, declared, threshold)
    except TooManyLevelsError:
        units = units_of_answers(answers)
        return ComparableRatings(
            tuple(
                Rating(each.outcome.case_id, each.judged, each.people, unit)
                for each, unit in zip(answers, units, strict=True)
            ),
            (),
        )


def _agreement_at(
    answers: Sequence[JudgedAnswer], pairs: ComparableRatings, indexes: Sequence[int]
) -> tuple[Agreement, Correlations]:
    """Return the agreement and the correlations over the answers at some indexes."""
    ratings = [pairs.ratings[index] for index in indexes]
    units = [rating.case if rating.unit is None else rating.unit for rating in ratings]
    if pairs.levels or not ratings:
        agreement_of_ratings = agreement(ratings, pairs.levels)
    else:
        n = sum(len(rating.people) for rating in ratings)
        n_cases = len({rating.case for rating in ratings})
        agreement_of_ratings = without_levels(n, n_cases, len(set(units)))
    scores = [answers[index].judged for index in indexes]
    return agreement_of_ratings, correlations(scores, [fmean(answers[index].people) for index in indexes], units)


def _slices(answers: Sequence[JudgedAnswer], by: str) -> dict[str, list[int]]:
    """Return value of the facet ``by`` -> the indexes of its answers; empty if ``by`` is empty."""
    groups: dict[str, list[int]] = {}
    for index, answer in enumerate(answers):
        groups.setdefault(_facet(answer.outcome, by), []).append(index)
    return {value: groups[value] for value in sorted(groups, key=sort_key)} if by else {}


def _facet(outcome: Outcome, name: str) -> str:
    return outcome.facets.get(name, outcome.system if name == "system" else ABSENT)


def _means(metric: str, answers: Sequence[JudgedAnswer], outcomes: Sequence[Outcome]) -> list[CorrectedSystemMean]:
    """Return the corrected means of systems with unlabelled cases; each case counts once."""
    means = []
    for system in sorted({answer.outcome.system for answer in answers}):
        labelled = [
            Labelling(each.outcome, each.judged, fmean(each.people))
            for each in answers
            if each.outcome.system == system
        ]
        labelled_ids = {each.outcome.case_id for each in labelled}
        unlabelled = [
            Labelling(each, score.judged)
            for each in outcomes
            if each.system == system and each.case_id not in labelled_ids
            if (score := each.scores.get(metric)) is not None and score.judged is not None
        ]
        if unlabelled:
            means.append(CorrectedSystemMean(metric, system, corrected_of([*labelled, *unlabelled])))
    return means


def _alpha_among_people(matched: MatchedLabels) -> tuple[float | None, int] | None:
    """Return (alpha, number of answers with at least two labels of a metric); None if no answer has two."""
    groups: list[tuple[float, ...]] = []
    for answer in matched.answers:
        for metric in sorted({label.metric for label in answer.labels}):
            values = (label.value for label in answer.labels if label.metric == metric)
            groups.append(tuple(value for value in values if value is not None))
    with_several = [group for group in groups if len(group) > 1]
    if not with_several:
        return None
    try:
        levels = levels_of(value for group in with_several for value in group)
    except TooManyLevelsError:
        return None, len(with_several)
    return alpha(with_several, levels), len(with_several)
