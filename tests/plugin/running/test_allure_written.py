"""Allure's results show each gate as a test, failed if the gate fails, in little space."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.projects.rag_project import RIGHT, WRONG, Project, cases

pytest.importorskip("allure_pytest")

ALLURE = ("-p", "allure_pytest.plugin")
"""Our own `addopts` turn the plugin off for the runs inside tests."""

GATES = ["accuracy >= 0.5", "accuracy >= 0.9", "n >= 99"]


def results(project: Project) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in (project.path / "allure").glob("*-result.json")]


def test_gates_are_tests_in_allure(project: Project) -> None:
    long = "a long text " * 2000
    project.says([{**row, "note": long} for row in cases(*[RIGHT] * 8, WRONG, WRONG)], f"gates={GATES!r}")
    assert project.run(*ALLURE, "--alluredir", "allure").status == 1
    results_by_name = {result["name"]: result for result in results(project)}
    ends = {name: result["status"] for name, result in results_by_name.items() if "gate: " in name}
    assert ends == {
        f"test_it[gate: {gate}]": end for gate, end in zip(GATES, ["passed", "failed", "failed"], strict=True)
    }
    assert results_by_name["test_it[gate: accuracy >= 0.9]"]["statusDetails"]["trace"].startswith("0.80 < 0.90 (n 10)")
    size = sum(path.stat().st_size for path in (project.path / "allure").iterdir())
    assert size / 10 < 10_000


def test_allure_shows_repeats_and_systems_as_separate_tests(project: Project) -> None:
    project.says(cases(RIGHT, WRONG), f"gates={GATES!r}")
    systems = ("--rag-system", "builtins:repr", "--rag-system", "builtins:ascii")
    project.run(*ALLURE, "--alluredir", "allure", *systems, "--rag-repeat", "2")
    ids = [result["historyId"] for result in results(project)]
    assert len(ids) == 2 * 2 * 2 + len(GATES)
    assert len(set(ids)) == len(ids)
