"""The losses of a run, one for each cause of a drop or of a missed bound, and how those of one cause are joined.

A loss is a `Finding` whose sentence does not name its cause yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rageval.analysis.account.causes import cause_of_miss, split_by_cause, symptom_of, symptom_of_misses
from pytest_rageval.analysis.account.changes import Change
from pytest_rageval.analysis.account.finding import Finding, Kind
from pytest_rageval.analysis.account.sentences import change_sentence, miss_sentence, other_causes_text, where_text
from pytest_rageval.analysis.baseline.failure_cause import cause_of
from pytest_rageval.analysis.baseline.pairing import Pair
from pytest_rageval.analysis.baseline.regression import Regression
from pytest_rageval.analysis.cells import value_of
from pytest_rageval.analysis.decisions.verdicts import GateResult
from pytest_rageval.analysis.gates import LOWER, PSEUDO_METRICS
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.facets import SYSTEM, in_slice, place_text
from pytest_rageval.model.outcome import Outcome

__all__ = ["JudgedGate", "Names", "findings_of", "loss_of_gate", "losses_of_drop"]

ALSO = 5
"""Further losses of a cause that its finding names."""


@dataclass(frozen=True, slots=True)
class JudgedGate:
    """A gate's result, with the node ids of the testbeds that it covers."""

    result: GateResult
    testbeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """What a sentence calls testbeds and systems: nothing, if the run has only one.

    Attributes:
        testbeds: node id -> name.
        several_systems: whether the run has several systems.
    """

    testbeds: Mapping[str, str]
    several_systems: bool = False

    def where(self, testbed: str, system: str, slice_: Mapping[str, str]) -> str:
        """Return the beginning of a sentence, such as ``town task=qa ``."""
        name = self.testbeds.get(testbed, "") if len(self.testbeds) > 1 else ""
        own = {facet: value for facet, value in slice_.items() if facet != SYSTEM or value != system}
        return where_text(name, system if self.several_systems else "", own)


def losses_of_drop(drop: Change, outcomes: Mapping[str, Outcome], names: Names, alpha: float) -> Iterator[Finding]:
    """Yield a drop once for each of its causes."""
    for cause, part, others in split_by_cause(drop, outcomes, alpha):
        was, now, n = part.test.baseline or 0.0, part.test.value or 0.0, part.test.n_pairs
        symptom = symptom_of(cause, part.changed_pairs)
        counts = f"{_n_cases(part.changed_pairs)} of {n} broke{other_causes_text(others)}"
        where = names.where(drop.testbed, drop.system, part.slice)
        text = change_sentence(where, drop.metric, was, now, counts, part.p_value, symptom)
        nodes = tuple(pair.after.name for pair in part.changed_pairs)
        yield Finding(
            "drop", cause, text, drop.testbed, drop.system, drop.metric, part.slice, was, now, n, nodes, part.p_value,
            symptom,
        )  # fmt: skip


def loss_of_gate(
    judged: JudgedGate, outcomes: Sequence[Outcome], metrics: Mapping[str, MetricInfo], names: Names, *, texts: bool
) -> Finding:
    """Return what a failed gate lost that no drop explains."""
    result, gate = judged.result, judged.result.gate
    testbed = judged.testbeds[0] if len(judged.testbeds) == 1 else ""
    where = names.where(testbed, "", result.slice or {})
    if result.regression is not None and result.regression.verdict == "worse":
        return _dropped(result, result.regression, where, testbed)
    if gate.baseline or result.value is None or gate.holds(result.value):
        reason = (result.reason or "") if texts else result.bare_reason
        return Finding("undecidable", f"gate {gate}", reason, testbed, metric=gate.metric, slice=result.own_slice)
    if gate.metric in PSEUDO_METRICS:
        text = miss_sentence(where, gate, result.value, f"n {result.n}")
        return Finding("missed", gate.metric, text, testbed, "", gate.metric, result.slice or {}, now=result.value)
    return _missed(judged, where, testbed, outcomes, metrics.get(gate.metric, MetricInfo()).of)


