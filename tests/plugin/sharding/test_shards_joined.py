"""Merged shards of a run equal the same run without shards."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support.projects.rag_project import Project, validate
from support.projects.sharded_project import EVERYTHING, merge_shards, prepare, shards, timeless

from pytest_rageval.cli import main


def read_results(project: Project, name: str = "merged.json") -> Any:
    results = json.loads((project.path / name).read_text(encoding="utf-8"))
    validate(results)
    return results


@pytest.mark.parametrize("people", ["agreeing", "contrary and texts left out"])
def test_three_merged_shards_equal_one_run(project: Project, people: str, capsys: pytest.CaptureFixture[str]) -> None:
    agreeing = people == "agreeing"
    prepare(project, contrary=not agreeing, ini="" if agreeing else "rag_report_texts = false")
    whole = project.run("-v", *EVERYTHING)
    each = shards(project, 3, *EVERYTHING, last=("-n2",) if agreeing else ())
    for at, shard in enumerate(each, 1):
        assert shard.results["run"]["shard"] == {"number": at, "of": 3}
        assert {(gate["status"], gate["reason"]) for gate in shard.results["gates"]} == {
            ("skipped", f"this is shard {at} of 3; rageval merge decides it")
        }
        assert "trust" not in shard.results
        assert shard.results["outcomes"]
    status, lines = merge_shards(project, 3, capsys)
    results = read_results(project)
    assert timeless(results) == timeless(whole.results)
    assert status == whole.status == 1
    assert results["trust"][0]["problem"] is None if agreeing else "kappa" in results["trust"][0]["problem"]
    assert {"dialogues", "repeats", "correlations", "deployment", "differences"} <= results.keys()
    assert {gate["status"] for gate in results["gates"]} == {"passed", "failed"}
    of_one_run = re.compile(r"written: |\d+ errors: ask them again")
    output = [line for line in whole.result.outlines if not of_one_run.match(line)]
    begin = next(at for at, line in enumerate(output) if "= rag =" in line) + 1
    end = next(at for at, line in enumerate(output) if "= short test summary" in line)
    account = output[next(at for at, line in enumerate(output) if line.startswith("rag: ")) : -1]
    failed = [line for line in lines if line.startswith("FAILED ")]
    n_failed = whole.result.parseoutcomes()["failed"]
    assert len(failed) == n_failed + whole.result.parseoutcomes().get("errors", 0)
    assert "FAILED test_it.py::test_noise[gate: accuracy >= 0.5]" in failed
    assert main(["show", "--full"]) == 0  # the newest run is the merged one
    assert untimed(capsys.readouterr().out.splitlines()[1:]) == untimed([*output[begin:end], "", *account])
    assert main(["show"]) == 0
    account_of_show = account_in(capsys.readouterr().out.splitlines())
    assert account_in(lines) == account_of_show  # it ends the output, below the failures
    assert not [line for line in account_of_show if line in failed]


def account_in(lines: list[str]) -> list[str]:
    begin = next(at for at, line in enumerate(lines) if line.startswith("rag: "))
    return untimed(lines[begin:])


def untimed(lines: list[str]) -> list[str]:
    """Return lines without the duration of a session and without the tables of systems, which hold answer times."""
    untimed_lines, in_table = [], False
    for line in lines:
        in_table = line.startswith("systems by ") or (in_table and bool(re.match(r"$|system |desk:|-", line)))
        untimed_lines += [] if in_table else [re.sub(r", \d+\.\d s,", ",", line)]
    return untimed_lines
