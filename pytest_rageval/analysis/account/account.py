"""Order what a run says: errors, drops by lost cases, missed bounds, then improvements, and noise last."""

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

NAMED = 3
"""Metrics whose smallest detectable drop is named."""


@dataclass(frozen=True, slots=True)
class AccountInput:
    """What an account is made from.

    Attributes:
        comparison: the run and its baseline; None without a baseline.
        gates: the gates, evaluated.
        outcomes: the outcomes of the systems under test, without variants.
        errors: outcomes whose errors count: variants too.
        deciding_metrics: testbed -> the metrics that decide: its primary metric, and those that a gate bounds.
        metrics: metric -> its metadata.
        names: the names of testbeds.
        alpha: the accepted chance of a false alarm.
        texts: whether sentences may quote errors.
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


def findings(evidence: AccountInput) -> tuple[Finding, ...]:
    """Return the findings of a run, in the order in which people need them."""
    errors = tuple(error_findings(evidence.errors, texts=evidence.texts))
    drops = _changes(evidence, worse=True)
    dropped = list(_drops(evidence, drops))
    losses = [*dropped, *_gates(evidence, drops, dropped)]
    rises = _changes(evidence, worse=False)
    better = sorted((_improvement(evidence, each) for each in rises), key=lambda finding: -len(finding.cases))
    return (*errors, *findings_of(losses), *better, *_noise(evidence, [*drops, *rises]))


def _changes(evidence: AccountInput, *, worse: bool) -> list[Change]:
    if evidence.comparison is None:
        return []
    return changes_of(evidence.comparison, evidence.deciding_metrics, evidence.alpha, worse=worse)


def _drops(evidence: AccountInput, drops: Sequence[Change]) -> Iterator[Finding]:
    by_node = {outcome.nodeid: outcome for outcome in evidence.outcomes}
    for drop in drops:
        yield from losses_of_drop(drop, by_node, evidence.names, evidence.alpha)


def _gates(evidence: AccountInput, drops: Sequence[Change], losses: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the losses of failed gates that neither a drop nor an error nor a missing document explains."""
    without_document = {loss.testbed for loss in losses if loss.cause == MISSING_DOCUMENT}
    dropped = {(drop.testbed, drop.metric) for drop in drops}
    in_error = {outcome.testbed for outcome in evidence.errors if outcome.status == "error"}
    for judged in evidence.gates:
        metric = judged.result.gate.metric
        if judged.result.status != "failed":
            continue
        loss = loss_of_gate(judged, evidence.outcomes, evidence.metrics, evidence.names, texts=evidence.texts)
        undecided = loss.kind == "undecidable" and not judged.result.not_comparable
        if (undecided or metric == "error_rate") and in_error.intersection(judged.testbeds):
            continue
        if undecided and NOT_IN_CORPUS in loss.sentence and without_document.intersection(judged.testbeds):
            continue
        if loss.kind == "undecidable" or not any((testbed, metric) in dropped for testbed in judged.testbeds):
            yield loss


def _improvement(evidence: AccountInput, rise: Change) -> Finding:
    was, now, n = rise.test.baseline or 0.0, rise.test.value or 0.0, rise.test.n_pairs
    where = evidence.names.where(rise.testbed, rise.system, rise.slice)
    counts = f"{len({pair.after.case for pair in rise.changed_pairs})} of {n} fixed"
    sentence = f"improved: {change_sentence(where, rise.metric, was, now, counts, rise.p_value)}"
    nodes = tuple(pair.after.name for pair in rise.changed_pairs)
    return Finding(
        "improvement", "", sentence, rise.testbed, rise.system, rise.metric, rise.slice, was, now, n, nodes,
        rise.p_value,
    )  # fmt: skip


def _noise(evidence: AccountInput, significant: Sequence[Change]) -> Iterator[Finding]:
    """Yield how many cases changed without significance, by the primary metrics, and the smallest detectable drops."""
    if evidence.comparison is None:
        return
    comparison = evidence.comparison
    primary = [each for each in comparison.overall if comparison.is_primary(each)]
    done = {(each.testbed, each.system) for each in significant}
    rest = [each for each in primary if (each.testbed, each.system) not in done and (each.broken or each.fixed)]
    if not rest:
        return
    broken, fixed = sum(len(each.broken) for each in rest), sum(len(each.fixed) for each in rest)
    drops = sorted(
        (each.test.least_drop, f"{evidence.names.where(each.testbed, each.system, {})}{each.metric}")
        for each in rest
        if each.test.least_drop is not None
    )
    least = ", ".join(f"{name} {drop:.2f}" for drop, name in drops[:NAMED])
    tail = f"; smallest detectable drop: {least}" if least else ""
    sentence = f"not significant: {broken} {'case' if broken == 1 else 'cases'} broke, {fixed} fixed{tail}"
    nodes = tuple(pair.after.name for each in rest for pair in each.broken)
    yield Finding("noise", "", sentence, cases=nodes)
