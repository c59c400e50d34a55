"""What a case costs: constant cases with a gate and a report, against bare parametrized tests.

    python tests/benchmarks/scale.py [--rounds N] [--large-rounds N]

Wished: 1,000 cases in at most 1.5 times the time of as many bare tests, 10,000 in at most 12 times that of 1,000.
Times are of whole processes, medians of alternating runs; memory is the process's peak.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from measuring import Cost, alternate, pytest_command, table

TOPICS = ("Fares", "Ferries", "Trams", "Lost property")
TASKS = ("extractive_qa", "multi_hop_qa", "contrast_qa", "conversational_qa")
CONFTEST = """
import pytest


@pytest.fixture(scope="session")
def rag_system():
    return lambda query: "The answer is forty-two."
"""
CASES = """
from pytest_rageval import rag_case


@rag_case("jsonl:cases.jsonl", gates=["token_f1 >= 0.5"])
def test_case(rag):
    pass
"""
BARE = """
import pytest


@pytest.mark.parametrize("number", range({n}))
def test_bare(number):
    pass
"""


def bare_project(folder: Path, n: int) -> list[str]:
    """Write ``n`` bare tests and return the command that runs them."""
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_bare.py").write_text(BARE.format(n=n))
    return pytest_command()


def rag_project(folder: Path, n: int) -> list[str]:
    """Write ``n`` cases and return the command that runs them."""
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_cases.py").write_text(CASES)
    with (folder / "cases.jsonl").open("w") as stream:
        for number in range(n):
            record = {
                "id": f"q{number}",
                "question": f"What is the answer to question {number}?",
                "answers": ["The answer is forty-two.", "42"],
                "topic": TOPICS[number % 4],
                "task": TASKS[number // 4 % 4],
            }
            stream.write(json.dumps(record) + "\n")
    return pytest_command("-p", "pytest_rageval.plugin")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a case costs, against bare parametrized tests.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds with 1,000 (default: %(default)s)")
    parser.add_argument("--large-rounds", type=int, default=3, help="rounds with 10,000 (default: %(default)s)")
    args = parser.parse_args()
    costs: dict[tuple[str, int], Cost] = {}
    with tempfile.TemporaryDirectory() as name:
        for n, rounds in ((1_000, args.rounds), (10_000, args.large_rounds)):
            sides = {"bare": Path(name, f"bare{n}"), "rag": Path(name, f"rag{n}")}
            commands = {"bare": bare_project(sides["bare"], n), "rag": rag_project(sides["rag"], n)}
            measured = alternate(rounds, *((commands[side], folder, False) for side, folder in sides.items()))
            costs |= {(side, n): Cost.median(taken) for side, taken in zip(sides, measured, strict=True)}
    rows = [["", "wall s", "CPU s", "peak MiB"]]
    for (side, n), cost in costs.items():
        rows.append([f"{n:,} {side}", f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.peak:.1f}"])
    for label, (one, other), most in (
        ("1,000 rag / bare", (("rag", 1_000), ("bare", 1_000)), 1.5),
        ("10,000 / 1,000 rag", (("rag", 10_000), ("rag", 1_000)), 12),
    ):
        a, b = costs[one], costs[other]
        rows.append([label, f"{a.wall / b.wall:.2f}", f"{a.cpu / b.cpu:.2f}", f"wished <= {most:g}"])
    print(table(rows))


if __name__ == "__main__":
    main()
