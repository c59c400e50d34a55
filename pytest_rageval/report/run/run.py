"""A run in the reporting process: its plan, its outcomes and everything computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from pytest_rageval.analysis.baseline.comparison import Comparison, compare
from pytest_rageval.analysis.baseline.pairing import Pairing, pair_up
from pytest_rageval.analysis.baseline.regression import GateBaseline
from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.analysis.deployment import Stage, merge_facts, retrieval_stages, stages_of
from pytest_rageval.analysis.matrix import Matrix
from pytest_rageval.analysis.people.bias import JudgeBias
from pytest_rageval.analysis.people.local_use import LocalUse
from pytest_rageval.analysis.people.trust import Trust
from pytest_rageval.analysis.repeats import Repeats
from pytest_rageval.analysis.usage import UNMEASURED, calls_of, is_unmeasured
from pytest_rageval.analysis.variants import STABLE, originals, stable_scores
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import decode_outcome, encode_outcome, without_texts
from pytest_rageval.model.facets import RELATION, VARIANT
from pytest_rageval.model.facts import Facts
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.plain import Plain
from pytest_rageval.report.run import summary_data
from pytest_rageval.report.run.gate_results import NamedGate, evaluate
from pytest_rageval.report.run.json_text import JsonText, from_json, to_json
from pytest_rageval.report.run.judge_validation import validate_judges
from pytest_rageval.report.run.old_answers import AnswerSource, OldAnswers, find_old_answers, with_old_answers
from pytest_rageval.report.run.plan import Plan
from pytest_rageval.report.run.snapshots import baseline_for_gates, reindex_cases, select_testbeds, snapshot_of_outcomes
from pytest_rageval.report.run.summary_data import MatrixChoice, MetricCorrelation

__all__ = ["Run"]

T = TypeVar("T")

_Draw = Callable[[Plan, Sequence[Outcome], MatrixChoice], list[Matrix]]


@dataclass(slots=True)
class Run:
    """All data of a report. If a case runs several times, its last outcome counts.

    Attributes:
        started: when the session began, with its time zone.
        plan: the session's plan.
        outcomes: node id -> outcome.
        records: node id -> the outcome as encoded in results.json.
        instances: case id -> the instance as encoded in results.json.
        gates: the gates' results; empty until `evaluate_gates`.
        interrupted: whether the user stopped the session.
        unclaimed: sum of the model calls that belong to no outcome, such as look-ahead calls for cases that never ran.
        trusts: agreement of judges with people, for judges with a required agreement.
        biases: differences of judges from people, by system; empty without labels.
        local_uses: number of answers that each local judge decided or passed on.
        retrievers: facts that the session's retrievers report, such as the size of the index.
        versions: versions that decided scores, other than those of packages: the embedding model and its revision.
        settings: the settings that decided answers and scores.
        stored_times: stages of systems and queries of retrievers in a run read from results.json, whose outcomes may
            lack them; None in a session.
        baseline: the run to compare with, or None.
        source: the answers of the run to compare with; empty in a run read from results.json, whose outcomes have them.
        failed: node ids of the failed tests, sorted, without gates.
        exitstatus: pytest's exit status.
        resumed_note: sentence of the summary on the cases taken over from a resumed run; "" if none were.
        resumed: name of the resumed run and the cases taken over, as encoded in results.json.
        changed_code: files of the user's own code that changed after the resumed cases ended.
        texts: whether the reports contain texts of the data and the answers.
    """

    started: datetime
    plan: Plan = field(default_factory=Plan)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    records: MutableMapping[str, JsonText | Plain] = field(default_factory=dict)
    instances: MutableMapping[str, JsonText | Plain] = field(default_factory=dict)
    gates: list[NamedGate] = field(default_factory=list)
    interrupted: bool = False
    unclaimed: Calls = field(default_factory=Calls)
    trusts: list[Trust] = field(default_factory=list)
    biases: list[JudgeBias] = field(default_factory=list)
    local_uses: list[LocalUse] = field(default_factory=list)
    retrievers: list[Facts] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    stored_times: tuple[list[Stage], dict[str, Stage]] | None = None
    baseline: Snapshot | None = None
    source: AnswerSource = field(default_factory=AnswerSource)
    failed: tuple[str, ...] = ()
    exitstatus: int = 0
    resumed_note: str = ""
    resumed: Mapping[str, Any] = field(default_factory=dict)
    changed_code: tuple[str, ...] = ()
    texts: bool = True
    _comparisons: dict[MatrixChoice, Comparison] = field(default_factory=dict, init=False, repr=False)
    _ordered: tuple[dict[str, Outcome], list[Outcome]] | None = field(default=None, init=False, repr=False)
    _computed: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _matrices: dict[tuple[_Draw, MatrixChoice], list[Matrix]] = field(default_factory=dict, init=False, repr=False)

    def take(
        self, encoded: dict[str, Any], instance: JsonText | dict[str, Any] | None, text: str | None = None
    ) -> dict[str, Any]:
        """Store an encoded outcome and its instance, if given; return the outcome as the reports have it.

        Model calls of an earlier attempt of the same case become unclaimed. ``text`` is the outcome as JSON, if known.
        """
        nodeid = encoded["nodeid"]
        earlier = self.outcomes.get(nodeid)
        if earlier is not None and earlier.calls is not None:
            self.unclaimed += earlier.calls
        self.outcomes[nodeid] = self.plan.with_cluster(decode_outcome(encoded, self.plan.facets_of(nodeid)))
        self._changed()
        reported = encoded if self.texts else without_texts(encoded)
        self.records[nodeid] = to_json(reported) if text is None or not self.texts else JsonText(text)
        if instance is not None and encoded["case_id"] not in self.instances:
            self.instances[encoded["case_id"]] = to_json(instance if self.texts else without_texts(from_json(instance)))
        return reported

    def take_retrievers(self, reports: Iterable[Facts]) -> None:
        """Store the facts that a process reports of its retrievers."""
        for facts in reports:
            self.retrievers = merge_facts(self.retrievers, facts)

    def ordered(self) -> list[Outcome]:
        """Return the outcomes in data order."""
        outcomes, known = self._ordered or (None, [])
        if outcomes is not self.outcomes or len(known) != len(self.outcomes):
            known = self.plan.in_order(self.outcomes)
            self._ordered = self.outcomes, known
        return list(known)

    def originals(self) -> list[Outcome]:
        """Return the outcomes of original cases, without variants, in data order."""
        return originals(self.ordered())

    def of_systems(self, *, variants: bool = False) -> list[Outcome]:
        """Return the outcomes of original cases and, if requested, of variants, in data order.

        Testbeds that only measure judges are left out.
        """
        judge_testbeds = self.plan.judge_testbeds
        outcomes = self.ordered() if variants else self.originals()
        return [outcome for outcome in outcomes if outcome.testbed not in judge_testbeds]

    def unfinished(self) -> Counter[str]:
        """Return testbed -> number of selected cases without an outcome."""
        return Counter(planned[1] for nodeid, planned in self.plan.cases.items() if nodeid not in self.outcomes)

    def ran_all(self) -> bool:
        """Return whether every case of its testbeds ran; a baseline case that the run lacks was then removed."""
        skipped = any(outcome.status == "skipped" for outcome in self.outcomes.values())
        return not (self.plan.part or self.interrupted or skipped or self.unfinished())

    def weigh_judges(self) -> None:
        """Compare the judges with people's labels, and withhold scores of untrusted ones; see `validate_judges`.

        A shard has only part of the labelled answers, so `rageval merge` does it for all shards.
        """
        if self.plan.shard is not None:
            return
        validation = validate_judges(self.plan, self.ordered())
        self.trusts, self.biases, self.local_uses = validation.trusts, validation.biases, validation.local_uses
        self._rescore(validation.outcomes)

    def compare_variants(self) -> None:
        """Score ``stable`` of each variant against its original; the two may have run in different processes."""
        scores = stable_scores(list(self.outcomes.values()), self.primary)
        compared = ((self.outcomes[nodeid], score) for nodeid, score in scores.items())
        self._rescore([replace(each, scores={**each.scores, STABLE: score}) for each, score in compared])

    def add_old_answers(self) -> None:
        """Add the old answer to each outcome whose answer changed, so that results.json stores it."""
        if (old := self.old_answers) is not None and self.source.answers:
            self._rescore(with_old_answers(self.outcomes.values(), old))
            self._computed["old"] = old

    @property
    def old_answers(self) -> OldAnswers | None:
        """The old answers of the cases; None without a baseline, or if reports contain no texts."""
        earlier = self.narrowed_baseline()
        if earlier is None or not self.texts:
            return None
        return self.once("old", lambda run: find_old_answers(run.pairing(earlier), run.outcomes, run.source))

    def pairing(self, earlier: Snapshot) -> Pairing:
        """Return the pairs of the same case in a baseline and in the run; a known comparison already has them."""
        known = next(iter(self._comparisons.values()), None)
        return pair_up(earlier.cases, self.snapshot().cases) if known is None else known.pairing

    @property
    def primary(self) -> dict[str, str]:
        """Testbed -> its primary metric."""
        return {nodeid: testbed.primary for nodeid, testbed in self.plan.testbeds.items()}

    def evaluate_gates(self) -> list[NamedGate]:
        """Evaluate every gate of the plan, store the results, and return them."""
        earlier = self.narrowed_baseline()
        comparison = None if earlier is None else self._baseline_for_gates(earlier)
        self.gates = evaluate(
            self.plan, self.ordered(), self.unfinished(), comparison, self.biases, interrupted=self.interrupted
        )
        return self.gates

    def snapshot(self) -> Snapshot:
        """Return the run's measures for a comparison, without testbeds that only measure judges."""
        started = self.started.isoformat(timespec="seconds")
        return snapshot_of_outcomes(self.plan, self.outcomes.values(), self.plan.judge_testbeds, started)

    def narrowed_baseline(self) -> Snapshot | None:
        """Return the baseline, reduced to the run's testbeds if paths narrowed the run; None without a baseline."""
        if self.baseline is None or not self.plan.narrowed:
            return self.baseline
        return select_testbeds(self.baseline, self.plan.testbeds)

    def deselected(self) -> tuple[int, ...]:
        """Return the cases that the session deselected, as indexes into `narrowed_baseline`."""
        return reindex_cases(self.plan.deselected, self.baseline, self.narrowed_baseline())

    def comparison(self, choice: MatrixChoice) -> Comparison | None:
        """Return the comparison with the baseline, with cells by the chosen facets; None for a shard."""
        earlier = self.narrowed_baseline()
        if earlier is not None and self.plan.shard is None and choice not in self._comparisons:
            axes = choice.rows, choice.cols
            whole, alpha = self.ran_all(), self.plan.alpha
            comparison = compare(earlier, self.snapshot(), axes, alpha=alpha, whole=whole, all_cells=False)
            has_all_testbeds = self.baseline is None or len(earlier.testbeds) == len(self.baseline.testbeds)
            self._comparisons[choice] = replace(comparison, whole=comparison.whole and has_all_testbeds)
        return self._comparisons.get(choice)

    def matrices(self, choice: MatrixChoice) -> list[Matrix]:
        """Return the chosen matrix for each system, or one for each primary metric if no metric is chosen."""
        return self._draw(summary_data.matrices, choice)

    def differences(self, choice: MatrixChoice) -> list[Matrix]:
        """Return matrices of the differences of each further system from the first, case by case."""
        return self._draw(summary_data.differences, choice)

    def gains(self, choice: MatrixChoice) -> list[Matrix]:
        """Return the gain from retrieval for each system that also answered without it."""
        return self._draw(summary_data.gains, choice)

    def repeats(self) -> list[Repeats]:
        """Return the statistics of repeats, for each testbed and system with repeated cases."""
        return summary_data.repeats(self.plan, self.originals())

    def times(self) -> tuple[list[Stage], dict[str, Stage]]:
        """Return the stages of each system, and the queries of each retriever by its name."""
        outcomes = self.ordered()
        return self.stored_times or (stages_of(outcomes), retrieval_stages(outcomes))

    def correlations(self) -> list[MetricCorrelation]:
        """Return the correlations between retrieval metrics and answer metrics."""
        return self.once("correlations", lambda run: summary_data.correlations(run.plan, run.originals()))

    def once(self, name: str, compute: Callable[[Run], T]) -> T:
        """Return ``compute(run)``, computed once and cached as ``name``, because several reports show it."""
        if name not in self._computed:
            self._computed[name] = compute(self)
        value: T = self._computed[name]
        return value

    def calls(self) -> Calls:
        """Return the sum of all model calls; its usage is unknown if the calls of a system were not seen."""
        total, direct = calls_of(self.ordered(), self.unclaimed), self.plan.unseen.direct
        is_unknown = not total.cost_usd and any(
            is_unmeasured(each) for each in self.outcomes.values() if each.system in direct
        )
        return total + UNMEASURED if is_unknown else total

    def _baseline_for_gates(self, earlier: Snapshot) -> GateBaseline:
        """Return the baseline as the gates of the run need it."""
        skipped = [outcome for outcome in self.outcomes.values() if outcome.status == "skipped"]
        return baseline_for_gates(earlier, self.snapshot(), self.plan, self.deselected(), skipped)

    def _draw(self, draw: _Draw, choice: MatrixChoice) -> list[Matrix]:
        """Return matrices, computed once because several reports show them."""
        if (draw, choice) not in self._matrices:
            over_variants = {RELATION, VARIANT}.intersection((choice.rows, choice.cols))
            self._matrices[draw, choice] = draw(self.plan, self.of_systems(variants=bool(over_variants)), choice)
        return self._matrices[draw, choice]

    def _rescore(self, outcomes: Iterable[Outcome]) -> None:
        """Store outcomes with changed scores."""
        for outcome in outcomes:
            if outcome != self.outcomes[outcome.nodeid]:
                encoded = encode_outcome(outcome)
                self.outcomes[outcome.nodeid] = outcome
                self.records[outcome.nodeid] = to_json(encoded if self.texts else without_texts(encoded))
        self._changed()

    def _changed(self) -> None:
        """Drop cached values, because the outcomes changed."""
        self._ordered = None
        self._computed.clear()
        self._matrices.clear()
        self._comparisons.clear()
