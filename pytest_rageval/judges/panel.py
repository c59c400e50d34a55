"""Panels of judges: several votes on one answer, combined into one verdict."""

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

__all__ = ["LOCAL", "Panel", "Rule", "decided", "fitted", "is_local", "values_of"]

Rule = Literal["majority", "mean"]

LOCAL = "local:"
"""Prefix of a judge that is the folder of a trained judge, not a model."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The models that vote for one judge, the number of votes, and the rule that combines them.

    Attributes:
        models: their names; each casts the same number of votes.
        rule: how the votes become one verdict, see `decided`; None lets `fitted` choose it for the judge.
        repeat: how often each model is asked the same.
        swapped: whether each model is asked once more, with labels and parts in reverse order.
        escalate: the confidence from which the first judge, a local one, decides alone; below it the second one is
            asked. "auto" until the judge is loaded. None lets all vote.
    """

    models: tuple[str, ...]
    rule: Rule | None = None
    repeat: int = 1
    swapped: bool = False
    escalate: float | Literal["auto"] | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The judges that are models: all but local ones."""
        return tuple(model for model in self.models if not is_local(model))

    @property
    def votes_each(self) -> int:
        """The number of votes of each model."""
        return self.repeat + self.swapped

    def ballots(self) -> Iterator[tuple[str, int, bool]]:
        """Yield (model, repeat from 1, whether swapped) for each vote."""
        for model in self.models:
            yield from ((model, repeat, False) for repeat in range(1, self.repeat + 1))
            if self.swapped:
                yield model, 1, True


def is_local(model: str) -> bool:
    """Return whether the name of a judge names the folder of a trained judge."""
    return model.startswith(LOCAL)


def fitted(panel: Panel, metric: Metric) -> tuple[str, Panel]:
    """Return the name of a metric's judge, and the panel with its rule.

    The default rule is the mean for numbers, and the majority for everything else.

    Raises:
        SettingError: the metric asks no model for a verdict, its judge has no order to swap, or its values have no
            mean.
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
    """Return label -> value of a judge; empty for a judge that gives numbers."""
    return worth_of(judge).values


def decided(votes: Sequence[Vote], rule: Rule, values: Mapping[str, float | None]) -> Verdict:
    """Return the verdict of the votes; their order does not matter.

    More than half of the votes must have a label. Otherwise the verdict has their common problem, or the most frequent
    kind of problem. "majority" returns the label of more than half of the votes that have one; without such a label
    the problem is "judges_disagree". "mean" averages numbers as they are, and labels by their ``values`` in 0..1; a
    label without a value counts as a problem ("not_applicable: LABEL"). A single vote is the verdict.

    Args:
        votes: one or more.
        rule: "majority" or "mean".
        values: label -> value; empty if votes are numbers.

    Raises:
        ValueError: the rule is "mean" and a label is not in ``values``.
    """
    if len(votes) == 1:
        return votes[0].verdict
    verdicts = [_as_number(vote.verdict, values) if rule == "mean" else vote.verdict for vote in votes]
    labels = [verdict.label for verdict in verdicts if verdict.label is not None]
    if 2 * len(labels) <= len(votes):
        problem = _common([str(verdict.problem) for verdict in verdicts if verdict.label is None], len(votes))
        return Verdict(problem=problem, votes=tuple(votes))
    label, most = Counter(labels).most_common(1)[0]
    if most == len(labels):
        return Verdict(label, votes=tuple(votes))
    if rule == "mean":
        return Verdict(fmean(map(float, labels)), votes=tuple(votes))
    if 2 * most > len(labels):
        return Verdict(label, votes=tuple(votes))
    tally = sorted(f"{label} x {count}" for label, count in Counter(labels).items())
    return Verdict(problem=f"judges_disagree: {', '.join(tally)}", votes=tuple(votes))


def _as_number(verdict: Verdict, values: Mapping[str, float | None]) -> Verdict:
    """Return the verdict with its label replaced by the label's value."""
    if not isinstance(verdict.label, str):
        return verdict
    value = Worth(values).of(verdict.label)
    return Verdict(problem=f"not_applicable: {verdict.label}") if value is None else Verdict(value)


def _common(problems: Sequence[str], n_votes: int) -> str:
    """Return the common problem of all votes, else the most frequent kind of problem (on a tie, the first by name)."""
    if len(set(problems)) == 1 and len(problems) == n_votes:
        return problems[0]
    kinds = Counter(problem.partition(": ")[0] for problem in problems)
    kind = min(kinds, key=lambda kind: (-kinds[kind], kind))
    return f"{kind}: {len(problems)} of {n_votes} votes gave no label"
