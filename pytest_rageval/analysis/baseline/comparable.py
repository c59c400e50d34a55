"""Check that a gate is compared with enough cases of the baseline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pytest_rageval.analysis.baseline.pairing import Pair, Pairing
from pytest_rageval.analysis.baseline.snapshot import Measured
from pytest_rageval.analysis.gates import Gate
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.facets import ANY, KNEW, SYSTEM, in_slice
from pytest_rageval.model.outcome import Outcome

__all__ = ["MIN_COMPARED", "CaseFate", "CaseFates", "case_fates", "share_of"]

MIN_COMPARED = 0.5
"""Default minimum share of the baseline's cases that a gate must be compared with."""

Fate = Literal["compared", "changed", "in error", "skipped", "removed"]

_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class CaseFate:
    """A case that the baseline contains, and its fate in this run.

    Attributes:
        before: the case in the baseline.
        testbed: node id of its testbed in this run; for a removed case, the testbed that it belonged to.
        system: the system that answers it in this run.
        fate: whether it can be compared and, if not, why.
        facets: its facets in the baseline, with those of its system in this run.
        after: the case in this run; None if the run does not have it.
        deselected: whether this session deselected it.
    """

    before: Measured
    testbed: str
    system: str
    fate: Fate
    facets: Mapping[str, str]
    after: Measured | None = None
    deselected: bool = False

    @property
    def counts(self) -> bool:
        """Whether the session was expected to compare it."""
        return self.fate == "compared" or not self.deselected

    def is_in(self, where: Mapping[str, str], nodes: Collection[str]) -> bool:
        """Return whether it belongs to a slice: by its node id in this run or, if the run lacks it, by its facets."""
        if self.after is not None:
            return any(node in nodes for node in self.after.nodes)
        return in_slice(self.facets, where)


@dataclass(frozen=True, slots=True)
class CaseFates:
    """The baseline's cases that the gates of one run are compared with, each with its fate.

    Attributes:
        cases: testbed's node id -> its cases in the baseline.
        testbeds: node id -> name, for each testbed of the run that a baseline can contain.
        least: minimum share of its cases in the baseline that a gate must be compared with.
    """

    cases: Mapping[str, Sequence[CaseFate]] = field(default_factory=dict)
    testbeds: Mapping[str, str] = field(default_factory=dict)
    least: float = MIN_COMPARED

    def why_not(
        self, gate: Gate, scope: Sequence[Outcome], covered: Sequence[Outcome], *, cell: bool, session: bool = False
    ) -> str:
        """Return why a gate, or one cell of it, cannot be compared with the baseline, or "".

        A case of the baseline counts if it has a value of the gate's metric and the session did not deselect it. New
        cases do not count, so a cell with only new cases stays comparable.

        Args:
            gate: the gate, with the slice of the cell.
            scope: all outcomes of the gate's testbeds.
            covered: the outcomes in the slice.
            cell: whether it is one cell of a ``facet=*`` gate.
            session: whether the gate is over the session; it then also counts testbeds that only the baseline has.
        """
        testbeds = self._testbeds_of(scope, session=session)
        if not testbeds:
            return ""
        cases, missing = self._cases_of(gate, testbeds, {outcome.system for outcome in scope})
        if not missing:
            nodes = {outcome.nodeid for outcome in covered}
            cases = [case for case in cases if case.is_in(gate.slice, nodes)]
            missing = "" if cases or cell or KNEW in gate.slice else "the baseline holds no case of this slice"
        if missing:
            return f"not comparable, {missing}: add it with --rag-update-baseline"
        runs = {outcome.nodeid: outcome for outcome in scope}
        return _too_few(cases, corrected_metric(gate.metric) or gate.metric, self.least, runs)

    def lost_cells(self, gate: Gate, scope: Sequence[Outcome], *, session: bool = False) -> list[Mapping[str, str]]:
        """Return the facets of the cases in a gate's slice that the run lacks, although it did not deselect them."""
        if self.least == 0:
            return []
        testbeds = self._testbeds_of(scope, session=session)
        cases, _ = self._cases_of(gate, testbeds, {outcome.system for outcome in scope})
        lost = [case for case in cases if case.after is None and case.counts]
        return [case.facets for case in lost if case.is_in(gate.slice, ())]

    def _testbeds_of(self, scope: Iterable[Outcome], *, session: bool) -> list[str]:
        """Return the testbeds of a gate; for a session gate also those that only the baseline has."""
        testbeds = [nodeid for nodeid in dict.fromkeys(outcome.testbed for outcome in scope) if nodeid in self.testbeds]
        return [*testbeds, *(nodeid for nodeid in self.cases if session and testbeds and nodeid not in self.testbeds)]

    def _cases_of(self, gate: Gate, testbeds: Sequence[str], systems: Collection[str]) -> tuple[list[CaseFate], str]:
        """Return the baseline's cases with a value of the gate's metric; if there are none, also the reason."""
        names = ", ".join([self.testbeds[nodeid] for nodeid in testbeds if nodeid in self.testbeds][:3])
        cases = [case for nodeid in testbeds for case in self.cases.get(nodeid, ())]
        if not cases:
            return [], f"the baseline does not hold {names}"
        system = gate.slice.get("system", ANY)
        gate_systems = [system] if system != ANY else sorted(systems)
        known = sorted({case.system for case in cases})
        cases = [case for case in cases if case.system in gate_systems]
        if not cases:
            held = "" if set(known) & set(systems) else f", only {', '.join(known[:3])}"
            return [], f"the baseline does not hold the system {', '.join(gate_systems[:3])} of {names}{held}"
        metric = corrected_metric(gate.metric) or gate.metric
        cases = [case for case in cases if metric in case.before.scores]
        return cases, "" if cases else f"the baseline holds no {metric} of {names}"


