"""Match people's labels with the answers of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rageval.analysis.people.agreement import Rating, levels_of, nearest
from pytest_rageval.analysis.units import Link, links_of, units_of
from pytest_rageval.datasets.labels import Label
from pytest_rageval.errors import DataError
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.testbeds.ids import digest

__all__ = [
    "ComparableRatings",
    "JudgedAnswer",
    "LabelledAnswer",
    "MatchedLabels",
    "comparable_ratings",
    "judged_answers",
    "match_labels",
    "own_and_earlier",
    "own_id",
    "stand_in",
    "units_of_answers",
]  # fmt: skip

NO_CASE = "of no case of the run"
NO_SYSTEM = "of a system that the run does not have for the case"
OTHER_ANSWER = "of an answer that is not the run's"
SEVERAL = "of one of several answers to the case, without saying which"
NO_METRIC = "of a metric that the run did not compute"

YES_NO = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """One labelled answer: its outcomes (of one or several testbeds) and its labels, at least one of each."""

    outcomes: tuple[Outcome, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class MatchedLabels:
    """Labels matched with the answers of a run.

    Attributes:
        answers: the labelled answers.
        blank: labels that are not filled in, or have no value.
        unmatched: reason -> the labels that match no answer of the run for this reason.
    """

    answers: tuple[LabelledAnswer, ...]
    blank: tuple[Label, ...]
    unmatched: Mapping[str, tuple[Label, ...]]


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One answer with the judge's score and the value of each person's label, all in 0..1."""

    outcome: Outcome
    judged: float
    people: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ComparableRatings:
    """The judge's and people's values on one scale.

    Attributes:
        ratings: one for each answer, in order.
        levels: the possible values.
        threshold: lowest score that counts as 1, if scores between 0 and 1 became yes or no; else None.
        snapped: whether scores became the nearest of more than two levels.
    """

    ratings: tuple[Rating, ...]
    levels: tuple[float, ...]
    threshold: float | None = None
    snapped: bool = False


def match_labels(labels: Iterable[Label], outcomes: Sequence[Outcome]) -> MatchedLabels:
    """Match labels with the answers of a run.

    A label matches the answers to its case: only those of its system if it names one, and only those with its text
    (ignoring white space) if it has one. If datasets of the run share an id, the label matches the cases of all of
    them. The same answer under several testbeds is one answer; repeats with different texts are several.

    Raises:
        DataError: a label names neither a system nor an answer, and several systems answered its case.
    """
    texts = any(outcome.answer is not None and outcome.answer.text for outcome in outcomes)
    by_case: dict[str, dict[tuple[str, str], list[Outcome]]] = {}
    by_own_id: dict[str, dict[tuple[str, str], list[Outcome]]] = {}
    for outcome in outcomes:
        text = _folded(outcome.answer.text if outcome.answer else "") if texts else outcome.nodeid
        by_case.setdefault(outcome.case_id, {}).setdefault((outcome.system, text), []).append(outcome)
        if (own := own_id(outcome.case_id)) != outcome.case_id:
            by_own_id.setdefault(own, {}).setdefault((outcome.system, text), []).append(outcome)
    metrics = {name for outcome in outcomes for name in outcome.scores}
    by_answer: dict[tuple[str, str, str], tuple[list[Outcome], list[Label]]] = {}
    blank: list[Label] = []
    unmatched: dict[str, list[Label]] = {}
    for label in labels:
        if label.value is None:
            blank.append(label)
            continue
        answers = by_case.get(label.id) or by_own_id.get(label.id, {})
        keys = _matching_keys(label, answers, texts) if not label.metric or label.metric in metrics else NO_METRIC
        if isinstance(keys, str):
            unmatched.setdefault(keys, []).append(label)
            continue
        for key in keys:
            by_answer.setdefault((label.id, *key), (answers[key], []))[1].append(label)
    return MatchedLabels(
        tuple(LabelledAnswer(tuple(group), tuple(labels_of_answer)) for group, labels_of_answer in by_answer.values()),
        tuple(blank),
        {why: tuple(each) for why, each in unmatched.items()},
    )


