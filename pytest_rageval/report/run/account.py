"""Compute the account of a run: the verdict and causes that the last block prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pytest_rageval.analysis.account.account import AccountInput, findings
from pytest_rageval.analysis.account.finding import Account, Finding
from pytest_rageval.analysis.account.losses import JudgedGate, Names
from pytest_rageval.analysis.baseline.snapshot import Snapshot
from pytest_rageval.analysis.clusters import has_repeats
from pytest_rageval.analysis.decisions.selected_part import is_not_decided
from pytest_rageval.analysis.decisions.verdicts import SESSION
from pytest_rageval.analysis.gates import PSEUDO_METRICS, parse_gate
from pytest_rageval.report.run.gate_results import NamedGate, covers, session_node, testbed_node
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.run.verdict import RunVerdict, verdict_of
from pytest_rageval.report.text.lines import counted

__all__ = ["account_against", "account_of", "covered_testbeds", "run_verdict"]


def account_of(run: Run) -> Account:
    """Return the account of a run whose gates are evaluated.

    The findings are computed once; the verdict is computed anew, because the exit status changes if a report cannot be
    written.
    """
    run_findings = run.once("findings", lambda run: findings(_evidence(run)))
    verdict = run_verdict(run)
    counts = _counts_text(run_findings, run)
    return Account(f"{verdict.text} - {counts}" if counts else verdict.text, verdict.kind, run_findings)


def account_against(run: Run, earlier: Snapshot, alpha: float) -> Account:
    """Return the account of a stored run against another run; evaluate its gates anew.

    Args:
        run: the later run.
        earlier: the measures of the earlier run.
        alpha: the accepted rate of false alarms.
    """
    plan = replace(run.plan, alpha=alpha, deselected=(), updates=False)  # these refer to its own baseline
    compared = replace(run, plan=plan, baseline=earlier, exitstatus=0)
    compared.evaluate_gates()
    return account_of(compared)


def run_verdict(run: Run) -> RunVerdict:
    """Return the verdict of a run's gates and tests, without causes.

    Cases in error decide it only if no gate and no other test failed; the account counts them in any case.
    """
    results = [gate.result for gate in run.gates]
    errors = {nodeid for nodeid, outcome in run.outcomes.items() if outcome.status == "error"}
    tests = len({*run.failed} - errors)
    failed = tests or any(result.status == "failed" for result in results)
    return verdict_of(
        Counter(result.status for result in results),
        inconclusive=sum(bool(result.undecided) for result in results),
        not_decided=sum(is_not_decided(result.status, result.reason) for result in results),
        not_comparable=sum(result.status == "failed" and result.not_comparable for result in results),
        tests=tests,
        errors=0 if failed else len(errors),
        cases=len(run.outcomes),
        interrupted=run.interrupted,
        shard=str(run.plan.shard) if run.plan.shard else "",
        exitstatus=run.exitstatus,
    )


def _evidence(run: Run) -> AccountInput:
    of_systems = run.of_systems()
    systems = {outcome.system for outcome in of_systems}
    return AccountInput(
        comparison=run.comparison(MatrixChoice()),
        gates=[JudgedGate(each.result, covered_testbeds(run, each)) for each in run.gates],
        outcomes=of_systems,
        errors=run.ordered(),
        deciding_metrics=_metrics_with_gates(run),
        metrics=run.plan.metrics,
        names=Names({nodeid: each.name for nodeid, each in run.plan.testbeds.items()}, len(systems) > 1),
        alpha=run.plan.alpha,
        texts=run.texts,
    )


def covered_testbeds(run: Run, gate: NamedGate) -> tuple[str, ...]:
    """Return the node ids of the testbeds that a gate covers."""
    if gate.result.scope == SESSION and gate.nodeid == session_node(gate.result.gate):
        return tuple(nodeid for nodeid in run.plan.testbeds if covers(run.plan, gate.result.gate, nodeid))
    return tuple(
        nodeid
        for nodeid, testbed in run.plan.testbeds.items()
        if any(gate.nodeid == testbed_node(nodeid, text) for text in testbed.gates)
    )


def _metrics_with_gates(run: Run) -> Mapping[str, tuple[str, ...]]:
    """Return node id of a testbed -> its primary metric and its metrics with a gate."""
    session = [parse_gate(text).metric for text in run.plan.session_gates]
    metrics_by_testbed = {}
    for nodeid, testbed in run.plan.testbeds.items():
        if nodeid not in run.plan.judge_testbeds:
            gated = {*session, *(parse_gate(text).metric for text in testbed.gates)} - {*PSEUDO_METRICS}
            metrics = (metric for metric in testbed.metrics if metric == testbed.primary or metric in gated)
            metrics_by_testbed[nodeid] = tuple(metrics)
    return metrics_by_testbed


def _counts_text(run_findings: tuple[Finding, ...], run: Run) -> str:
    """Return the numbers of errors, broken and missed cases and causes, or else of fixed cases.

    With repeats, it counts the runs that missed instead of the cases, because each repeat of a case can miss.
    """
    account = Account("", "open", run_findings)
    unit = {"missed": "run" if has_repeats(list(run.outcomes.values())) else "case"}
    parts = []
    for kind, verb in (("errors", "error"), ("drop", "broke"), ("missed", "missed")):
        cases = {case for each in run_findings if each.kind == kind for case in each.cases}
        if kind == "errors" and cases:
            parts.append(counted(len(cases), "error"))
        elif cases:
            parts.append(f"{counted(len(cases), unit.get(kind, 'case'))} {verb}")
    if account.causes:
        return ", ".join([*parts, counted(len(account.causes), "cause")])
    fixed = {case for each in run_findings if each.kind == "improvement" for case in each.cases}
    return f"{counted(len(fixed), 'case')} fixed" if fixed else ""
