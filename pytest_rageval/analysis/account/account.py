"""Collect the findings of a run's account, from errors to insignificant changes.

The account is the last block of the output: the verdict, its causes and example cases. A loss is a `Finding`
whose sentence does not name its cause yet: a part of a drop, or a failed gate. Variants are changed copies of cases,
by which robustness is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_rageval.analysis.account.causes import MISSING_DOCUMENT, NOT_IN_CORPUS
from pytest_rageval.analysis.account.changes import Change, changes_of
from pytest_rageval.analysis.account.errors import error_findings
from pytest_rageval.analysis.account.finding import Finding
from pytest_rageval.analysis.account.losses import JudgedGate, Names, findings_of, loss_of_gate, losses_of_drop
from pytest_rageval.analysis.account.sentences import change_sentence
from pytest_rageval.analysis.baseline.comparison import Comparison
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.outcome import Outcome

__all__ = ["AccountInput", "findings"]

MAX_THRESHOLDS = 3
"""How many metrics are listed with their smallest detectable drop."""


@dataclass(frozen=True, slots=True)
class AccountInput:
    """The data from which the findings of a run are derived.

    Attributes:
        comparison: the comparison of the run with its baseline; None without a baseline.
        gates: the results of the gates.
        outcomes: the outcomes of the systems under test, without variants.
        errors: the outcomes in which errors are counted; includes variants.
        deciding_metrics: node id of a testbed -> its primary metric and the metrics that its gates bound.
        metrics: metric -> its metadata.
        names: how sentences name testbeds and systems.
        alpha: the accepted chance of a false alarm.
        texts: whether sentences may quote error messages.
    """

    comparison: Comparison | None
    gates: Sequence[JudgedGate]
    outcomes: Sequence[Outcome]
    errors: Sequence[Outcome]
    deciding_metrics: Mapping[str, Sequence[str]]
    metrics: Mapping[str, MetricInfo]
    names: Names
    alpha: float
    texts: bool = True


def findings(inputs: AccountInput) -> tuple[Finding, ...]:
    """Return the findings of a run, in the order in which people need them."""
    errors = tuple(error_findings(inputs.errors, texts=inputs.texts))
    drops = _significant_changes(inputs, worse=True)
    drop_losses = list(_losses_of_drops(inputs, drops))
    losses = [*drop_losses, *_losses_of_gates(inputs, drops, drop_losses)]
    rises = _significant_changes(inputs, worse=False)
    improvements = sorted((_improvement(inputs, each) for each in rises), key=lambda finding: -len(finding.cases))
    return (*errors, *findings_of(losses), *improvements, *_insignificant_changes(inputs, [*drops, *rises]))


def _significant_changes(inputs: AccountInput, *, worse: bool) -> list[Change]:
    if inputs.comparison is None:
        return []
    return changes_of(inputs.comparison, inputs.deciding_metrics, inputs.alpha, worse=worse)


def _losses_of_drops(inputs: AccountInput, drops: Sequence[Change]) -> Iterator[Finding]:
    by_node = {outcome.nodeid: outcome for outcome in inputs.outcomes}
    for drop in drops:
        yield from losses_of_drop(drop, by_node, inputs.names, inputs.alpha)


def _losses_of_gates(
    inputs: AccountInput, drops: Sequence[Change], drop_losses: Sequence[Finding]
) -> Iterator[Finding]:
    """Yield the loss of each failed gate, unless a drop, an error or a missing document already explains it."""
    without_document = {loss.testbed for loss in drop_losses if loss.cause == MISSING_DOCUMENT}
    metrics_with_drop = {(drop.testbed, drop.metric) for drop in drops}
    with_errors = {outcome.testbed for outcome in inputs.errors if outcome.status == "error"}
    for judged in inputs.gates:
        metric = judged.result.gate.metric
        if judged.result.status != "failed":
            continue
        loss = loss_of_gate(judged, inputs.outcomes, inputs.metrics, inputs.names, texts=inputs.texts)
        undecided = loss.kind == "undecidable" and not judged.result.not_comparable
        if (undecided or metric == "error_rate") and with_errors.intersection(judged.testbeds):
            continue
        if undecided and NOT_IN_CORPUS in loss.sentence and without_document.intersection(judged.testbeds):
            continue
        if loss.kind == "undecidable" or not any((testbed, metric) in metrics_with_drop for testbed in judged.testbeds):
            yield loss


def _improvement(inputs: AccountInput, rise: Change) -> Finding:
    was, now, n = rise.test.baseline or 0.0, rise.test.value or 0.0, rise.test.n_pairs
    where = inputs.names.where(rise.testbed, rise.system, rise.slice)
    counts = f"{len({pair.after.case for pair in rise.changed_pairs})} of {n} fixed"
    sentence = f"improved: {change_sentence(where, rise.metric, was, now, counts, rise.p_value)}"
    nodes = tuple(pair.after.name for pair in rise.changed_pairs)
    return Finding(
        "improvement", "", sentence, rise.testbed, rise.system, rise.metric, rise.slice, was, now, n, nodes,
        rise.p_value,
    )  # fmt: skip


def _insignificant_changes(inputs: AccountInput, significant: Sequence[Change]) -> Iterator[Finding]:
    """Yield one finding that counts the insignificant changes of primary metrics, or nothing without such changes."""
    if inputs.comparison is None:
        return
    comparison = inputs.comparison
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    reported = {(each.testbed, each.system) for each in significant}
    rest = [each for each in primary if (each.testbed, each.system) not in reported and (each.broken or each.fixed)]
    if not rest:
        return
    broken, fixed = sum(len(each.broken) for each in rest), sum(len(each.fixed) for each in rest)
    thresholds = sorted(
        (each.test.least_drop, f"{inputs.names.where(each.testbed, each.system, {})}{each.metric}")
        for each in rest
        if each.test.least_drop is not None
    )
    smallest = ", ".join(f"{name} {threshold:.2f}" for threshold, name in thresholds[:MAX_THRESHOLDS])
    tail = f"; smallest detectable drop: {smallest}" if smallest else ""
    sentence = f"not significant: {broken} {'case' if broken == 1 else 'cases'} broke, {fixed} fixed{tail}"
    nodes = tuple(pair.after.name for each in rest for pair in each.broken)
    yield Finding("noise", "", sentence, cases=nodes)
