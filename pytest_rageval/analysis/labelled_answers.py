"""People's labels and the answers of a run that they are of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.agreement import Rating, levels_of, nearest
from pytest_rageval.analysis.units import Link, links_of, units_of
from pytest_rageval.datasets.labels import Label
from pytest_rageval.errors import DataError
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.testbeds.ids import digest

__all__ = ["Compared", "Labelled", "Matched", "Scored", "compared", "matched", "scored", "stand_in"]

NO_CASE = "of no case of the run"
NO_SYSTEM = "of a system that the run does not have for the case"
OTHER_ANSWER = "of an answer that is not the run's"
SEVERAL = "of one of several answers to the case, without saying which"
NO_METRIC = "of a metric that the run did not compute"

YES_NO = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Labelled:
    """One answer that people labelled: its outcomes, of several testbeds perhaps, and the labels, at least one each."""

    outcomes: tuple[Outcome, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """Labels brought to a run.

    Attributes:
        answers: those that people labelled.
        blank: labels that nobody has filled in, or that are worth no value.
        unmatched: why labels are of no answer of the run -> these labels.
    """

    answers: tuple[Labelled, ...]
    blank: tuple[Label, ...]
    unmatched: Mapping[str, tuple[Label, ...]]


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer with both sides: the judge's score in 0..1 and the value of each person's label, likewise."""

    outcome: Outcome
    judged: float
    people: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Both sides on one scale.

    Attributes:
        ratings: one an answer, in the order given.
        levels: the values there are.
        threshold: from which on a score counts as 1, where scores between 0 and 1 were brought to yes or no; else None.
        snapped: whether scores were brought to the nearest of more than two levels.
    """

    ratings: tuple[Rating, ...]
    levels: tuple[float, ...]
    threshold: float | None = None
    snapped: bool = False


def matched(labels: Iterable[Label], outcomes: Sequence[Outcome]) -> Matched:
    """Return the answers of a run that the labels are of.

    A label is of the answers to its case: of its system if it names one, and with its text if it gives one, white space
    apart. Where datasets of the run share an id, the cases in all of them are meant. An answer that stands under
    several testbeds is one answer; repeats with different texts are several.

    Raises:
        DataError: a label names neither a system nor an answer, and several systems answered its case.
    """
    texts = any(outcome.answer is not None and outcome.answer.text for outcome in outcomes)
    by_case: dict[str, dict[tuple[str, str], list[Outcome]]] = {}
    by_own_id: dict[str, dict[tuple[str, str], list[Outcome]]] = {}
    for outcome in outcomes:
        text = _folded(outcome.answer.text if outcome.answer else "") if texts else outcome.nodeid
        by_case.setdefault(outcome.case_id, {}).setdefault((outcome.system, text), []).append(outcome)
        if outcome.case_id.count(":") > 1:  # format:path:id, where datasets share the id
            own = outcome.case_id.split(":", 2)[2]
            by_own_id.setdefault(own, {}).setdefault((outcome.system, text), []).append(outcome)
    metrics = {name for outcome in outcomes for name in outcome.scores}
    found: dict[tuple[str, str, str], tuple[list[Outcome], list[Label]]] = {}
    blank: list[Label] = []
    unmatched: dict[str, list[Label]] = {}
    for label in labels:
        if label.value is None:
            blank.append(label)
            continue
        answers = by_case.get(label.id) or by_own_id.get(label.id, {})
        keys = _meant(label, answers, texts) if not label.metric or label.metric in metrics else NO_METRIC
        if isinstance(keys, str):
            unmatched.setdefault(keys, []).append(label)
            continue
        for key in keys:
            found.setdefault((label.id, *key), (answers[key], []))[1].append(label)
    return Matched(
        tuple(Labelled(tuple(group), tuple(mine)) for group, mine in found.values()),
        tuple(blank),
        {why: tuple(each) for why, each in unmatched.items()},
    )


def scored(metric: str, answers: Iterable[Labelled]) -> tuple[list[Scored], Counter[str]]:
    """Return the answers that have a score of ``metric`` and labels of it, and why others have no score: how many.

    A label that names no metric is one of every metric; a score that was withheld for want of trust is one, too.
    """
    both: list[Scored] = []
    unscored: Counter[str] = Counter()
    for answer in answers:
        people = tuple(label.value for label in answer.labels if label.value is not None and _is_of(label, metric))
        if not people:
            continue
        judged = [(each, score) for each in answer.outcomes if (score := each.scores.get(metric)) is not None]
        valued = next(((each, score.judged) for each, score in judged if score.judged is not None), None)
        if valued is not None:
            both.append(Scored(valued[0], valued[1], people))
        elif judged:
            unscored[(judged[0][1].reason or "").partition(":")[0]] += 1
        else:
            status = answer.outcomes[0].status
            unscored["not_computed" if status == "scored" else status] += 1
    return both, unscored


def compared(answers: Sequence[Scored], declared: Iterable[float] = (), threshold: float | None = None) -> Compared:
    """Return both sides on people's scale.

    Args:
        answers: what `scored` returned.
        declared: the values that labels can have, where they were declared.
        threshold: if given, values of both sides are brought to yes or no: at least so much is 1. Else people's stay
            as they are, and a score becomes the nearest of their levels: of 0 and 1, whether it is at least 0.5.

    Raises:
        SettingError: people's labels have too many levels.
    """
    said = {value for answer in answers for value in (answer.judged, *answer.people)}
    if threshold is None:
        levels = levels_of((value for answer in answers for value in answer.people), declared)
        between = any(answer.judged not in levels for answer in answers)
        cut = 0.5 if between and levels == YES_NO else None
        brought = {value: nearest(value, levels) for value in said}
    else:
        levels, between, cut = YES_NO, False, threshold
        brought = {value: float(value >= threshold) for value in said}
    ratings = tuple(
        Rating(each.outcome.case_id, brought[each.judged], tuple(brought[value] for value in each.people), unit)
        for each, unit in zip(answers, _units(answers), strict=True)
    )
    return Compared(ratings, levels, cut, between and cut is None)


def _units(answers: Sequence[Scored]) -> Sequence[Link | None]:
    """Return the unit of each answer, None for cases alone; answers of several systems to one case are one unit."""
    asked = [each.outcome for each in answers]
    units = units_of([links_of(each.case_id, "", each.facets, each.cluster) for each in asked])
    return units.names if units.facet else [None] * len(asked)


def _meant(
    label: Label, answers: Mapping[tuple[str, str], Sequence[Outcome]], texts: bool
) -> list[tuple[str, str]] | str:
    """Return the keys of the answers that a label is of, or why there is none."""
    if not answers:
        return NO_CASE
    keys = [key for key in answers if not label.system or key[0] == label.system]
    if not keys:
        return NO_SYSTEM
    if label.answer is not None and texts:
        return [key for key in keys if key[1] == _folded(label.answer)] or OTHER_ANSWER
    if len(keys) == 1:
        return keys
    systems = sorted({system for system, _ in keys})
    if len(systems) > 1:
        problem = f"the label names no system, and the run has answers of {', '.join(systems)}; name one in each label"
        raise DataError(label.where, problem)
    return SEVERAL


def _is_of(label: Label, metric: str) -> bool:
    return label.metric in ("", metric)


def stand_in(text: str) -> str:
    """Return a digest that equals another where labels would take the texts for one; "" of a blank text."""
    folded = _folded(text)
    return digest(folded).hex()[:16] if folded else ""


def _folded(text: str) -> str:
    return " ".join(text.split())