def _dropped(result: GateResult, regression: Regression, where: str, testbed: str) -> Finding:
    """Return the drop that a baseline gate found."""
    metric, found, broken = result.gate.metric, regression.test, regression.broken
    of_cases = {(pair.after.case, cause_of(pair, regression.of)) for pair in broken}
    (cause, _), *others = Counter(cause for _, cause in sorted(of_cases)).most_common()
    symptom = symptom_of(cause, broken)
    was, now, p_value = found.baseline or 0.0, found.value or 0.0, regression.p_value or 0.0
    counts = f"{_n_cases(broken)} of {found.n_pairs} broke{other_causes_text(dict(others))}"
    text = change_sentence(where, metric, was, now, counts, p_value, symptom)
    nodes, place = tuple(pair.after.name for pair in broken), result.slice or {}
    return Finding("drop", cause, text, testbed, "", metric, place, was, now, found.n_pairs, nodes, p_value, symptom)


def _missed(judged: JudgedGate, where: str, testbed: str, outcomes: Sequence[Outcome], of: str) -> Finding:
    """Return the cases that miss a fixed bound, with the commonest cause."""
    result, gate, where_in = judged.result, judged.result.gate, judged.result.slice or {}
    covered = (each for each in outcomes if each.testbed in judged.testbeds and in_slice(each.facets, where_in))
    values = [(value, each) for each in covered if (value := value_of(gate.metric, each)) is not None]
    missed = [row for row in values if not gate.holds(row[0])]
    missed.sort(key=lambda row: row[0], reverse=gate.op not in LOWER)
    worst = [each for _, each in missed]
    causes = Counter(cause_of_miss(each, of) for each in worst).most_common()
    cause = causes[0][0] if causes else "unknown"
    symptom = symptom_of_misses(cause, worst)
    counts = f"{len(worst)} of {len(values)} missed{other_causes_text(dict(causes[1:]))}"
    text = miss_sentence(where, gate, result.value or 0.0, counts, symptom)
    nodes = tuple(each.nodeid for each in worst)
    return Finding(
        "missed", cause, text, testbed, "", gate.metric, where_in, now=result.value, n=len(values), cases=nodes,
        symptom=symptom,
    )  # fmt: skip


def findings_of(losses: Iterable[Finding]) -> list[Finding]:
    """Join the losses of one kind and cause, and gates with one reason; sort by cases lost, the most first."""
    groups: dict[tuple[Kind, str], list[Finding]] = {}
    for loss in losses:
        groups.setdefault((loss.kind, _reason(loss) if loss.kind == "undecidable" else loss.cause), []).append(loss)
    findings = [_joined(group) for group in groups.values()]
    order: list[Kind] = ["drop", "missed", "undecidable"]
    return sorted(findings, key=lambda each: (order.index(each.kind), -len(each.cases)))


def _reason(loss: Finding) -> str:
    """Return why a gate cannot be decided, without the place."""
    return loss.sentence.replace(f" at {place_text(loss.slice)}", "", 1) if loss.slice else loss.sentence


def _joined(losses: Sequence[Finding]) -> Finding:
    ordered = sorted(losses, key=lambda loss: -len(loss.cases))
    lead, others = ordered[0], ordered[1 : ALSO + 1]
    is_gate, places = lead.kind == "undecidable", {loss.sentence for loss in losses}
    return replace(
        lead,
        sentence=f"{lead.cause}: {_reason(lead) if is_gate and len(places) > 1 else lead.sentence}",
        cases=tuple(dict.fromkeys(case for loss in ordered for case in loss.cases)),
        also=tuple(dict.fromkeys(loss.cause if is_gate else loss.sentence for loss in others)),
    )


def _n_cases(broken: Iterable[Pair]) -> int:
    return len({pair.after.case for pair in broken})
