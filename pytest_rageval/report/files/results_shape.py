"""Describe the shape of results.json; ``results.schema.json`` is derived from `Results`.

Only type checkers and ``docs/generate.py`` import this module. It describes only objects that have no class of their
own; a field of any other type names the class that encodes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from pytest_rageval.analysis.account.finding import Account
from pytest_rageval.analysis.baseline.regression import AlphaPer, Policy
from pytest_rageval.analysis.decisions.selected_part import PartPolicy
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.analysis.people.trust import Trust
from pytest_rageval.analysis.repeats import Repeats
from pytest_rageval.datasets.labels import Label
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Instance
from pytest_rageval.model.outcome import Outcome
from pytest_rageval.model.storage import Amount, Bounds, Share
from pytest_rageval.report.files.comparison_shape import Baseline, StoredComparison
from pytest_rageval.report.files.figures_shape import StoredGate, StoredMatrix
from pytest_rageval.report.files.sections_shape import Correlation, Deployment, StoredBallots, StoredDialogues
from pytest_rageval.report.run.plan import TestbedPlan
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.run.totals import Total

__all__ = [
    "Dealt",
    "Identity",
    "PartialGate",
    "Results",
    "ResumedRun",
    "RunHead",
    "ShardHead",
    "StoredPlan",
    "UnseenCalls",
]

Positive = Annotated[int, Bounds(1)]
Count = Annotated[int, Bounds(0)]
Texts = tuple[str, ...]


class _Results(TypedDict):
    schema: Literal[1]
    run: RunHead
    testbeds: Mapping[str, TestbedPlan]
    plan: StoredPlan
    instances: Mapping[str, Instance]
    outcomes: tuple[Outcome, ...]
    gates: tuple[StoredGate, ...]
    matrix: StoredMatrix | None
    matrices: tuple[StoredMatrix, ...]
    usage: Calls


class Results(_Results, total=False):
    """One test session: cases, answers, scores and gates.

    Attributes:
        testbeds: by node id of the test function or suite entry
        totals: each metric of each testbed and system; absent in files of older versions
        account: the verdict and its causes in sentences, as every report shows them; absent in files of older versions
        instances: by case id
        matrices: one for each primary metric and system, then the gain from retrieval if the model also answered
            without it
        baseline: the baseline of the comparison; absent without one
        comparison: comparison with the baseline; absent without one, and for a shard
        trust: one for each judge with a required agreement; else absent
        dialogues: one for each testbed and system with conversations; else absent
        ballots: one for each metric that several votes decided; else absent
        differences: for each primary metric and each further system, the difference from the first system, over the
            cases that both scored; else absent
        repeats: one for each testbed and system; absent if no case was repeated
        correlations: each retrieval metric with each answer metric, by testbed and system; absent if no testbed has
            both
        sections: further sections of the summary: name -> rows; absent if there are none
        usage: sums over the session, including calls of cases that never ended; null if a part is unknown
    """

    account: Account
    totals: tuple[Total, ...]
    baseline: Baseline
    comparison: StoredComparison
    trust: Annotated[tuple[Trust, ...], Bounds(items=1)]
    dialogues: Annotated[tuple[StoredDialogues, ...], Bounds(items=1)]
    ballots: Annotated[tuple[StoredBallots, ...], Bounds(items=1)]
    differences: Annotated[tuple[StoredMatrix, ...], Bounds(items=1)]
    repeats: Annotated[tuple[Repeats, ...], Bounds(items=1)]
    deployment: Deployment
    correlations: Annotated[tuple[Correlation, ...], Bounds(items=1)]
    sections: Mapping[str, Annotated[tuple[Mapping[str, Any], ...], Bounds(items=1)]]


class _RunHead(TypedDict):
    id: str
    started: Annotated[str, Bounds(format="date-time")]
    duration_s: Amount
    versions: Mapping[str, str]
    fingerprint: str
    interrupted: bool
    exitstatus: int
    failed: Texts


class RunHead(_RunHead, total=False):
    """The run as a whole.

    Attributes:
        id: name of the folder under .rageval/runs; empty if it could not be created
        versions: versions that decided the scores: Python, packages, the embedding model with its revision if one was
            used, and the words of rag_user_dict
        settings: settings that decided answers and scores, as the user wrote them; prompts as digests, without keys
            and addresses
        fingerprint: sha256 of the data files and the settings; empty if nothing was planned
        exitstatus: exit status of pytest
        failed: node ids of the failed tests, sorted, without gates
        resumed: the resumed run, if cases or answers of it were taken over
        shard: the share of the cases, for a run of one shard, which decides no gate
    """

    settings: Mapping[str, str]
    resumed: ResumedRun
    shard: ShardHead


class ResumedRun(TypedDict):
    """The resumed run.

    Attributes:
        run: name of the run
        cases: number of ended cases
        answers: number of further cases with an answer
        usage: usage of the run, including the runs that it resumed
    """

    run: str
    cases: int
    answers: int
    usage: Calls


class ShardHead(TypedDict):
    """Number of the shard, and number of shards."""

    number: Positive
    of: Positive


class _Plan(TypedDict):
    metrics: Mapping[str, MetricInfo]
    session_gates: Texts
    unmatched_gates: Texts
    unselected: int
    unfinished: Mapping[str, str]
    notes: Texts
    view: MatrixChoice
    part: str
    narrowed: bool
    alpha: float
    inconclusive: Policy
    updates: bool


class StoredPlan(_Plan, total=False):
    """Further settings of the session, needed to write its reports again.

    Attributes:
        unmatched_gates: session gates that no case of a partial run matches
        unselected: number of cases that were not selected
        unfinished: node id of a selected case without an outcome -> key into testbeds
        notes: warnings of the summary
        view: the requested matrix; null means the default
        part: why the run lacks cases of its testbeds, or ""
        narrowed: whether paths were given, so that testbeds may be missing
        alpha: accepted rate of false alarms
        updates: whether the run becomes the baseline; baseline gates then have nothing to compare with
        alpha_per: what alpha applies to: all baseline gates together, or each alone; files without it used each gate
            alone
        min_compared: smallest share of a gate's cases that must be compared with the baseline, or scored
        partial_gates: what happens to a gate with a fixed bound if only part of its cases is selected
        partial: node id of such a gate -> number of selected cases, of all cases, and of uncollected test files that
            may have more; absent if there are none
        deselected: indexes into baseline.cases of cases that the session left out; absent if there are none
        dealt: data that rageval merge needs; only for a shard
        default_system: the built-in system that answered because no fixture and no option named one; absent if none did
    """

    alpha_per: AlphaPer
    min_compared: Share
    partial_gates: PartPolicy
    partial: Mapping[str, PartialGate]
    deselected: tuple[Count, ...]
    dealt: Dealt
    default_system: str


class PartialGate(TypedDict):
    """Numbers of selected cases of a gate, of all its cases, and of uncollected test files with more."""

    selected: Positive
    cases: Positive
    files: int


class _Dealt(TypedDict):
    cases: int
    selection: str
    places: tuple[Count | None, ...]
    identity: Identity


class Dealt(_Dealt, total=False):
    """Data that rageval merge needs in addition to a shard's outcomes.

    Attributes:
        cases: number of cases of all shards together
        selection: digest of these cases
        places: place among all cases of each outcome, then of each unfinished case
        identity: name -> value of each setting that decides answers and scores, as a digest if long or private
        labels: people's labels, if they measure judges
        answers: digest of each outcome's answer, if texts are left out and judges are measured; answers of labels are
            digests too
        least_kappas: judge, or "" for all others -> smallest kappa that lets its scores count
        max_bias: the largest difference from people's mean that a judge may have for a system
        unseen: systems whose model calls a budget or a gate on cost may not see; absent if there are none
    """

    labels: tuple[Label, ...]
    answers: tuple[str | None, ...]
    least_kappas: Mapping[str, float]
    max_bias: Share
    unseen: UnseenCalls


class UnseenCalls(TypedDict):
    """Systems whose model calls a budget or a gate on cost may not see.

    Attributes:
        systems: system -> its name or fixture in the user's words
        budget: whether a budget bounds the session
        notes: the entries of plan.notes that count the answers of this shard
    """

    systems: Mapping[str, str]
    budget: bool
    notes: Texts


class Identity(TypedDict):
    """Settings and systems that decide answers and scores; later versions may add more."""

    settings: Mapping[str, str]
    systems: Mapping[str, str]
