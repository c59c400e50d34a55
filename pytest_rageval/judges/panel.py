"""Several votes on one answer, and the one verdict that they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from pytest_rageval.errors import SettingError
from pytest_rageval.judges.values import Worth, worth_of
from pytest_rageval.model.judging import Judge
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.verdict import Verdict, Vote

__all__ = ["Panel", "Rule", "decided", "fitted", "values_of"]

Rule = Literal["majority", "mean"]


@dataclass(frozen=True, slots=True)
class Panel:
    """Which models are asked for the verdicts of one judge, how often, and what becomes of their votes.

    Attributes:
        models: their names; each is asked as often as the others.
        rule: how the votes become one verdict, see `decided`; None leaves it to the judge, see `fitted`.
        repeat: how often each model is asked the same.
        swapped: whether each is asked once more, with the labels and the parts that are shown in the other order.
    """

    models: tuple[str, ...]
    rule: Rule | None = None
    repeat: int = 1
    swapped: bool = False

    @property
    def votes_each(self) -> int:
        """How often each model is asked."""
        return self.repeat + self.swapped

    def ballots(self) -> Iterator[tuple[str, int, bool]]:
        """Yield (model, repeat from 1, whether swapped) of each vote."""
        for model in self.models:
            yield from ((model, repeat, False) for repeat in range(1, self.repeat + 1))
            if self.swapped:
                yield model, 1, True


def fitted(panel: Panel, metric: Metric) -> tuple[str, Panel]:
    """Return the name of a metric's judge and the panel with its rule: the mean of numbers, the majority of all else.

    Raises:
        SettingError: the metric asks no model for a verdict, or not in another order, or its values have no mean.
    """
    judge = metric.judge_asked
    if judge is None:
        raise SettingError(f"{metric.name} asks no model for a verdict; take its line out")
    if panel.swapped and getattr(judge, "swapped", None) is None:
        raise SettingError(f"the judge of {metric.name} cannot be asked in another order; take out 'swapped'")
    if panel.rule == "mean" and metric.binary:
        raise SettingError(f"{metric.name} is 0 or 1, and a mean is neither; write 'majority'")
    usual: Rule = "majority" if metric.binary or worth_of(judge).values else "mean"
    return judge.name, replace(panel, rule=panel.rule or usual)


def values_of(judge: Judge) -> Mapping[str, float | None]:
    """Return what the labels of a judge are worth; nothing for one that gives numbers."""
    return worth_of(judge).values


def decided(votes: Sequence[Vote], rule: Rule, values: Mapping[str, float | None]) -> Verdict:
    """Return the verdict that votes come to, in whatever order they are.

    It takes a label from more than half of the votes; else its problem is theirs, or of the kind most of them have.
    The majority is the label that more than half of those have; where none is, the problem is "judges_disagree". The
    mean is of numbers as they are, and of labels by their ``values`` in 0..1; a label without a value gives none
    ("not_applicable: LABEL"). A vote alone is the verdict.

    Args:
        votes: one or more.
        rule: "majority" or "mean".
        values: label -> value; empty where votes are numbers.

    Raises:
        ValueError: the mean is wanted of a label that ``values`` does not have.
    """
    if len(votes) == 1:
        return votes[0].verdict
    told = [_as_number(vote.verdict, values) if rule == "mean" else vote.verdict for vote in votes]
    labels = [verdict.label for verdict in told if verdict.label is not None]
    if 2 * len(labels) <= len(votes):
        problem = _common([str(verdict.problem) for verdict in told if verdict.label is None], len(votes))
        return Verdict(problem=problem, votes=tuple(votes))
    label, most = Counter(labels).most_common(1)[0]
    if most == len(labels):
        return Verdict(label, votes=tuple(votes))
    if rule == "mean":
        return Verdict(fmean(map(float, labels)), votes=tuple(votes))
    if 2 * most > len(labels):
        return Verdict(label, votes=tuple(votes))
    said = sorted(f"{label} x {count}" for label, count in Counter(labels).items())
    return Verdict(problem=f"judges_disagree: {', '.join(said)}", votes=tuple(votes))


def _as_number(verdict: Verdict, values: Mapping[str, float | None]) -> Verdict:
    """Return a verdict with the value of its label in the label's place."""
    if not isinstance(verdict.label, str):
        return verdict
    value = Worth(values).of(verdict.label)
    return Verdict(problem=f"not_applicable: {verdict.label}") if value is None else Verdict(value)


def _common(problems: Sequence[str], n_votes: int) -> str:
    """Return the problem that votes without a label share, else the kind that most of them have, the first by name."""
    if len(set(problems)) == 1 and len(problems) == n_votes:
        return problems[0]
    kinds = Counter(problem.partition(": ")[0] for problem in problems)
    kind = min(kinds, key=lambda kind: (-kinds[kind], kind))
    return f"{kind}: {len(problems)} of {n_votes} votes gave no label"
