"""Panels of judges: combine several votes on an answer into one verdict."""

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

__all__ = ["LOCAL", "Panel", "Rule", "combine_votes", "is_local", "panel_of_metric", "values_of"]

Rule = Literal["majority", "mean"]

LOCAL = "local:"
"""Prefix of the name of a local judge, followed by the folder of a trained judge."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The models that vote for one judge, the number of votes, and the rule that combines them.

    Attributes:
        models: the names of the models; each has the same number of votes.
        rule: how the votes become one verdict, see `combine_votes`; None to let `panel_of_metric` choose the rule.
        repeat: how often each model gets the same request.
        swapped: whether each model gets one more request, with labels and parts in reverse order.
        escalate: the confidence from which the first judge, a local one, decides alone; below it, the second judge is
            asked. "auto" until the judge is loaded. With None, all judges vote.
    """

    models: tuple[str, ...]
    rule: Rule | None = None
    repeat: int = 1
    swapped: bool = False
    escalate: float | Literal["auto"] | None = None

    @property
    def remote_models(self) -> tuple[str, ...]:
        """The models without local judges."""
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
    """Return whether a judge's name is that of a local judge."""
    return model.startswith(LOCAL)


def panel_of_metric(panel: Panel, metric: Metric) -> tuple[str, Panel]:
    """Return the name of a metric's judge, and the panel with the rule set.

    The default rule is "mean" for judges that return numbers, and "majority" for others.

    Raises:
        SettingError: the metric has no judge that asks a model, the judge cannot be swapped, or its values have no
            mean.
    """
    judge = metric.judge_asked
    if judge is None:
        raise SettingError(f"{metric.name} asks no model for a verdict; take its line out")
    if panel.swapped and getattr(judge, "swapped", None) is None:
        raise SettingError(f"the judge of {metric.name} cannot be asked in another order; take out 'swapped'")
    if panel.rule == "mean" and metric.binary:
        raise SettingError(f"{metric.name} is 0 or 1, and a mean is neither; write 'majority'")
    default: Rule = "majority" if metric.binary or worth_of(judge).values else "mean"
    return judge.name, replace(panel, rule=panel.rule or default)


def values_of(judge: Judge) -> Mapping[str, float | None]:
    """Return label -> value of a judge; empty for a judge that returns numbers."""
    return worth_of(judge).values


def combine_votes(votes: Sequence[Vote], rule: Rule, values: Mapping[str, float | None]) -> Verdict:
    """Combine votes into one verdict; the order of the votes has no effect.

    More than half of the votes must have a label. Otherwise the verdict has the problem that all votes share, or the
    most frequent kind of problem.

    - "majority" returns the label of more than half of the labelled votes; without a majority, the problem is
      "judges_disagree".
    - "mean" averages numbers, and labels by their ``values`` in 0..1; a label without a value counts as the problem
      "not_applicable: LABEL".

    A single vote is the verdict.

    Args:
        votes: one or more votes.
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
        problem = _common_problem([str(verdict.problem) for verdict in verdicts if verdict.label is None], len(votes))
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
    """Replace the label of a verdict by the label's value."""
    if not isinstance(verdict.label, str):
        return verdict
    value = Worth(values).of(verdict.label)
    return Verdict(problem=f"not_applicable: {verdict.label}") if value is None else Verdict(value)


def _common_problem(problems: Sequence[str], n_votes: int) -> str:
    """Return the problem that all votes share, else the most frequent kind of problem (ties: first by name)."""
    if len(set(problems)) == 1 and len(problems) == n_votes:
        return problems[0]
    kinds = Counter(problem.partition(": ")[0] for problem in problems)
    kind = min(kinds, key=lambda kind: (-kinds[kind], kind))
    return f"{kind}: {len(problems)} of {n_votes} votes gave no label"
