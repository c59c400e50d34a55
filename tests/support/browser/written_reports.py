"""Hand-written results.json for tests: questions to a small town's desk, answered by two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["NOISE", "TOWN", "Row", "case", "failed", "gate", "instance", "outcome", "results"]

Row = dict[str, Any]

TOWN, NOISE = "test_desk.py::test_town", "test_desk.py::test_noise"

METRICS: dict[str, Row] = {
    "accuracy": {"binary": True, "higher_is_better": True, "of": "answer", "downstream": True, "judge": ""},
    "rouge_l": {"binary": False, "higher_is_better": True, "of": "answer", "downstream": True, "judge": ""},
    "fake_rate": {"binary": True, "higher_is_better": False, "of": "answer", "downstream": True, "judge": ""},
}
CALLS = ("calls", "replayed", "attempts", "prompt_tokens", "completion_tokens", "cost_usd", "spent_usd")


def instance(question: str = "When does the last ferry leave?", *slots: Sequence[str], **more: Any) -> Row:
    """Return an instance whose gold answer has these slots, with two passages."""
    passages = {
        "p0": {"text": "The last ferry leaves at 23:15 from the salt quay.", "role": "positive"},
        "n0": {"text": "The first ferry leaves at 5:40.", "role": "negative"},
    }
    gold = [list(slot) for slot in slots or (("23:15",),)]
    return {"question": question, "gold": gold, "history": [], "passages": passages} | more


def outcome(name: str = "q1", system: str = "keeper", testbed: str = TOWN, **more: Any) -> Row:
    """Return an outcome with accuracy 1; ``facets`` are added to the default ones."""
    facets = {"dataset": "desk", "language": "en", "system": system} | more.pop("facets", {})
    setting = ",".join(f"{key}={value}" for key, value in facets.items() if key in ("noise_rate", "repeat"))
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "cost_usd": 0.001, "latency_s": 0.5}
    text = more.pop("text", "It leaves at 23:15.")
    answer = {"text": text, "abstained": None, "ranking": None, "trace": [], "usage": usage} | more.pop("answer", {})
    return {
        "nodeid": f"{testbed}[{'-'.join(filter(None, (name, setting, system)))}]",
        "testbed": testbed,
        "case_id": name,
        "facets": facets,
        "system": system,
        "status": "scored",
        "answer": answer,
        "scores": {"accuracy": {"value": 1.0}},
        "supplied": ["n0", "p0"],
        "error": None,
        "error_type": None,
        "calls": None,
        "data": "",
        "said": "",
        "evidence": None,
    } | more


def case(name: str, system: str, value: float | None, testbed: str = TOWN, **facets: str) -> Row:
    """Return an outcome with a value of accuracy, or without one."""
    score = {"value": None, "reason": "not_applicable"} if value is None else {"value": value}
    text = "It leaves at 23:15." if value else "I do not know."
    return outcome(name, system, testbed, facets=facets, scores={"accuracy": score}, text=text)


def failed(name: str, system: str = "keeper", **more: Any) -> Row:
    """Return an outcome that ended in an error."""
    error = {"error": "the desk is closed\n  desk.py:7: in answer", "error_type": "DeskClosed"}
    return outcome(name, system, status="error", scores={}, **error, **more) | {"answer": None}


def gate(expr: str = "accuracy >= 0.5", status: str = "passed", **more: Any) -> Row:
    """Return a gate of the town's testbed."""
    nothing: Row = {"baseline": None, "p_value": None, "verdict": None, "reason": None, "worst": [], "cells": []}
    return {
        "expr": expr,
        "scope": "town",
        "nodeid": f"{TOWN}[gate: {expr}]",
        "slice": {},
        "status": status,
        "value": 0.75,
        "n": 12,
        "n_errors": 0,
        "ci95": [0.47, 0.91],
    } | nothing | more  # fmt: skip


def results(outcomes: Sequence[Row], instances: Mapping[str, Row] | None = None, **more: Any) -> Row:
    """Return results of these outcomes; ``run`` and ``plan`` in ``more`` change single keys of these."""
    names = dict.fromkeys(each["case_id"] for each in outcomes)
    metrics = list(dict.fromkeys(["accuracy", *(name for each in outcomes for name in each["scores"])]))
    testbeds = {
        nodeid: {
            "name": nodeid.partition("test_")[2].partition("test_")[2],
            "metrics": metrics,
            "gates": [],
            "generated": len(names),
            "asserts": False,
            "notes": [],
            "labelled": False,
        }
        for nodeid in dict.fromkeys(each["testbed"] for each in outcomes)
    }
    run = {
        "id": "20260102T030405",
        "started": "2026-01-02T03:04:05+00:00",
        "duration_s": 61.5,
        "versions": {"python": "3.12.1", "pytest-rageval": "0.1.0"},
        "fingerprint": "sha256:5eed",
        "interrupted": False,
        "exitstatus": 0,
        "failed": [],
    }
    plan = {
        "metrics": {name: METRICS[name] for name in METRICS if name in metrics},
        "session_gates": [],
        "unmatched_gates": [],
        "unselected": 0,
        "unfinished": {},
        "notes": [],
        "part": "",
        "narrowed": False,
        "alpha": 0.05,
        "inconclusive": "warn",
        "updates": False,
        "view": {"metric": None, "rows": None, "cols": None},
    }
    return {
        "schema": 1,
        "run": run | more.pop("run", {}),
        "testbeds": testbeds,
        "plan": plan | more.pop("plan", {}),
        "instances": dict(instances or {name: instance() for name in names}),
        "outcomes": list(outcomes),
        "gates": [],
        "matrix": None,
        "matrices": [],
        "usage": dict.fromkeys(CALLS, 0),
    } | more