def judged_answers(metric: str, answers: Iterable[LabelledAnswer]) -> tuple[list[JudgedAnswer], Counter[str]]:
    """Return the answers with a score and a label of ``metric``; also count why labelled answers have no score.

    A label without a metric counts for every metric. Scores withheld from an untrusted judge count, too.
    """
    scored_answers: list[JudgedAnswer] = []
    unscored: Counter[str] = Counter()
    for answer in answers:
        people = tuple(label.value for label in answer.labels if label.value is not None and _is_of(label, metric))
        if not people:
            continue
        judged = [(each, score) for each in answer.outcomes if (score := each.scores.get(metric)) is not None]
        valued = next(((each, score.judged) for each, score in judged if score.judged is not None), None)
        if valued is not None:
            scored_answers.append(JudgedAnswer(valued[0], valued[1], people))
        elif judged:
            unscored[(judged[0][1].reason or "").partition(":")[0]] += 1
        else:
            status = answer.outcomes[0].status
            unscored["not_computed" if status == "scored" else status] += 1
    return scored_answers, unscored


def own_and_earlier(
    answers: Iterable[LabelledAnswer], labelled_testbeds: Collection[str]
) -> tuple[tuple[LabelledAnswer, ...], tuple[LabelledAnswer, ...]]:
    """Split labelled answers: those of the run's systems, and earlier ones that only testbeds of labelled answers have.

    Args:
        answers: the labelled answers.
        labelled_testbeds: the testbeds of labelled answers.
    """
    own: list[LabelledAnswer] = []
    earlier: list[LabelledAnswer] = []
    for answer in answers:
        outcomes = tuple(outcome for outcome in answer.outcomes if outcome.testbed not in labelled_testbeds)
        if outcomes:
            own.append(replace(answer, outcomes=outcomes))
        else:
            earlier.append(answer)
    return tuple(own), tuple(earlier)


def comparable_ratings(
    answers: Sequence[JudgedAnswer], declared: Iterable[float] = (), threshold: float | None = None
) -> ComparableRatings:
    """Return the judge's and people's values on one scale, that of people's labels.

    Args:
        answers: the answers from `judged_answers`.
        declared: the declared values of labels, if any.
        threshold: if set, all values become yes or no: 1 from this value on. If None, people's values stay, and a
            score becomes the nearest of their levels; on a 0/1 scale that is 1 from 0.5 on.

    Raises:
        TooManyLevelsError: people's labels have too many levels.
    """
    values = {value for answer in answers for value in (answer.judged, *answer.people)}
    if threshold is None:
        levels = levels_of((value for answer in answers for value in answer.people), declared)
        between = any(answer.judged not in levels for answer in answers)
        cut = 0.5 if between and levels == YES_NO else None
        rounded = {value: nearest(value, levels) for value in values}
    else:
        levels, between, cut = YES_NO, False, threshold
        rounded = {value: float(value >= threshold) for value in values}
    ratings = tuple(
        Rating(each.outcome.case_id, rounded[each.judged], tuple(rounded[value] for value in each.people), unit)
        for each, unit in zip(answers, units_of_answers(answers), strict=True)
    )
    return ComparableRatings(ratings, levels, cut, between and cut is None)


def units_of_answers(answers: Sequence[JudgedAnswer]) -> Sequence[Link | None]:
    """Return the independent unit of each answer; None if each case is its own unit.

    Answers of several systems to a case are one unit.
    """
    outcomes = [each.outcome for each in answers]
    units = units_of([links_of(each.case_id, "", each.facets, each.cluster) for each in outcomes])
    return units.names if units.facet else [None] * len(outcomes)


def _matching_keys(
    label: Label, answers: Mapping[tuple[str, str], Sequence[Outcome]], texts: bool
) -> list[tuple[str, str]] | str:
    """Return the keys of the answers that a label matches, or why it matches none."""
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


def own_id(case_id: str) -> str:
    """Return the id of a case in its dataset; an id that several datasets share is ``format:path:id`` in a run."""
    return case_id.split(":", 2)[2] if case_id.count(":") > 1 else case_id


def _is_of(label: Label, metric: str) -> bool:
    return label.metric in ("", metric)


def stand_in(text: str) -> str:
    """Return a digest that is equal for texts that labels cannot distinguish; "" for a blank text."""
    folded = _folded(text)
    return digest(folded).hex()[:16] if folded else ""


def _folded(text: str) -> str:
    return " ".join(text.split())