def _too_few(cases: Sequence[CaseFate], metric: str, least: float, runs: Mapping[str, Outcome]) -> str:
    """Return a message with the counts if too few of the cases are compared, else "".

    If only a part of the cases is selected, such as with ``-k``, it is unknown how many removed cases belong to that
    part. So removed cases count in proportion to the part.

    Args:
        cases: the baseline's cases that the gate covers.
        metric: the gate's metric.
        least: smallest share of them that must be compared.
        runs: node id -> outcome of this run; an unscored case has its reason.
    """
    fates = Counter(_fate_by(metric, case, runs) for case in cases if case.counts)
    n_deselected = sum(not case.counts for case in cases)
    present = sum(fates.values()) - fates["removed"]
    fates["removed"] = round(fates["removed"] * (present / (present + n_deselected) if n_deselected else 1))
    total, n_compared = sum(fates.values()), fates.pop("compared", 0)
    if n_compared + _TOLERANCE >= least * total:
        return ""
    details = ", ".join(f"{n} {fate}" for fate, n in fates.most_common() if n)
    all_cases = f"{total} case{'' if total == 1 else 's'}"
    return f"not comparable, {n_compared} of {all_cases} compared: {details} (rag_min_compared = {least:g})"


def _fate_by(metric: str, case: CaseFate, runs: Mapping[str, Outcome]) -> str:
    """Return the fate of a case in the comparison of one metric: ``unscored (no_ranking)`` without a value of it."""
    if case.fate != "compared" or case.after is None or metric in case.after.scores:
        return case.fate
    scores = (runs[node].scores.get(metric) for node in case.after.nodes if node in runs)
    reason = next((score.reason.partition(":")[0] for score in scores if score is not None and score.reason), "")
    return f"unscored ({reason})" if reason else "unscored"


def case_fates(
    before: Sequence[Measured],
    pairing: Pairing,
    after: Sequence[Measured],
    deselected: Collection[int],
    skipped: Iterable[Outcome] = (),
    *,
    by_name: bool = False,
) -> dict[str, list[CaseFate]]:
    """Return the fates of a baseline's cases by testbed of the run; a removed case is under its old testbed.

    Args:
        before: the cases of the baseline.
        pairing: matches ``before`` with ``after``.
        after: the cases of the run.
        deselected: indices in ``before`` of the cases that the session deselected.
        skipped: the outcomes of cases whose tests were skipped.
        by_name: whether systems need the same name, also if the baseline and the run have one each.
    """
    deselected_ids = {id(before[at]) for at in deselected if at < len(before)}
    moved = {pair.before.testbed: pair.after.testbed for pair in pairing.pairs}
    moved |= {testbed: testbed for testbed in {case.testbed for case in after}}
    systems = {case.system for case in after}
    one_each = not by_name and len(systems) == len({case.system for case in before}) == 1
    system_now = next(iter(systems)) if one_each else ""
    labels = {case.system: case.labels for case in after}
    not_run = {(outcome.testbed, outcome.case_id) for outcome in skipped}
    by_testbed: dict[str, list[CaseFate]] = {}
    for case in _cases_of_pairs(pairing, by_name=by_name):
        by_testbed.setdefault(case.testbed, []).append(case)
    for old in pairing.removed:
        testbed = moved.get(old.testbed, old.testbed)
        fate: Fate = "skipped" if (testbed, old.case) in not_run else "removed"
        system = system_now or old.system
        case = CaseFate(old, testbed, system, fate, {**old.facets, **labels.get(system, {}), SYSTEM: system})
        by_testbed.setdefault(testbed, []).append(case)
    return {
        testbed: [replace(case, deselected=True) if id(case.before) in deselected_ids else case for case in cases]
        for testbed, cases in by_testbed.items()
    }


def share_of(text: str, where: str) -> float:
    """Parse a share in 0..1.

    Raises:
        SettingError: the text is not a share.
    """
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise SettingError(f"{where} is {short_repr(text.strip())}; write a share from 0 to 1, such as {MIN_COMPARED}")
    return share


def _cases_of_pairs(pairing: Pairing, *, by_name: bool) -> Iterator[CaseFate]:
    """Yield the baseline's cases that the run has, too."""
    fates: dict[Fate, tuple[Pair, ...]] = {
        "compared": pairing.pairs,
        "changed": pairing.changed,
        "in error": pairing.failed,
    }
    for fate, pairs in fates.items():
        for pair in pairs:
            system = pair.before.system if by_name else pair.after.system
            facets = {**pair.before.facets, **pair.after.labels, SYSTEM: system}
            yield CaseFate(pair.before, pair.after.testbed, system, fate, facets, pair.after)
