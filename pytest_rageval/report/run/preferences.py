"""A judge's preferences between the answers of several systems, counted by pair of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from pytest_rageval.analysis.clusters import REPEAT, over_units
from pytest_rageval.analysis.statistics import Mean, mean_of
from pytest_rageval.analysis.systems.board import key_of
from pytest_rageval.analysis.systems.contrasts import Contrast
from pytest_rageval.analysis.systems.duels import Duel, contrasts_of_duels
from pytest_rageval.analysis.systems.leaderboard import Leaderboard, leaderboard_of_duels
from pytest_rageval.analysis.units import Units, units_of_outcomes
from pytest_rageval.engine.pair_judging import JudgedPair, PairOfAnswers
from pytest_rageval.errors import SettingError
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.judge_samples import sample_of

__all__ = ["PairOfSystems", "Preferences", "pairs_of_answers", "preferences_of"]


@dataclass(frozen=True, slots=True)
class PairOfSystems:
    """How often a judge prefers each of two systems.

    Attributes:
        contrast: the duels of the two systems, with the paired test.
        tied: number of pairs of answers without a winner.
        same_answer: number of pairs with equal answers, which are ties without asking the judge.
        order_decided: number of pairs with a vote that named another winner when the answers swapped places.
        share: share of pairs that the first system won, in 0..1; a tie counts half.
        unscored: reason -> number of pairs of answers without a verdict.
    """

    contrast: Contrast
    tied: int
    same_answer: int
    order_decided: int
    share: Mean
    unscored: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Preferences:
    """A judge's preferences between the systems of a run.

    Attributes:
        judge: name of the judge.
        models: the models that judged.
        pairs: the result for each pair of systems.
        order_decided: share of votes that named another winner when the answers swapped places.
        first_shown: share of verdicts that name the answer shown first; a tie counts half. Without bias it is 0.5.
        leaderboard: the systems, the best rating first.
        left_out: reason -> number of pairs that lack an answer.
    """

    judge: str
    models: tuple[str, ...]
    pairs: tuple[PairOfSystems, ...]
    order_decided: Mean
    first_shown: Mean
    leaderboard: Leaderboard
    left_out: Mapping[str, int]


def pairs_of_answers(
    outcomes: Sequence[Outcome], instances: Mapping[str, Any]
) -> tuple[list[PairOfAnswers], Counter[str]]:
    """Return the pairs of answers to each case, for all pairs of systems, and why other pairs lack an answer.

    Args:
        outcomes: the outcomes of the systems, with all repeats of a case.
        instances: case id -> encoded instance, from the results.json.

    Raises:
        SettingError: fewer than two systems answered, or the results have no texts.
    """
    cases: dict[Hashable, dict[str, Outcome]] = {}
    systems = dict.fromkeys(outcome.system for outcome in outcomes if outcome.status != "skipped")
    if len(systems) < 2:
        only = next(iter(systems), "none")
        raise SettingError(f"the run has one system ({only}); run several, or name several runs")
    for outcome in outcomes:
        cases.setdefault((key_of(outcome), outcome.facets.get(REPEAT)), {})[outcome.system] = outcome
    outcome_pairs: list[tuple[Outcome, Outcome]] = []
    left_out: Counter[str] = Counter()
    for by_system in cases.values():
        for one, other in combinations(systems, 2):
            both = by_system.get(one), by_system.get(other)
            if both[0] is None or both[1] is None:
                left_out["one system did not run on the case"] += 1
            elif why := next((why for each in both if each is not None and (why := _why_no_answer(each))), None):
                left_out[why] += 1
            else:
                outcome_pairs.append((both[0], both[1]))
    units = units_of_outcomes([replace(one, system="") for one, _ in outcome_pairs])
    pairs = [
        PairOfAnswers(
            f"{one.nodeid} - {other.nodeid}",
            one.case_id,
            unit,
            (one.system, other.system),
            (sample_of(one, instances), sample_of(other, instances)),
        )
        for (one, other), unit in zip(outcome_pairs, units.names, strict=True)
    ]
    return pairs, left_out


def preferences_of(
    judge: str, models: Sequence[str], judged: Sequence[JudgedPair], left_out: Mapping[str, int], alpha: float
) -> Preferences:
    """Count the preferences of a judge.

    Args:
        judge: name of the judge.
        models: the models that judged.
        judged: the pairs of answers with their verdicts.
        left_out: reason -> number of pairs that lack an answer.
        alpha: the level of the paired tests.

    Raises:
        SettingError: there is no pair, or the judge gave no verdict.
    """
    differing = [each for each in judged if not each.pair.same]
    if not judged:
        raise SettingError("no pair of answers was judged: no case has two answers; name other runs")
    if differing and all(each.value is None for each in differing):
        kind, n = Counter((each.problem or "").partition(":")[0] for each in differing).most_common(1)[0]
        why = next(each.problem for each in differing if each.problem and each.problem.startswith(kind))
        raise SettingError(f"no pair of answers was judged: {n} of {len(differing)} pairs: {why.splitlines()[0]}")
    groups: dict[tuple[str, str], list[JudgedPair]] = {}
    for each in judged:
        groups.setdefault(each.pair.systems, []).append(each)
    duels = [Duel(*each.pair.systems, each.value, each.pair.unit) for each in judged if each.value is not None]
    contrasts = contrasts_of_duels(duels, groups, alpha)
    votes = [(each.pair.unit, vote.orders) for each in judged for vote in each.votes if vote.orders.problem is None]
    systems = list(dict.fromkeys(system for systems in groups for system in systems))
    return Preferences(
        judge=judge,
        models=tuple(models),
        pairs=tuple(map(_pair, contrasts, groups.values())),
        order_decided=_mean([(unit, float(not orders.agree)) for unit, orders in votes], binary=True),
        first_shown=_mean([(unit, orders.for_first_shown or 0.0) for unit, orders in votes], binary=False),
        leaderboard=leaderboard_of_duels(duels, systems, judge, alpha),
        left_out=dict(left_out),
    )


def _why_no_answer(outcome: Outcome) -> str | None:
    """Return why an outcome has no answer to compare; None if it has one."""
    if outcome.status != "scored" or outcome.answer is None:
        return "an error has no answer" if outcome.status == "error" else f"a case is {outcome.status}"
    return None if outcome.answer.generated else "a system found passages only, and wrote no answer"


def _pair(contrast: Contrast, judged: Sequence[JudgedPair]) -> PairOfSystems:
    valued = [(each.pair.unit, each.value) for each in judged if each.value is not None]
    unscored = Counter((each.problem or "").partition(":")[0] for each in judged if each.value is None)
    return PairOfSystems(
        contrast=contrast,
        tied=contrast.n - contrast.won - contrast.lost,
        same_answer=sum(each.pair.same for each in judged),
        order_decided=sum(
            any(vote.orders.problem is None and not vote.orders.agree for vote in each.votes)
            for each in judged
            if each.value is not None
        ),
        share=_mean(valued, binary=False),
        unscored=dict(unscored.most_common()),
    )


def _mean(values: Iterable[tuple[Hashable, float]], *, binary: bool) -> Mean:
    """Return the mean of values in 0..1, with its interval over their units."""
    pairs = list(values)
    numbers = [value for _, value in pairs]
    units = Units(tuple(unit for unit, _ in pairs), len({unit for unit, _ in pairs}), "")  # type: ignore[misc]
    return over_units(mean_of(numbers, binary=binary), units, numbers, binary=binary, low=0.0)
