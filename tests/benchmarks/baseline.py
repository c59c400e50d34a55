"""What a baseline adds to a run: 1,000 cases with a 0/1 and a graded metric in 16 cells, with one and without.

    python tests/benchmarks/baseline.py [--rounds N] [--cases N]

Target: at most 0.3 s more. A fifth of the answers differ from the baseline's. Gates compare all cases and each topic
with the baseline. Times are of whole processes, medians of alternating runs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from measuring import Cost, alternate, pytest_command, run, table

TOPICS = ("Fares", "Ferries", "Trams", "Lost property")
TASKS = ("extractive_qa", "multi_hop_qa", "contrast_qa", "conversational_qa")
CONFTEST = """
import os
import random

import pytest

WORDS = "the answer is forty-two".split()


def say(query):
    number = int(query.question.split()[-1][:-1])
    changed = os.path.exists("changed") and number % 5 == 0
    chance = random.Random(number + 10_000 * changed)
    return " ".join(word for word in WORDS if chance.random() < 0.9)


@pytest.fixture(scope="session")
def rag_system():
    return say
"""
CASES = """
from pytest_rageval import rag_case


@rag_case("jsonl:cases.jsonl", metrics=["accuracy", "token_f1"], gates=["accuracy >= 0.1", "accuracy[topic=*] >= 0.1"])
def test_case(rag):
    pass
"""
BASELINE_GATES = ("--rag-gate", "accuracy >= baseline - 0.2", "--rag-gate", "token_f1[topic=*] >= baseline - 0.2")
ABSOLUTE_GATES = ("--rag-gate", "accuracy >= 0.2", "--rag-gate", "token_f1[topic=*] >= 0.2")


def project(folder: Path, n: int) -> None:
    """Write ``n`` cases and their baseline; a fifth of the later answers differ from it."""
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_cases.py").write_text(CASES)
    with (folder / "cases.jsonl").open("w") as stream:
        for number in range(n):
            record = {
                "id": f"q{number}",
                "question": f"What is the answer to question {number}?",
                "answers": ["the answer is forty-two", "42"],
                "topic": TOPICS[number % 4],
                "task": TASKS[number // 4 % 4],
            }
            stream.write(json.dumps(record) + "\n")
    update = ("--rag-baseline", "b.json", "--rag-update-baseline")
    run(pytest_command("-p", "pytest_rageval.plugin", *update), folder)
    (folder / "changed").touch()


def main() -> None:
    parser = argparse.ArgumentParser(description="What a baseline adds to a run.")
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--cases", type=int, default=1_000, help="default: %(default)s")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        project(folder, args.cases)
        plugin = pytest_command("-p", "pytest_rageval.plugin")
        sides = ([*plugin, *ABSOLUTE_GATES], [*plugin, "--rag-baseline", "b.json", *BASELINE_GATES])
        without, with_it = (
            Cost.median(costs) for costs in alternate(args.rounds, *((side, folder, False) for side in sides))
        )
    costs = (("without a baseline", without), ("with one", with_it), ("added", with_it.minus(without)))
    rows = [[name, f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.peak:.0f}"] for name, cost in costs]
    print(table([[f"{args.cases:,} cases", "seconds", "cpu", "MiB"], *rows]))


if __name__ == "__main__":
    main()
