"""Build the payload of a pytest report, which carries a case to the main process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_rageval.analysis.account.sentences import case_sentence
from pytest_rageval.analysis.misses import is_miss
from pytest_rageval.datasets.source import place_below
from pytest_rageval.hooks.collect.keys import COLLECTED, ENTRY
from pytest_rageval.hooks.config.process import is_watched_worker, is_worker
from pytest_rageval.hooks.run.keys import RESULTS
from pytest_rageval.llm.secrets import redact_with_json, to_redacted_json
from pytest_rageval.model.codec import encode_instance, encode_outcome

if TYPE_CHECKING:
    from pytest_rageval.hooks.collect.testbed import Entry
    from pytest_rageval.hooks.run.result import RagResult
    from pytest_rageval.model.case import Instance
    from pytest_rageval.model.outcome import Outcome
    from pytest_rageval.report.export.evaluation_events import EvaluationEvents

__all__ = ["Payloads", "payloads_of"]


class Payloads:
    """Builds the payloads of one process.

    Args:
        config: the configuration of pytest.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._collected = config.stash[COLLECTED]
        self._folders = config.rootpath, config.invocation_params.dir
        self._is_worker = is_worker(config)
        self._is_watched = is_watched_worker(config)
        self._results = config.stash.setdefault(RESULTS, {})
        self._sent_instances: set[str] = set()  # case ids
        self._sent_facts: dict[int, dict[str, Any]] = {}  # index of a retriever -> its facts
        self._events: EvaluationEvents | None = None

    def build(self, item: pytest.Item, report: pytest.TestReport) -> dict[str, Any]:
        """Return the payload of the report that ends a case.

        Its values are builtins:

        - ``text``: the outcome as a line of JSON with secrets masked; the main process stores it unchanged.
        - ``outcome``: the same outcome as a dict, only if the report stays in this process.
        - ``instance``: the record as JSON, only with the first outcome of its case; else None.
        - ``recordings``: keys of the recordings that the case used.
        - ``retrievers``: new or changed facts of retrievers.
        - ``versions``: name -> version of what decides scores.
        - ``under_way``: the answers, calls and cost in progress, for the status line.
        - ``missed``: why the case missed its gate; "" if it did not.
        """
        entry = item.stash[ENTRY]
        result = self._results.get(item)
        outcome = self._unasked_outcome(item, entry, report) if result is None else result.outcome
        if result is not None:
            result.is_reported = True
            if self._collected.options.otel and outcome.status != "skipped":
                self._send_evaluations(item, entry, result)
        primary = next(iter(entry.testbed.metrics.values()))
        is_missed = is_miss(outcome, primary.name, primary.higher_is_better, entry.testbed.gates)
        encoded = encode_outcome(outcome)
        if is_missed:
            encoded["missed"] = True
        encoded, text = redact_with_json(encoded)
        payload = {
            "text": text,
            "instance": self._instance(outcome.case_id, entry.record),
            "recordings": () if result is None else result.recordings,
            "retrievers": self._new_facts() if self._collected.retrievers else (),
            "versions": self._collected.versions,
            "under_way": self._collected.under_way if self._is_watched else None,
            "missed": case_sentence(outcome, primary.name, entry.testbed.gates) if is_missed else "",
        }
        return payload if self._is_worker else payload | {"outcome": encoded}

    def _instance(self, case_id: str, record: Instance) -> str | None:
        """Return a record as JSON; None if this process has already sent it."""
        if case_id in self._sent_instances:
            return None
        self._sent_instances.add(case_id)
        plain = encode_instance(record)
        if origin := place_below(*self._folders, record.origin):
            plain["origin"] = origin
        else:
            plain.pop("origin", None)
        return to_redacted_json(plain)

    def _send_evaluations(self, item: pytest.Item, entry: Entry, result: RagResult) -> None:
        """Send the scores of a case to the user's OpenTelemetry exporter (``--rag-otel``)."""
        from pytest_rageval.hooks.run.answering import answering_of
        from pytest_rageval.report.export.evaluation_events import EvaluationEvents, evaluations_of

        traces, testbed, outcome = answering_of(item.session).traces, entry.testbed, result.outcome
        if self._events is None:
            self._events = EvaluationEvents(traces.notes)
            traces.closing.append(self._events.flush)
        scores = evaluations_of(outcome, testbed.metrics.values(), testbed.gates, texts=self._collected.options.texts)
        self._events.send(result.span_context, outcome.facets, scores)

    def _new_facts(self) -> list[dict[str, Any]]:
        """Return the facts of the retrievers whose facts are new or changed since the last report."""
        from pytest_rageval.model.codec import encode_facts
        from pytest_rageval.model.facts import facts_of

        new = []
        for at, retriever in enumerate(self._collected.retrievers):
            facts = encode_facts(facts_of(retriever))
            if facts and facts != self._sent_facts.get(at):
                self._sent_facts[at] = facts
                new.append(facts)
        return new

    def _unasked_outcome(self, item: pytest.Item, entry: Entry, report: pytest.TestReport) -> Outcome:
        """Return the outcome of a case that was not asked: its test was skipped, or its setup failed."""
        from pytest_rageval.engine.runner import outcome_of
        from pytest_rageval.engine.task import Task
        from pytest_rageval.errors import CaseError

        case = self._collected.session_case(entry)
        task = Task(item.nodeid, entry.testbed.nodeid, entry.responder.name, case, ())
        if report.skipped:
            return replace(outcome_of(task, error=CaseError("skipped", _reason(report))), status="skipped")
        crash = getattr(report.longrepr, "reprcrash", None)
        lines = report.longreprtext.strip().splitlines() or [""]
        # a missing fixture, for example, has no crash but a line with E
        message = next((line[1:].strip() for line in lines if line.startswith("E  ")), lines[-1])
        cause = message if crash is None else crash.message.partition("\n")[0]
        problem = f"the test's setup failed before the case was asked: {cause}"
        return outcome_of(task, error=CaseError("setup_error", problem))


def payloads_of(config: pytest.Config) -> Payloads:
    """Return this process's `Payloads`; the first case that ends creates it."""
    if _PAYLOADS not in config.stash:
        config.stash[_PAYLOADS] = Payloads(config)
    return config.stash[_PAYLOADS]


_PAYLOADS: pytest.StashKey[Payloads] = pytest.StashKey()


def _reason(report: pytest.TestReport) -> str:
    longrepr = report.longrepr
    return str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)
