"""Score ``people:METRIC`` of each answer by people's labels when the session ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from pytest_rageval.analysis.people.labelled_answers import (
    LabelledAnswer,
    judged_answers,
    match_labels,
    own_and_earlier,
    own_id,
)
from pytest_rageval.datasets.labels import Label
from pytest_rageval.metrics.judges.people import LABELLED_EARLIER, NOT_LABELLED, PEOPLE, corrected_metric
from pytest_rageval.model.outcome import EarlierLabel, Outcome, Score

__all__ = ["with_labels"]

Earlier = Mapping[tuple[str, str], EarlierLabel]
"""(system, id of the case in its dataset) -> the label of its earlier answers."""


def with_labels(labels: Sequence[Label], outcomes: Sequence[Outcome], apart: Collection[str]) -> list[Outcome]:
    """Return the outcomes with a score ``people:METRIC``, with its value filled in for answers that people labelled.

    Args:
        labels: people's labels.
        outcomes: the outcomes of a session, without variants.
        apart: node ids of the testbeds of labelled answers; their answers count as earlier ones.
    """
    metrics = sorted({name for outcome in outcomes for name in outcome.scores if corrected_metric(name)})
    if not metrics:
        return []
    answers = match_labels(labels, outcomes).answers
    earlier = own_and_earlier(answers, apart)[1]
    changed = {outcome.nodeid: outcome for outcome in outcomes}
    for metric in metrics:
        values, before = _values(corrected_metric(metric), answers), _earlier(corrected_metric(metric), earlier)
        for nodeid, outcome in changed.items():
            if metric in outcome.scores:
                score = _score(outcome, values.get(nodeid), before)
                changed[nodeid] = replace(outcome, scores={**outcome.scores, metric: score})
    return [outcome for outcome in changed.values() if any(name.startswith(PEOPLE) for name in outcome.scores)]


def _score(outcome: Outcome, value: float | None, earlier: Earlier) -> Score:
    if value is not None:
        return Score(value)
    label = earlier.get((outcome.system, own_id(outcome.case_id)))
    return NOT_LABELLED if label is None else Score(reason=LABELLED_EARLIER, earlier=label)


def _values(metric: str, answers: Sequence[LabelledAnswer]) -> dict[str, float]:
    """Return node id -> the mean value of the labels of a metric."""
    values: dict[str, float] = {}
    for answer in answers:
        people = [each.value for each in answer.labels if each.value is not None and each.metric in ("", metric)]
        if people:
            values |= dict.fromkeys((outcome.nodeid for outcome in answer.outcomes), fmean(people))
    return values


def _earlier(metric: str, answers: Sequence[LabelledAnswer]) -> dict[tuple[str, str], EarlierLabel]:
    """Return (system, id of the case in its dataset) -> the label of its earlier answers, averaged over them."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for each in judged_answers(metric, answers)[0]:
        key = each.outcome.system, own_id(each.outcome.case_id)
        groups.setdefault(key, []).append((fmean(each.people), each.judged))
    return {key: EarlierLabel(*map(fmean, zip(*both, strict=True))) for key, both in groups.items()}
