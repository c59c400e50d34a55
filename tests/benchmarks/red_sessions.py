"""How often an unchanged system turns a session red by its baseline gates.

    python tests/benchmarks/red_sessions.py [--simulated N] [--runs N]

Target: at most 5 % with 10 and with 20 gates. Every gate has a separate testbed. Each case is right with a chance of
its own in every run, so about a third of the cases differ between two runs. The first table simulates
sessions and decides them with the code of a pytest run. The second table runs pytest twice for each session: once to
write the baseline, once to compare with it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from many_gates import share
from measuring import pytest_command, table

from pytest_rageval.analysis.baseline.regression import ALPHA_PER
from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.run.gate_results import evaluate
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.snapshots import baseline_for_gates, snapshot_of_outcomes

GATE = "accuracy >= baseline"
GATES = (10, 20)
CASES = 60  # per gate, in simulated sessions
CASES_RUN = 20  # per gate, in runs of pytest
STARTED = "2026-01-02T03:04:05+00:00"
CONFTEST = """
import os
import random

import pytest


def say(query):
    chance = random.Random(query.question).betavariate(2, 1)
    right = random.Random(os.environ["RUN"] + query.question).random() < chance
    return "Paris" if right else "Rome"


@pytest.fixture(scope="session")
def rag_system():
    return say
"""
TESTBED = """
@rag_case("jsonl:cases{at}.jsonl", metrics=["accuracy"], gates=["{gate}"])
def test_{at}(rag):
    pass
"""


def plan_of(gates: int) -> Plan:
    """Return the plan of a session in which each gate has a testbed."""
    nodes = [f"test_it.py::test_{at}" for at in range(gates)]
    testbeds = {node: TestbedPlan(node, node.rpartition("::")[2], ("accuracy",), (GATE,)) for node in nodes}
    return Plan(testbeds=testbeds, metrics={"accuracy": MetricInfo(binary=True)})


def outcomes_of(plan: Plan, draw: random.Random, chances: dict[str, float]) -> Iterator[Outcome]:
    """Yield the outcomes of one run of the unchanged system; each case keeps its chance of being right."""
    for testbed in plan.testbeds:
        for at in range(CASES):
            node = f"{testbed}[q{at}]"
            chance = chances.setdefault(node, draw.betavariate(2, 1))
            scores = {"accuracy": Score(float(draw.random() < chance))}
            yield Outcome(node, f"{testbed}-q{at}", testbed, {}, "mine", "scored", scores=scores)


def simulate(gates: int, sessions: int) -> Counter[str]:
    """Return how many simulated sessions turn red, for each value of ``rag_alpha_per``."""
    plan, red = plan_of(gates), Counter[str]()
    for number in range(sessions):
        draw, chances = random.Random(number), dict[str, float]()
        before, now = (list(outcomes_of(plan, draw, chances)) for _ in range(2))
        baseline, after = (snapshot_of_outcomes(plan, run, set(), STARTED) for run in (before, now))
        comparison = baseline_for_gates(baseline, after, plan, (), ())
        for per in ALPHA_PER:
            results = evaluate(plan, now, Counter(), replace(comparison, per=per), interrupted=False)
            red[per] += any(gate.result.status == "failed" for gate in results)
    return red


def project(folder: Path, gates: int) -> None:
    """Write a project in which each gate has a testbed."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    testbeds = "".join(TESTBED.format(at=at, gate=GATE) for at in range(gates))
    (folder / "test_it.py").write_text(f"from pytest_rageval import rag_case\n{testbeds}")
    for at in range(gates):
        records = [
            {"id": f"q{at}-{n}", "question": f"Question {n} of {at}?", "answers": ["Paris"]} for n in range(CASES_RUN)
        ]
        (folder / f"cases{at}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def pytest_runs(gates: int, sessions: int) -> int:
    """Return how many sessions of pytest turn red."""
    red = 0
    with tempfile.TemporaryDirectory() as name:
        project(Path(name), gates)
        for number in range(sessions):
            update_status = _status(Path(name), f"baseline {number}", "--rag-update-baseline")
            compare_status = _status(Path(name), f"run {number}")
            if update_status or compare_status not in (0, 1):
                raise SystemExit(f"pytest ended with {update_status} and {compare_status}")
            red += compare_status
    return red


def _status(folder: Path, run: str, *arguments: str) -> int:
    command = pytest_command("-p", "pytest_rageval.plugin", "--rag-baseline", "b.json", *arguments)
    environment = {**os.environ, "RUN": run, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulated", type=int, default=800, help="sessions of each row (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=40, help="sessions of pytest of each row (default: %(default)s)")
    args = parser.parse_args()
    rows = [["simulated sessions that turn red", "gates", *(f"rag_alpha_per = {per}" for per in ALPHA_PER)]]
    for gates in GATES:
        red = simulate(gates, args.simulated)
        shares = [share(red[per] / args.simulated, args.simulated) for per in ALPHA_PER]
        rows.append([f"{CASES} cases a gate", f"{gates}", *shares])
    print(table(rows), flush=True)
    rows = [["sessions of pytest that turn red", "gates", "red"]]
    for gates in GATES:
        hits = pytest_runs(gates, args.runs)
        rows.append([f"{CASES_RUN} cases a gate", f"{gates}", f"{hits} of {args.runs}"])
    print(table(rows))


if __name__ == "__main__":
    main()
