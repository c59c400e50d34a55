"""Agreement of the metrics of a run with people's preferences between two systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.people.agreement import TooManyLevelsError, levels_of
from pytest_rageval.analysis.people.labelled_answers import (
    JudgedAnswer,
    LabelledAnswer,
    judged_answers,
    match_labels,
    units_of_answers,
)
from pytest_rageval.analysis.people.preferences import PairAgreement, PairRating, pair_agreement
from pytest_rageval.analysis.people.reliability import alpha
from pytest_rageval.datasets.labels import Label
from pytest_rageval.datasets.pair_labels import PairLabel
from pytest_rageval.errors import SettingError, UnknownNameError
from pytest_rageval.model.facets import FACETS, sort_key
from pytest_rageval.model.outcome import Outcome

__all__ = [
    "MatchedPair",
    "MatchedPairs",
    "MetricPairAgreement",
    "PreferenceAgreement",
    "match_pairs",
    "measure_preference_agreement",
]

ABSENT = "-"


class MatchedPair(NamedTuple):
    """A preference with the two answers that it compares.

    Attributes:
        label: the preference.
        answers: the answers of the first and of the second system, in the run's order of systems.
        preference: in -1..1; above 0 if people prefer the first answer.
    """

    label: PairLabel
    answers: tuple[LabelledAnswer, LabelledAnswer]
    preference: float

    @property
    def systems(self) -> tuple[str, str]:
        """The names of the two systems, in the run's order."""
        return self.answers[0].outcomes[0].system, self.answers[1].outcomes[0].system


@dataclass(frozen=True, slots=True)
class MatchedPairs:
    """People's preferences, matched to the answers of a run.

    Attributes:
        pairs: the preferences with two answers.
        blank: the preferences that are not filled in.
        unmatched: reason -> the preferences without two answers.
    """

    pairs: tuple[MatchedPair, ...]
    blank: tuple[PairLabel, ...]
    unmatched: Mapping[str, tuple[PairLabel, ...]]


@dataclass(frozen=True, slots=True)
class MetricPairAgreement:
    """How far a metric prefers what people prefer.

    Attributes:
        metric: name of the metric.
        higher_is_better: direction of the metric; if False, the lower score is the better answer.
        whole: agreement over all pairs with two scores.
        slices: value of the slicing facet, or pair of systems -> agreement over its pairs.
        unscored: reason -> number of pairs without two scores.
    """

    metric: str
    higher_is_better: bool
    whole: PairAgreement
    slices: Mapping[str, PairAgreement]
    unscored: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PreferenceAgreement:
    """How the metrics of a run agree with people's preferences.

    Attributes:
        matched: the preferences, matched to the run's answers.
        metrics: agreement of each metric, in the requested order.
        by: the facet of the slices; "systems" for pairs of systems, "" for none.
        people: (alpha among people, number of pairs with at least two preferences); None if no pair has two.
    """

    matched: MatchedPairs
    metrics: tuple[MetricPairAgreement, ...]
    by: str
    people: tuple[float | None, int] | None


def match_pairs(labels: Sequence[PairLabel], outcomes: Sequence[Outcome]) -> MatchedPairs:
    """Match preferences with the answers of a run; `match_labels` matches each of the two answers like a label's."""
    filled = [label for label in labels if label.preference is not None]
    sides = [_answers_of_side(filled, side, outcomes) for side in (0, 1)]
    order = {system: at for at, system in enumerate(dict.fromkeys(outcome.system for outcome in outcomes))}
    pairs: list[MatchedPair] = []
    unmatched: dict[str, list[PairLabel]] = {}
    for at, label in enumerate(filled):
        one, other = sides[0][at], sides[1][at]
        if isinstance(one, str) or isinstance(other, str):
            unmatched.setdefault(one if isinstance(one, str) else str(other), []).append(label)
            continue
        preference = label.preference or 0.0
        if order[label.systems[0]] > order[label.systems[1]]:
            one, other, preference = other, one, -preference
        pairs.append(MatchedPair(label, (one, other), preference))
    blank = tuple(label for label in labels if label.preference is None)
    return MatchedPairs(tuple(pairs), blank, {why: tuple(each) for why, each in unmatched.items()})


