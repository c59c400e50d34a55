"""Convert a results.json to MLflow runs: one per system, with params, metrics and tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_rageval.report.export.mlflow.metrics import metrics_of
from pytest_rageval.report.export.mlflow.names import digest_of, name_part, testbed_names, unused_name
from pytest_rageval.report.files.read_results import run_of
from pytest_rageval.report.text.lines import counted

__all__ = ["SystemRun", "system_runs"]

MAX_VALUE = 500  # characters of a param or a tag: the limit of older servers


@dataclass(frozen=True, slots=True)
class SystemRun:
    """The data that MLflow stores for one system.

    Attributes:
        name: the system's name.
        params: the settings, and a fingerprint of the data.
        metrics: means over the system's cases and over matrix cells, and the numbers of cases behind them.
        tags: name, start, gates and versions of the rageval run.
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
        SystemRun(system, params, metrics_of(run, system, choice), {**tags, "rag.system": _truncate(system)})
        for system in systems
    ]


def _params(results: Mapping[str, Any]) -> dict[str, str]:
    run_head, testbeds = results["run"], results["testbeds"]
    pairs = [(name_part(name), value) for name, value in run_head.get("settings", {}).items()]
    pairs.append(("fingerprint", run_head["fingerprint"]))
    pairs.append(("testbeds", ", ".join(testbed["name"] for testbed in testbeds.values())))
    pairs.append(("gates", ", ".join(results["plan"]["session_gates"])))
    for nodeid, name in testbed_names({nodeid: testbed["name"] for nodeid, testbed in testbeds.items()}).items():
        lists = {key: ", ".join(testbeds[nodeid][key]) for key in ("metrics", "gates")}
        pairs += [(f"{name}.{key}", value) for key, value in (testbeds[nodeid].get("settings", {}) | lists).items()]
    params: dict[str, str] = {}
    for name, value in pairs:
        if value:
            params[unused_name(name, params)] = _truncate(value)
    return params


def _tags(results: Mapping[str, Any]) -> dict[str, str]:
    run_head = results["run"]
    gates = Counter(gate["status"] for gate in results["gates"])
    tags = {
        "rag.run": run_head["id"],
        "rag.started": run_head["started"],
        "rag.interrupted": str(run_head["interrupted"]).lower(),
        "rag.narrowed": ", ".join(_partial_reasons(results["plan"])),
        "rag.gates": ", ".join(f"{n} {status}" for status, n in sorted(gates.items())),
    }
    tags |= {name_part(f"rag.version.{name}"): version for name, version in run_head["versions"].items()}
    return {name: _truncate(value) for name, value in tags.items() if value}


def _partial_reasons(plan: Mapping[str, Any]) -> list[str]:
    """Return the reasons why a run does not have all cases of the project."""
    unfinished = len(plan["unfinished"])
    reasons = [plan.get("part", ""), "paths were given" if plan.get("narrowed") else ""]
    return [*filter(None, reasons), *([f"{counted(unfinished, 'case')} not run"] if unfinished else [])]


def _truncate(value: str) -> str:
    """Return a value; truncate a long one, with a digest to keep it unique."""
    return value if len(value) <= MAX_VALUE else f"{value[: MAX_VALUE - 12]}... {digest_of(value)}"
