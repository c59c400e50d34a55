"""Compare a run's judges with people's labels, and score labelled answers by the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.people.bias import JudgeBias, biases_of
from pytest_rageval.analysis.people.labelled_scores import with_labels
from pytest_rageval.analysis.people.local_use import LocalUse, local_uses_of
from pytest_rageval.analysis.people.trust import Trust, trusts_of, withhold_untrusted
from pytest_rageval.analysis.variants import originals
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.report.run.plan import Plan

__all__ = ["JudgeValidation", "validate_judges"]


@dataclass(frozen=True, slots=True)
class JudgeValidation:
    """The judges of a run against people.

    Attributes:
        outcomes: outcomes with changed scores, possibly some unchanged ones. Labelled answers have values of
            ``people:METRIC``; scores of judges that disagree with people are withheld.
        trusts: agreement of judges with people, for judges with a minimum.
        biases: differences of judges from people, by system; empty without labels.
        local_uses: what local judges decided and passed on.
    """

    outcomes: list[Outcome]
    trusts: list[Trust]
    biases: list[JudgeBias]
    local_uses: list[LocalUse]


def validate_judges(plan: Plan, outcomes: Sequence[Outcome]) -> JudgeValidation:
    """Return how the judges of a run agree with people, and the outcomes that this changes.

    Args:
        plan: the run's plan.
        outcomes: all its outcomes, in data order.
    """
    cases, labels = originals(outcomes), plan.labels
    judges = {name: info.judge for name, info in plan.metrics.items() if info.judge}
    scored = {name for outcome in outcomes for name in outcome.scores}
    in_use = dict.fromkeys(judge for name, judge in judges.items() if name in scored)
    trusts = trusts_of(in_use, plan.least_kappas, labels, cases)
    biases = biases_of(in_use, labels, cases, plan.judge_testbeds, plan.max_bias) if labels else []
    problems = {trust.judge: trust.problem for trust in trusts if trust.problem is not None}
    labelled = {outcome.nodeid: outcome for outcome in with_labels(labels, cases, plan.judge_testbeds)}
    may_change = outcomes if problems else [each for each in outcomes if each.nodeid in labelled]
    changed = [withhold_untrusted(labelled.get(each.nodeid, each), judges, problems) for each in may_change]
    return JudgeValidation(changed, trusts, biases, local_uses_of(plan.metrics, labels, cases))
