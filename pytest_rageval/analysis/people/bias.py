"""Measure by how much a judge's mean differs from people's mean, for each system."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated, Literal

from pytest_rageval.analysis.corrected_cases import EARLIER_LABELS, OWN_LABELS, LabelSource
from pytest_rageval.analysis.corrected_mean import FEWEST
from pytest_rageval.analysis.people.labelled_answers import (
    JudgedAnswer,
    judged_answers,
    match_labels,
    own_and_earlier,
    own_id,
)
from pytest_rageval.analysis.statistics import Interval, t_quantile
from pytest_rageval.analysis.units import Units, units_of_outcomes
from pytest_rageval.datasets.labels import Label
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import Bounds, Share

__all__ = ["BIASED", "FAIR", "MAX_BIAS", "UNKNOWN", "BiasVerdict", "JudgeBias", "biases_of"]

MAX_BIAS = 0.1
"""Default of ``rag_judge_max_bias``: the largest accepted difference from people's mean."""

BiasVerdict = Literal["biased judge", "bias unknown", "not biased"]

BIASED: BiasVerdict = "biased judge"
UNKNOWN: BiasVerdict = "bias unknown"
FAIR: BiasVerdict = "not biased"


@dataclass(frozen=True, slots=True)
class JudgeBias:
    """A judge compared with people, on the labelled answers of one system.

    Attributes:
        judge: the name of the judge and of its metric.
        system: the system that answered.
        n: number of labelled answers with a score of the judge.
        judged: mean of the judge's values of these answers; None without such answers.
        people: mean of people's values of these answers.
        bias: judged - people, in -1..1.
        ci95: the 95 % interval of the bias (Student's, over independent units); None for a single unit.
        most: the largest accepted difference, ``rag_judge_max_bias``.
        verdict: "bias unknown" if labels cover fewer than 10 independent units; "biased judge" if the interval
            excludes 0 and the bias is larger than ``most``; else "not biased".
        labels: which answers the labels are of, see `LabelsUsed`.
        units: number of independent units of the labelled answers; an answer of this run and an earlier answer to the
            same case are one unit.
    """

    judge: str
    system: str
    n: int
    judged: Share | None
    people: Share | None
    bias: Annotated[float, Bounds(-1, 1)] | None
    ci95: Interval | None
    most: Share
    verdict: BiasVerdict
    labels: LabelSource
    units: Annotated[int, Bounds(0)]


def biases_of(
    judges: Iterable[str], labels: Sequence[Label], outcomes: Sequence[Outcome], apart: Collection[str], most: float
) -> list[JudgeBias]:
    """Return the bias of each judge for each system whose answers it judged.

    Args:
        judges: the judges of a run.
        labels: people's labels.
        outcomes: the outcomes of the run.
        apart: node ids of the testbeds of labelled answers; their answers count as earlier ones.
        most: the largest accepted difference.
    """
    own, earlier = own_and_earlier(match_labels(labels, outcomes).answers, apart)
    biases: list[JudgeBias] = []
    for judge in judges:
        of_run, before = _by_system(judged_answers(judge, own)[0]), _by_system(judged_answers(judge, earlier)[0])
        systems = dict.fromkeys(each.system for each in outcomes if each.testbed not in apart and judge in each.scores)
        for system in systems:
            current, older = of_run.get(system, []), before.get(system, [])
            too_few = bool(older) and _units(current).n < FEWEST
            biases.append(_bias(judge, system, [*current, *older] if too_few else current, most, too_few))
    return biases


def _bias(judge: str, system: str, answers: Sequence[JudgedAnswer], most: float, earlier: bool) -> JudgeBias:
    source = EARLIER_LABELS if earlier else OWN_LABELS
    if not answers:
        return JudgeBias(judge, system, 0, None, None, None, None, most, UNKNOWN, source, 0)
    judged, people = [each.judged for each in answers], [fmean(each.people) for each in answers]
    units = _units(answers)
    bias = fmean(judged) - fmean(people)
    interval = _interval([one - other for one, other in zip(judged, people, strict=True)], bias, units)
    is_biased = interval is not None and not interval[0] <= 0 <= interval[1] and abs(bias) > most
    verdict: BiasVerdict = UNKNOWN if units.n < FEWEST else BIASED if is_biased else FAIR
    means = fmean(judged), fmean(people)
    return JudgeBias(judge, system, len(answers), *means, bias, interval, most, verdict, source, units.n)


def _interval(differences: Sequence[float], bias: float, units: Units) -> Interval | None:
    """Return Student's interval over independent units; with few labels, a narrower interval would overstate a bias."""
    if units.n < 2:
        return None
    moves = units.grouped((each - bias) / len(differences) for each in differences)
    spread = units.n / (units.n - 1) * math.fsum(math.fsum(each) ** 2 for each in moves.values())
    half = t_quantile(units.n - 1) * math.sqrt(spread)
    return max(-1.0, bias - half), min(1.0, bias + half)


def _by_system(answers: Iterable[JudgedAnswer]) -> dict[str, list[JudgedAnswer]]:
    groups: dict[str, list[JudgedAnswer]] = {}
    for answer in answers:
        groups.setdefault(answer.outcome.system, []).append(answer)
    return groups


def _units(answers: Sequence[JudgedAnswer]) -> Units:
    """Return the units of answers, by the case's id without the prefix that makes it unique among datasets."""
    return units_of_outcomes([replace(each.outcome, case_id=own_id(each.outcome.case_id)) for each in answers])
