"""Encode a run as results.json, from which every report can be written again."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from importlib.resources import files
from typing import Any

from pytest_rageval.analysis.account.finding import Account
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.derived_codec import encoder
from pytest_rageval.report.files.comparison_json import encode_comparison
from pytest_rageval.report.files.gate_json import encode_gate
from pytest_rageval.report.files.matrix_json import encode_matrix
from pytest_rageval.report.files.plan_json import encode_plan, encode_testbed
from pytest_rageval.report.run.account import account_of
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.stored_texts import list_of, mapping_of
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.run.totals import Total, totals_of
from pytest_rageval.report.sections.section import encode_sections
from pytest_rageval.versions import versions

__all__ = ["SCHEMA", "encode_run", "encode_usage", "results_of", "schema", "versions_of"]

SCHEMA = 1
"""Version of results.json that is written and read."""

_FIRST_OPTIONAL = ("dialogues", "trust", "ballots", "differences")
"""Optional keys that come before all other optional keys."""


def results_of(run: Run, run_id: str, finished: datetime, choice: MatrixChoice) -> dict[str, Any]:
    """Return a run in the shape of `schema`, with outcomes and instances as JSON text.

    Args:
        run: the run, its gates evaluated.
        run_id: the name of its folder.
        finished: when it ended.
        choice: the matrix to store under ``matrix``.
    """
    outcomes = run.ordered()
    matrices = [encode_matrix(matrix) for matrix in run.matrices(choice)]
    differences = [encode_matrix(matrix) for matrix in run.differences(choice)]
    optional = {"differences": differences, **encode_sections(run), **dict(encode_comparison(run, choice))}
    return {
        "schema": SCHEMA,
        "run": encode_run(run, run_id, finished),
        "testbeds": {key: encode_testbed(testbed) for key, testbed in run.plan.testbeds.items()},
        "plan": encode_plan(run, choice),
        "account": encoder(Account)(account_of(run)),
        "totals": [encoder(Total)(each) for each in totals_of(run.plan, run.originals())],
        "instances": mapping_of(sorted(run.instances), run.instances),
        "outcomes": list_of([outcome.nodeid for outcome in outcomes], run.records),
        "gates": [encode_gate(gate, texts=run.texts) for gate in run.gates],
        "matrix": matrices[0] if matrices else None,
        "matrices": matrices + [encode_matrix(matrix) for matrix in run.gains(choice)],
        "usage": encode_usage(run.calls()),
    } | {key: optional[key] for key in dict.fromkeys((*_FIRST_OPTIONAL, *optional)) if optional.get(key)}


def encode_run(run: Run, run_id: str, finished: datetime) -> dict[str, Any]:
    """Encode the key ``run`` of results.json: name, start, duration, versions and exit status."""
    shard = run.plan.shard
    return (
        {
            "id": run_id,
            "started": run.started.isoformat(timespec="seconds"),
            "duration_s": round((finished - run.started).total_seconds(), 3),
            "versions": versions_of(run),
            "fingerprint": run.plan.fingerprint,
            "interrupted": run.interrupted,
            "exitstatus": run.exitstatus,
            "failed": list(run.failed),
        }
        | ({"resumed": dict(run.resumed)} if run.resumed else {})
        | ({"settings": run.settings} if run.settings else {})
        | ({"shard": {"number": shard.number, "of": shard.of}} if shard else {})
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of results.json."""
    text = files("pytest_rageval.report").joinpath("results.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def versions_of(run: Run) -> dict[str, str]:
    """Return the versions that decided a run's scores."""
    return versions() | run.versions


def encode_usage(calls: Calls) -> dict[str, Any]:
    """Encode the usage of models; if calls have no reply, add lower bounds of the unknown counts."""
    plain = asdict(calls.exact)
    if not calls.on_their_way:
        del plain["on_their_way"]
        return plain
    at_least = {name: value for name, value in asdict(calls).items() if plain[name] is None and value is not None}
    return plain | {"on_their_way": calls.on_their_way, "at_least": at_least}
