"""Write a run as GitLab's Code Quality report, which a merge request shows.

Source: the format is in "Implement a custom tool" of GitLab's Code Quality documentation, a subset of Code Climate's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from pytest_rageval.analysis.baseline.failure_cause import cause_text
from pytest_rageval.errors import ascii_safe
from pytest_rageval.report.run.gate_results import reason_of
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.text.lines import number

__all__ = ["code_quality_of"]


def code_quality_of(run: Run, choice: MatrixChoice) -> str:
    """Return a run as JSON: an entry for each failed gate, each case in error and each broken case.

    A case is broken if its primary metric was better in the baseline. Entries contain no text of data or answers.

    Args:
        run: the run, its gates evaluated.
        choice: the matrix whose facets the comparison uses.
    """
    entries = [*_gates(run), *_errors(run), *_broken(run, choice)]
    return json.dumps(entries, indent=2) + "\n"


def _gates(run: Run) -> Iterator[dict[str, Any]]:
    first_testbed = next(iter(run.plan.testbeds), "")  # a run does not record the file of a session gate
    for gate in run.gates:
        if gate.result.status == "failed":
            testbed = gate.nodeid.partition("[gate: ")[0]
            reason = reason_of(gate.result, texts=False)
            description = f"gate {gate.result.gate} of {gate.result.scope} failed: {reason}"
            place = _place_of_testbed(run, testbed if testbed in run.plan.testbeds else first_testbed)
            yield _entry("rag-gate", "major", place, description, gate.nodeid)


def _errors(run: Run) -> Iterator[dict[str, Any]]:
    for outcome in run.ordered():
        if outcome.status == "error":
            description = f"{outcome.nodeid} ended in an error: {outcome.error_type}"
            yield _entry("rag-error", "major", _place_of_case(run, outcome.nodeid), description, outcome.nodeid)


def _broken(run: Run, choice: MatrixChoice) -> Iterator[dict[str, Any]]:
    comparison = run.comparison(choice)
    if comparison is None:
        return
    for each in comparison.overall:
        for pair in each.broken if comparison.is_primary(each) else ():
            was, now = (number(side.scores[each.metric]) for side in (pair.before, pair.after))
            change = f"{each.metric} was {was} and is {now}"
            description = f"{pair.after.name} broke: {change}; cause: {cause_text(pair, each.of)}"
            place = _place_of_case(run, pair.after.name)
            yield _entry("rag-broken", "minor", place, description, f"{pair.after.name} {each.metric}")


def _place_of_testbed(run: Run, nodeid: str) -> str:
    """Return the ``file:line`` of a testbed's marker or table, else its file."""
    testbed = run.plan.testbeds.get(nodeid)
    return (testbed.where if testbed else "") or nodeid.partition("::")[0]


def _place_of_case(run: Run, nodeid: str) -> str:
    """Return the ``file:line`` of a case's record, else of its testbed."""
    outcome = run.outcomes.get(nodeid)
    instance = run.instances.get(outcome.case_id) if outcome else None
    record = json.loads(instance) if isinstance(instance, str) else instance
    return (record or {}).get("origin") or _place_of_testbed(run, outcome.testbed if outcome else nodeid)


def _entry(check: str, severity: str, place: str, description: str, identity: str) -> dict[str, Any]:
    """Return an entry; its fingerprint stays the same as long as the problem does.

    Args:
        check: its kind.
        severity: how bad it is, in GitLab's words.
        place: ``file:line``, or a file alone.
        description: the text that people read.
        identity: names the problem, for the fingerprint.
    """
    path, _, line = place.rpartition(":")
    return {
        "description": ascii_safe(description),
        "check_name": check,
        "fingerprint": sha256(f"{check} {identity}".encode("utf-8", "surrogatepass")).hexdigest(),
        "severity": severity,
        "location": {"path": path or place, "lines": {"begin": int(line) if path else 1}},
    }
