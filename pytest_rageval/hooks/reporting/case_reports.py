"""Attach each finished case's outcome to its pytest report, as plain JSON values."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.config.process import is_watched_worker, is_worker, runs_tests
from pytest_rageval.hooks.run.keys import RESULT

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.hooks.run.result import RagResult
    from pytest_rageval.model.outcome import Outcome
    from pytest_rageval.report.export.evaluation_events import EvaluationEvents

__all__ = [
    "EVALUATIONS",
    "PLAN",
    "REPORTED_FACTS",
    "SENT",
    "pytest_collection_finish",
    "pytest_enter_pdb",
    "pytest_report_teststatus",
    "pytest_runtest_makereport",
]

SENT = pytest.StashKey[set[str]]()
"""On the config: case ids whose instance this process has put on a report."""

REPORTED_FACTS = pytest.StashKey[dict[int, dict[str, Any]]]()
"""On the config: the facts that this process has reported about each retriever."""

EVALUATIONS: pytest.StashKey[EvaluationEvents] = pytest.StashKey()
"""On the config: sends this process's scores to OpenTelemetry, from the first case on with ``--rag-otel``."""

PLAN = pytest.StashKey[str]()
"""On a worker's config: the plan, until it is sent."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the outcome to the report that ends a case."""
    report = yield
    if ENTRY in item.stash:
        if call.when == "call" or (call.when == "setup" and not report.passed):
            report.rag = _payload(item, report)  # type: ignore[attr-defined]
        elif call.when == "teardown" and RESULT in item.stash:
            item.stash[RESULT].end()
            del item.stash[RESULT]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collection_finish(session: pytest.Session) -> Generator[None, object, object]:
    """Append the gates after all selection, then make the plan.

    Other plugins see the gates here. A worker appends no gates; the controller reads them from the plan.
    """
    config, collects = session.config, session.config.option.collectonly
    if COLLECTED in config.stash and (collects or runs_tests(config)) and not is_worker(config):
        from pytest_rageval.hooks.reporting.gate_items import append_collected

        append_collected(session, config.stash[COLLECTED])
    result = yield
    if COLLECTED in config.stash and not collects and runs_tests(config):
        _make_plan(session)
    return result


def _make_plan(session: pytest.Session) -> None:
    """Make the plan of what will run, for the recorder here or, from a worker, in the controller."""
    config = session.config
    from pytest_rageval.hooks.prepare.gate_cases import parts_of_gates
    from pytest_rageval.hooks.prepare.plan import plan_of

    collected = config.stash[COLLECTED]
    nodes = {item.nodeid: item.stash[ENTRY] for item in (*collected.taken, *session.items) if ENTRY in item.stash}
    plan = plan_of(collected, nodes)
    plan.partial = parts_of_gates(config, collected, nodes, plan)
    collected.made.clear()
    if is_worker(config):
        config.stash[PLAN] = plan.dumps()
    else:
        from pytest_rageval.hooks.reporting.keys import recorder_of

        recorder_of(config).take_plan(plan)


def pytest_enter_pdb(config: pytest.Config) -> None:
    """Stop asking ahead when a debugger starts."""
    if COLLECTED in config.stash:
        config.stash[COLLECTED].stop_looking_ahead()


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Show a passed case that missed its gate as ``m`` (MISSED); only the gate can fail."""
    payload: dict[str, Any] | None = getattr(report, "rag", None)
    if hasattr(report, "wasxfail") or payload is None:
        return None
    if report.when == "call" and report.passed and payload["missed"]:
        return "missed", "m", ("MISSED", {"yellow": True})
    return None


def _payload(item: pytest.Item, report: pytest.TestReport) -> dict[str, Any]:
    from dataclasses import replace

    from pytest_rageval.analysis.missed import missed
    from pytest_rageval.datasets.source import place_below
    from pytest_rageval.llm.secrets import redacted
    from pytest_rageval.model.codec import encode_instance, encode_outcome

    entry = item.stash[ENTRY]
    result = item.stash.get(RESULT, None)
    outcome = _ended_early(item, entry, report) if result is None else result.outcome
    if result is not None:
        result.is_reported = True
        _send_evaluations(item, entry, result)
    sent = item.config.stash.setdefault(SENT, set())
    instance = None
    if outcome.case_id not in sent:
        sent.add(outcome.case_id)
        origin = place_below(item.config.rootpath, item.config.invocation_params.dir, entry.record.origin)
        instance = redacted(encode_instance(replace(entry.record, origin=origin)))
    primary = next(iter(entry.testbed.metrics.values()))
    is_missed = missed(outcome, primary.name, primary.higher_is_better, entry.testbed.gates)
    return {
        "outcome": redacted(encode_outcome(replace(outcome, missed=is_missed))),
        "instance": instance,
        "recordings": () if result is None else result.recordings,
        "retrievers": _new_retriever_facts(item.config),
        "versions": item.config.stash[COLLECTED].versions,
        "under_way": item.config.stash[COLLECTED].under_way if is_watched_worker(item.config) else None,
        "missed": is_missed,
    }


def _send_evaluations(item: pytest.Item, entry: Entry, result: RagResult) -> None:
    """Send the scores of a case to the user's OpenTelemetry, with ``--rag-otel``."""
    options, outcome = item.config.stash[COLLECTED].options, result.outcome
    if not options.otel or outcome.status == "skipped":
        return
    from pytest_rageval.hooks.run.answering import answering_of
    from pytest_rageval.report.export.evaluation_events import EvaluationEvents, evaluations_of

    traces, testbed = answering_of(item.session).traces, entry.testbed
    events = item.config.stash.get(EVALUATIONS, None)
    if events is None:
        events = item.config.stash[EVALUATIONS] = EvaluationEvents(traces.notes)
        traces.closing.append(events.flush)
    scores = evaluations_of(outcome, testbed.metrics.values(), testbed.gates, texts=options.texts)
    events.send(result.span_context, outcome.facets, scores)


def _new_retriever_facts(config: pytest.Config) -> list[dict[str, Any]]:
    """Return the facts of retrievers that are new or changed since the last report."""
    retrievers = config.stash[COLLECTED].retrievers
    if not retrievers:
        return []
    from pytest_rageval.model.codec import encode_facts
    from pytest_rageval.model.facts import facts_of

    reported, new = config.stash.setdefault(REPORTED_FACTS, {}), []
    for at, retriever in enumerate(retrievers):
        facts = encode_facts(facts_of(retriever))
        if facts and facts != reported.get(at):
            reported[at] = facts
            new.append(facts)
    return new


def _ended_early(item: pytest.Item, entry: Entry, report: pytest.TestReport) -> Outcome:
    """Return the outcome of a case that was not asked: its test was skipped, or its setup failed."""
    from dataclasses import replace

    from pytest_rageval.engine.runner import outcome_of
    from pytest_rageval.engine.task import Task
    from pytest_rageval.errors import CaseError

    case = item.config.stash[COLLECTED].session_case(entry)
    task = Task(item.nodeid, entry.testbed.nodeid, entry.responder.name, case, ())
    if report.skipped:
        return replace(outcome_of(task, error=CaseError("skipped", _reason(report))), status="skipped")
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = report.longreprtext.strip().splitlines() or [""]
    message = next(
        (line[1:].strip() for line in lines if line.startswith("E  ")), lines[-1]
    )  # for example of a missing fixture
    cause = message if crash is None else crash.message.partition("\n")[0]
    return outcome_of(
        task, error=CaseError("setup_error", f"the test's setup failed before the case was asked: {cause}")
    )


def _reason(report: pytest.TestReport) -> str:
    longrepr = report.longrepr
    return str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)
