"""A results.json as runs of MLflow: one a system, with params, metrics and tags."""

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

LONGEST_VALUE = 500  # of a param or a tag, as older servers take them


@dataclass(frozen=True, slots=True)
class SystemRun:
    """What MLflow is told of one system.

    Attributes:
        name: the system's.
        params: the settings, and what the data were.
        metrics: means over the system's cases, by name and by cell of the matrices, and on how many they are.
        tags: which run of ours it was, and what it ran on.
    """

    name: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]


def system_runs(results: Mapping[str, Any]) -> list[SystemRun]:
    """Return what MLflow is told of each system of a results.json.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: ``results`` is not in the shape that the schema describes.
    """
    run, choice = run_of(results)
    params, tags = _params(results), _tags(results)
    systems = dict.fromkeys(outcome.system for outcome in run.of_systems())
    return [
        SystemRun(system, params, metrics_of(run, system, choice), {**tags, "rag.system": _short(system)})
        for system in systems
    ]


def _params(results: Mapping[str, Any]) -> dict[str, str]:
    told, testbeds = results["run"], results["testbeds"]
    pairs = [(name_part(name), value) for name, value in told.get("settings", {}).items()]
    pairs.append(("fingerprint", told["fingerprint"]))
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
    told = results["run"]
    gates = Counter(gate["status"] for gate in results["gates"])
    tags = {
        "rag.run": told["id"],
        "rag.started": told["started"],
        "rag.interrupted": str(told["interrupted"]).lower(),
        "rag.narrowed": ", ".join(_lacking(results["plan"])),
        "rag.gates": ", ".join(f"{n} {status}" for status, n in sorted(gates.items())),
    }
    tags |= {name_part(f"rag.version.{name}"): version for name, version in told["versions"].items()}
    return {name: _short(value) for name, value in tags.items() if value}


def _lacking(plan: Mapping[str, Any]) -> list[str]:
    """Return how a run was no whole run of the project."""
    unfinished = len(plan["unfinished"])
    told = [plan.get("part", ""), "paths were given" if plan.get("narrowed") else ""]
    return [*filter(None, told), *([f"{counted(unfinished, 'case')} not run"] if unfinished else [])]


def _short(value: str) -> str:
    """Return a value; a long one is cut, with a digest that tells it from others."""
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 12]}... {digest_of(value)}"