def measure_preference_agreement(
    matches: MatchedPairs,
    outcomes: Sequence[Outcome],
    metrics: Sequence[str],
    infos: Mapping[str, MetricInfo],
    *,
    by: str = "",
) -> PreferenceAgreement:
    """Measure how far metrics prefer what people prefer.

    Args:
        matches: the preferences, matched to the outcomes; at least one.
        outcomes: the outcomes of the run.
        metrics: which metrics to measure. Empty for those that the preferences name, or for all answer metrics if a
            preference names none.
        infos: metric -> its metadata.
        by: a facet to slice by; "" slices by the pair of systems if there are several.

    Raises:
        UnknownNameError: no outcome has such a metric or facet.
        SettingError: no pair has two scores of any of the metrics.
    """
    computed = {name: None for outcome in outcomes for name in outcome.scores}
    for metric in metrics:
        if metric not in computed:
            raise UnknownNameError("metric", metric, computed)
    facets = set(FACETS).union(*(outcome.facets for outcome in outcomes)) - {"system"}
    if by and by not in facets:
        raise UnknownNameError("facet", by, facets, "--by")
    several = len({pair.systems for pair in matches.pairs}) > 1
    names = list(metrics) or _metrics(matches.pairs, computed, infos)
    agreements = [
        _agreement_of(name, infos.get(name, MetricInfo()), matches.pairs, by, several=several) for name in names
    ]
    if not any(each.whole.agreement.n for each in agreements):
        reasons = sum((Counter(each.unscored) for each in agreements), Counter[str]())
        why = ", ".join(f"{n} {reason}" for reason, n in reasons.most_common()) or "no preference is of this metric"
        raise SettingError(f"no pair has two scores ({why}); name another metric with --metric, or another run")
    return PreferenceAgreement(
        matches, tuple(agreements), by or "systems" * several, _alpha_among_people(matches.pairs)
    )


def _answers_of_side(
    labels: Sequence[PairLabel], side: int, outcomes: Sequence[Outcome]
) -> dict[int, LabelledAnswer | str]:
    """Return index of a preference -> its answer of the first (0) or second (1) system, or why it has none."""
    as_labels = [
        Label(each.id, 1.0, system=each.systems[side], answer=each.answers[side], metric=each.metric, where=str(at))
        for at, each in enumerate(labels)
    ]
    matches = match_labels(as_labels, outcomes)
    answers: dict[int, LabelledAnswer | str] = {}
    for why, unmatched in matches.unmatched.items():
        answers.update((int(label.where), why) for label in unmatched)
    for answer in matches.answers:
        answers.update((int(label.where), LabelledAnswer(answer.outcomes, (label,))) for label in answer.labels)
    return answers


def _metrics(pairs: Iterable[MatchedPair], computed: Iterable[str], infos: Mapping[str, MetricInfo]) -> list[str]:
    """Return the metrics that preferences name, in the run's order, or all answer metrics if one names none."""
    wanted = {pair.label.metric for pair in pairs}
    return [
        name
        for name in computed
        if name in wanted or ("" in wanted and (name not in infos or infos[name].of == "answer"))
    ]


def _agreement_of(
    metric: str, info: MetricInfo, pairs: Iterable[MatchedPair], by: str, *, several: bool
) -> MetricPairAgreement:
    unscored: Counter[str] = Counter()
    valued: list[tuple[MatchedPair, JudgedAnswer, JudgedAnswer]] = []
    for pair in pairs:
        if pair.label.metric in ("", metric):
            both, reasons = judged_answers(metric, pair.answers)
            if len(both) == 2:
                valued.append((pair, both[0], both[1]))
            else:
                unscored[next(iter(reasons))] += 1
    groups: dict[str, list[PairRating]] = {}
    ratings: list[PairRating] = []
    units = units_of_answers([one for _, one, _ in valued])
    for (pair, one, other), unit in zip(valued, units, strict=True):
        difference = one.judged - other.judged
        ratings.append(
            PairRating(one.outcome.case_id, pair.preference, difference if info.higher_is_better else -difference, unit)
        )
        name = one.outcome.facets.get(by, ABSENT) if by else " - ".join(pair.systems)
        groups.setdefault(name, []).append(ratings[-1])
    slices = {name: pair_agreement(groups[name]) for name in sorted(groups, key=sort_key)} if by or several else {}
    return MetricPairAgreement(
        metric, info.higher_is_better, pair_agreement(ratings), slices, dict(unscored.most_common())
    )


def _alpha_among_people(pairs: Iterable[MatchedPair]) -> tuple[float | None, int] | None:
    """Return (alpha, number of pairs with at least two preferences of a metric); None if no pair has two."""
    groups: dict[object, list[float]] = {}
    for pair in pairs:
        key = tuple(answer.outcomes[0].nodeid for answer in pair.answers), pair.label.metric
        groups.setdefault(key, []).append((pair.preference + 1) / 2)
    several = [group for group in groups.values() if len(group) > 1]
    if not several:
        return None
    try:
        levels = levels_of(value for group in several for value in group)
    except TooManyLevelsError:
        return None, len(several)
    return alpha(several, levels), len(several)
