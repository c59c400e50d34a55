"""Find what a run lost: one loss for each cause of a drop or missed bound, then join them.

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

MAX_ALSO = 5
"""How many further losses of the same cause a finding lists."""


@dataclass(frozen=True, slots=True)
class JudgedGate:
    """A gate's result, with the node ids of the testbeds that it covers."""

    result: GateResult
    testbeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """How sentences name testbeds and systems. A name is left out if the run has only one of them.

    Attributes:
        testbeds: node id -> name.
        several_systems: whether the run has several systems.
    """

    testbeds: Mapping[str, str]
    several_systems: bool = False

    def where(self, testbed: str, system: str, slice_: Mapping[str, str]) -> str:
        """Return the beginning of a sentence, such as ``town task=qa ``."""
        name = self.testbeds.get(testbed, "") if len(self.testbeds) > 1 else ""
        facets = {facet: value for facet, value in slice_.items() if facet != SYSTEM or value != system}
        return where_text(name, system if self.several_systems else "", facets)


def losses_of_drop(drop: Change, outcomes: Mapping[str, Outcome], names: Names, alpha: float) -> Iterator[Finding]:
    """Yield one loss for each cause of a drop."""
    for cause, part, other_causes in split_by_cause(drop, outcomes, alpha):
        was, now, n = part.test.baseline or 0.0, part.test.value or 0.0, part.test.n_pairs
        symptom = symptom_of(cause, part.changed_pairs)
        counts = f"{_n_cases(part.changed_pairs)} of {n} broke{other_causes_text(other_causes)}"
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
    """Return the loss of a failed gate."""
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
    metric, test, broken = result.gate.metric, regression.test, regression.broken
    of_cases = {(pair.after.case, cause_of(pair, regression.of)) for pair in broken}
    (cause, _), *others = Counter(cause for _, cause in sorted(of_cases)).most_common()
    symptom = symptom_of(cause, broken)
    was, now, p_value = test.baseline or 0.0, test.value or 0.0, regression.p_value or 0.0
    counts = f"{_n_cases(broken)} of {test.n_pairs} broke{other_causes_text(dict(others))}"
    text = change_sentence(where, metric, was, now, counts, p_value, symptom)
    nodes, place = tuple(pair.after.name for pair in broken), result.slice or {}
    return Finding("drop", cause, text, testbed, "", metric, place, was, now, test.n_pairs, nodes, p_value, symptom)


def _missed(judged: JudgedGate, where: str, testbed: str, outcomes: Sequence[Outcome], of: str) -> Finding:
    """Return the loss of a gate with a fixed bound: the cases that miss it, with their most frequent cause."""
    result, gate, place = judged.result, judged.result.gate, judged.result.slice or {}
    covered = (each for each in outcomes if each.testbed in judged.testbeds and in_slice(each.facets, place))
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
        "missed", cause, text, testbed, "", gate.metric, place, now=result.value, n=len(values), cases=nodes,
        symptom=symptom,
    )  # fmt: skip


def findings_of(losses: Iterable[Finding]) -> list[Finding]:
    """Join losses with the same kind and cause, and gates with the same reason; those with most cases come first."""
    groups: dict[tuple[Kind, str], list[Finding]] = {}
    for loss in losses:
        groups.setdefault((loss.kind, _reason(loss) if loss.kind == "undecidable" else loss.cause), []).append(loss)
    findings = [_joined(group) for group in groups.values()]
    order: list[Kind] = ["drop", "missed", "undecidable"]
    return sorted(findings, key=lambda each: (order.index(each.kind), -len(each.cases)))


def _reason(loss: Finding) -> str:
    """Return why a gate cannot be decided, without the slice that the sentence names."""
    return loss.sentence.replace(f" at {place_text(loss.slice)}", "", 1) if loss.slice else loss.sentence


def _joined(losses: Sequence[Finding]) -> Finding:
    ordered = sorted(losses, key=lambda loss: -len(loss.cases))
    lead, others = ordered[0], ordered[1 : MAX_ALSO + 1]
    is_gate, places = lead.kind == "undecidable", {loss.sentence for loss in losses}
    return replace(
        lead,
        sentence=f"{lead.cause}: {_reason(lead) if is_gate and len(places) > 1 else lead.sentence}",
        cases=tuple(dict.fromkeys(case for loss in ordered for case in loss.cases)),
        also=tuple(dict.fromkeys(loss.cause if is_gate else loss.sentence for loss in others)),
    )


def _n_cases(broken: Iterable[Pair]) -> int:
    return len({pair.after.case for pair in broken})
