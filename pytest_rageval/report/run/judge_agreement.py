"""Judges against people: what the labels of a run's answers tell of its metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pytest_rageval.analysis.agreement import Agreement, Rating, agreement, levels_of
from pytest_rageval.analysis.corrected import Corrected, corrected_mean_of_units
from pytest_rageval.analysis.labelled_answers import Compared, Matched, Scored, compared, scored
from pytest_rageval.analysis.reliability import alpha
from pytest_rageval.analysis.units import units_of_outcomes
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.model.facets import FACETS, sort_key
from pytest_rageval.model.outcome import Outcome

__all__ = ["AgainstPeople", "JudgeOf", "MeanOf", "against_people"]

ABSENT = "-"


@dataclass(frozen=True, slots=True)
class JudgeOf:
    """How far a metric agrees with people.

    Attributes:
        metric: its name.
        agreement: over all answers that have a label and a score.
        slices: value of the facet that was asked for -> the same over the answers that have it.
        unscored: why labelled answers have no score -> how many.
        compared: how its scores were brought to people's scale.
    """

    metric: str
    agreement: Agreement
    slices: Mapping[str, Agreement]
    unscored: Mapping[str, int]
    compared: Compared


@dataclass(frozen=True, slots=True)
class MeanOf:
    """A metric's mean over all answers of a system, as it is and corrected by the labels."""

    metric: str
    system: str
    mean: Corrected


@dataclass(frozen=True, slots=True)
class AgainstPeople:
    """What labels tell of a run.

    Attributes:
        matched: the labels, brought to the run's answers.
        judges: each metric in the order wanted.
        means: of metrics and systems that have answers beyond the labelled ones.
        by: the facet of the slices, or "".
        people: alpha among people alone and of how many answers with two labels or more; None where there are none.
    """

    matched: Matched
    judges: tuple[JudgeOf, ...]
    means: tuple[MeanOf, ...]
    by: str = ""
    people: tuple[float | None, int] | None = None


def against_people(
    found: Matched,
    outcomes: Sequence[Outcome],
    metrics: Sequence[str],
    *,
    by: str = "",
    declared: Mapping[str, Collection[float]],
    threshold: float | None = None,
) -> AgainstPeople:
    """Return what labels tell of metrics.

    Args:
        found: the labels, brought to the outcomes.
        outcomes: those of the run.
        metrics: which of its metrics are judged.
        by: a facet to slice by, or "".
        declared: metric -> the values that labels of it can have, where that is known.
        threshold: see `compared`.

    Raises:
        UnknownNameError: no outcome has such a metric or facet.
        SettingError: no labelled answer has a score of any of the metrics; labels have too many values.
    """
    computed = {name for outcome in outcomes for name in outcome.scores}
    for metric in metrics:
        if metric not in computed:
            raise UnknownNameError("metric", metric, computed)
    facets = {"system", *FACETS}.union(*(outcome.facets for outcome in outcomes))
    if by and by not in facets:
        raise UnknownNameError("facet", by, facets, "--by")
    told = [(metric, *scored(metric, found.answers)) for metric in metrics]
    if not any(both for _, both, _ in told):
        reasons = sum((unscored for _, _, unscored in told), Counter[str]())
        why = ", ".join(f"{n} {reason}" for reason, n in reasons.most_common()) or "no label is of this metric"
        raise SettingError(f"no labelled answer has a score ({why}); name another metric with --metric, or another run")
    judges = []
    for metric, both, unscored in told:
        on_one = compared(both, declared.get(metric, ()), threshold)
        whole = agreement(on_one.ratings, on_one.levels)
        judges.append(JudgeOf(metric, whole, _slices(both, on_one, by), dict(unscored.most_common()), on_one))
    means = tuple(mean for metric, both, _ in told for mean in _means(metric, both, outcomes))
    return AgainstPeople(found, tuple(judges), means, by, _among_people(found))


def _slices(both: Sequence[Scored], on_one: Compared, by: str) -> dict[str, Agreement]:
    if not by:
        return {}
    groups: dict[str, list[Rating]] = {}
    for answer, rating in zip(both, on_one.ratings, strict=True):
        groups.setdefault(_facet(answer.outcome, by), []).append(rating)
    return {value: agreement(groups[value], on_one.levels) for value in sorted(groups, key=sort_key)}


def _facet(outcome: Outcome, name: str) -> str:
    return outcome.facets.get(name, outcome.system if name == "system" else ABSENT)


def _means(metric: str, both: Sequence[Scored], outcomes: Sequence[Outcome]) -> list[MeanOf]:
    """Return the means of the systems that answered more cases than people labelled; a case is one value."""
    means = []
    for system in sorted({answer.outcome.system for answer in both}):
        mine = [answer for answer in both if answer.outcome.system == system]
        people = _by_case((each.outcome.case_id, fmean(each.people)) for each in mine)
        judged = _by_case((each.outcome.case_id, each.judged) for each in mine)
        others = _by_case(
            (each.case_id, score.judged)
            for each in outcomes
            if each.system == system and each.case_id not in people
            if (score := each.scores.get(metric)) is not None and score.judged is not None
        )
        if others:
            values = list(people.values()), list(judged.values()), list(others.values())
            asked = {each.case_id: each for each in outcomes if each.system == system}
            units = units_of_outcomes([asked[case] for case in (*people, *others)])
            means.append(MeanOf(metric, system, corrected_mean_of_units(*values, units)))
    return means


def _by_case(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the mean of each case's values."""
    found: dict[str, list[float]] = {}
    for case, value in values:
        found.setdefault(case, []).append(value)
    return {case: fmean(each) for case, each in found.items()}


def _among_people(found: Matched) -> tuple[float | None, int] | None:
    groups: list[tuple[float, ...]] = []
    for answer in found.answers:
        for metric in sorted({label.metric for label in answer.labels}):
            values = (label.value for label in answer.labels if label.metric == metric)
            groups.append(tuple(value for value in values if value is not None))
    several = [group for group in groups if len(group) > 1]
    if not several:
        return None
    return alpha(several, levels_of(value for group in several for value in group)), len(several)
