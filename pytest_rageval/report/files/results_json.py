"""Write results.json, the file from which every report can be drawn again."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from importlib.resources import files
from typing import Any

from pytest_rageval.analysis.deployment import Stage, queries_of_each
from pytest_rageval.analysis.people.vote_agreement import Ballots, Pairs
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.derived_codec import encoder
from pytest_rageval.model.facts import RETRIEVE, retriever_of
from pytest_rageval.report.files.comparison_json import encode_comparison, encode_regression
from pytest_rageval.report.files.matrix_json import cases_of, encode_matrix, encode_units, pair_of
from pytest_rageval.report.files.plan_json import encode_plan, encode_testbed
from pytest_rageval.report.files.sections_json import encode_dialogues, encode_repeats, encode_trust
from pytest_rageval.report.run.gate_results import NamedGate, reason_of
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import Correlated, MatrixChoice
from pytest_rageval.report.run.totals import Total, totals_of
from pytest_rageval.report.run.versions import versions

__all__ = ["SCHEMA", "encode_gate", "encode_run", "encode_usage", "results_of", "schema", "versions_of"]

SCHEMA = 1
"""The supported version of results.json."""


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
    deployment = _encode_deployment(run)
    ballots = [_encode_ballots(each) for each in run.ballots()]
    differences = [encode_matrix(matrix) for matrix in run.differences(choice)]
    repeats = [encode_repeats(each) for each in run.repeats()]
    trust = [encode_trust(each) for each in run.trusts]
    dialogues = [encode_dialogues(each) for each in run.dialogues()]
    correlations = [_encode_correlated(each) for each in run.correlations()]
    return {
        "schema": SCHEMA,
        "run": encode_run(run, run_id, finished),
        "testbeds": {key: encode_testbed(testbed) for key, testbed in run.plan.testbeds.items()},
        "plan": encode_plan(run, choice),
        "totals": [encoder(Total)(each) for each in totals_of(run.plan, outcomes)],
        "instances": {key: run.instances[key] for key in sorted(run.instances)},
        "outcomes": [run.records[outcome.nodeid] for outcome in outcomes],
        "gates": [encode_gate(gate, texts=run.texts) for gate in run.gates],
        "matrix": matrices[0] if matrices else None,
        "matrices": matrices + [encode_matrix(matrix) for matrix in run.gains(choice)],
        "usage": encode_usage(run.calls()),
    } | {
        key: value
        for key, value in (
            ("dialogues", dialogues),
            ("trust", trust),
            ("ballots", ballots),
            ("differences", differences),
            ("repeats", repeats),
            ("correlations", correlations),
            ("deployment", deployment),
            *encode_comparison(run, choice),
        )
        if value
    }


def encode_run(run: Run, run_id: str, finished: datetime) -> dict[str, Any]:
    """Return the key ``run`` of results.json: the run as a whole."""
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


def encode_gate(gate: NamedGate, *, texts: bool) -> dict[str, Any]:
    """Return a gate as results.json has it; without texts its reason only names the kind."""
    result = gate.result
    return {
        "expr": str(result.gate),
        "scope": result.scope,
        "nodeid": gate.nodeid,
        "slice": dict(result.slice or {}),
        "status": result.status,
        "value": result.value,
        "n": result.n,
        "n_errors": result.n_errors,
        "ci95": pair_of(result.ci95),
        **encode_regression(result.regression),
        "reason": reason_of(result, texts=texts) or None,
        "worst": [{"nodeid": nodeid, "value": value} for nodeid, value in result.worst],
        "cells": [
            {"slice": dict(c.slice or {}), "status": c.status, "value": c.value, "n": c.n, "ci95": pair_of(c.ci95)}
            | cases_of(c.n_cases)
            | encode_units(c.n_units, c.unit)
            | ({"reason": c.reason} if c.status == "skipped" or c.not_comparable else {})
            | ({} if c.regression is None else encode_regression(c.regression))
            for c in result.cells
        ],
        **cases_of(result.n_cases),
        **encode_units(result.n_units, result.unit),
    }


def encode_usage(calls: Calls) -> dict[str, Any]:
    """Return the usage of models; if calls were cut off, with lower bounds of the unknown counts."""
    plain = asdict(calls.exact)
    if not calls.on_their_way:
        del plain["on_their_way"]
        return plain
    at_least = {name: value for name, value in asdict(calls).items() if plain[name] is None and value is not None}
    return plain | {"on_their_way": calls.on_their_way, "at_least": at_least}


def _encode_ballots(ballots: Ballots) -> dict[str, Any]:
    return {
        "metric": ballots.metric,
        "models": list(ballots.models),
        "votes": ballots.n_votes,
        "unread": ballots.n_unread,
        "answers": ballots.n_answers,
        "split": ballots.split,
        "two_judges": _encode_pairs(ballots.judges),
        "asked_again": _encode_pairs(ballots.repeats),
        "swapped": _encode_pairs(ballots.swapped),
    }


def _encode_pairs(pairs: Pairs) -> dict[str, Any]:
    return {"share": pairs.share, "n": pairs.n}


def _encode_deployment(run: Run) -> dict[str, Any]:
    """Return the times of retrievers and stages; empty if no system retrieved and no retriever reported facts."""
    stages, queries = run.times()
    if not run.retrievers and all(stage.stage != RETRIEVE for stage in stages):
        return {}
    return {
        "retrievers": [
            {"name": retriever_of(facts), "facts": dict(facts), "queries": _encode_times(times)}
            for facts, times in zip(run.retrievers, queries_of_each(run.retrievers, queries), strict=True)
        ],
        "stages": [{"system": stage.name, "stage": stage.stage, "seconds": _encode_times(stage)} for stage in stages],
    }


def _encode_times(stage: Stage | None) -> dict[str, Any] | None:
    return None if stage is None else {"n": stage.n, "p50_s": stage.p50_s, "p95_s": stage.p95_s}


def _encode_correlated(each: Correlated) -> dict[str, Any]:
    correlation = each.correlation
    return {
        "testbed": each.testbed,
        "system": each.system,
        "retrieval": each.retrieval,
        "downstream": each.downstream,
        "n": correlation.n,
        "tau_b": {"value": correlation.tau_b, "ci95": pair_of(correlation.tau_b_ci95)},
        "rho": {"value": correlation.rho, "ci95": pair_of(correlation.rho_ci95)},
    } | ({"reason": correlation.reason} if correlation.reason else {})
