"""Convert a results.json to MLflow runs: one per system, with params, metrics and tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.report.export.mlflow.metrics import metrics_of
from pytest_rageval.report.export.mlflow.names import digest_of, name_part, testbed_names, unused
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.text.lines import counted

__all__ = ["SystemRun", "system_runs"]

LONGEST_VALUE = 500  # of a param or a tag: the limit of older servers


@dataclass(frozen=True, slots=True)
class SystemRun:
    """The data that MLflow stores for one system.

    Attributes:
        name: the system's name.
        params: the settings, and a fingerprint of the data.
        metrics: means over the system's cases and over matrix cells, with their numbers of cases.
        tags: the rageval run and its versions.
    """

    name: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]


def system_runs(results: Mapping[str, Any]) -> list[SystemRun]:
    """Return the MLflow run of each system of a results.json.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: ``results`` does not have the shape of the schema.
    """
    run, choice = run_of(results)
    params, tags = _params(results), _tags(results)
    systems = dict.fromkeys(outcome.system for outcome in run.of_systems())
    return [
        SystemRun(system, params, metrics_of(run, system, choice), {**tags, "rag.system": _short(system)})
        for system in systems
    ]


def _params(results: Mapping[str, Any]) -> dict[str, str]:
    head, testbeds = results["run"], results["testbeds"]
    pairs = [(name_part(name), value) for name, value in head.get("settings", {}).items()]
    pairs.append(("fingerprint", head["fingerprint"]))
    pairs.append(("testbeds", ", ".join(testbed["name"] for testbed in testbeds.values())))
    pairs.append(("gates", ", ".join(results["plan"]["session_gates"])))
    for nodeid, name in testbed_names({nodeid: testbed["name"] for nodeid, testbed in testbeds.items()}).items():
        lists = {key: ", ".join(testbeds[nodeid][key]) for key in ("metrics", "gates")}
        pairs += [(f"{name}.{key}", value) for key, value in (testbeds[nodeid].get("settings", {}) | lists).items()]
    params: dict[str, str] = {}
    for name, value in pairs:
        if value:
            params[unused(name, params)] = _short(value)
    return params


def _tags(results: Mapping[str, Any]) -> dict[str, str]:
    head = results["run"]
    gates = Counter(gate["status"] for gate in results["gates"])
    tags = {
        "rag.run": head["id"],
        "rag.started": head["started"],
        "rag.interrupted": str(head["interrupted"]).lower(),
        "rag.narrowed": ", ".join(_lacking(results["plan"])),
        "rag.gates": ", ".join(f"{n} {status}" for status, n in sorted(gates.items())),
    }
    tags |= {name_part(f"rag.version.{name}"): version for name, version in head["versions"].items()}
    return {name: _short(value) for name, value in tags.items() if value}


def _lacking(plan: Mapping[str, Any]) -> list[str]:
    """Return the reasons why a run is not a whole run of the project."""
    unfinished = len(plan["unfinished"])
    reasons = [plan.get("part", ""), "paths were given" if plan.get("narrowed") else ""]
    return [*filter(None, reasons), *([f"{counted(unfinished, 'case')} not run"] if unfinished else [])]


def _short(value: str) -> str:
    """Return a value; a long one is truncated, with a digest to keep it unique."""
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 12]}... {digest_of(value)}"
