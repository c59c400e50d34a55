"""What a case costs: constant cases with a gate and a report, against bare parametrized tests.

    python tests/benchmarks/scale.py [--rounds N] [--large-rounds N]
    python tests/benchmarks/scale.py --cases 100000 [--assert]

Target without ``--cases``: 1,000 cases in at most 1.5 times the time of as many bare tests, 10,000 in at most 12 times
that of 1,000. Times are of whole processes, medians of alternating runs; memory is the process's peak.

With ``--cases`` each command runs once, and bare tests for comparison. With ``-n 2``, CPU is the sum of all processes
and memory that of the largest one. Target seconds are those of the targets' machine times this one's pace (see `pace`).
``--assert`` omits ``-n 2``: its CPU target is 1.15 times that of one process, and bare tests alone take more.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measuring import Cost, alternate, bare_project, pace, pytest_command, run, table

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
WISHED = {"collect": (15.0, 450.0), "run": (120.0, 900.0), "first 100": (3.0, None)}
"""Command -> CPU seconds on the targets' machine, and MiB, for 100,000 cases; other numbers are proportional."""

OF_WORKERS = 1.15
"""Target of the CPU seconds of two workers and their controller, as a multiple of one process's."""


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


def compare(rounds: int, large_rounds: int) -> None:
    """Print the cost of 1,000 and 10,000 cases, and of bare tests."""
    costs: dict[tuple[str, int], Cost] = {}
    with tempfile.TemporaryDirectory() as name:
        for n, times in ((1_000, rounds), (10_000, large_rounds)):
            sides = {"bare": Path(name, f"bare{n}"), "rag": Path(name, f"rag{n}")}
            commands = {"bare": bare_project(sides["bare"], n), "rag": rag_project(sides["rag"], n)}
            measured = alternate(times, *((commands[side], folder, False) for side, folder in sides.items()))
            costs |= {(side, n): Cost.median(side_costs) for side, side_costs in zip(sides, measured, strict=True)}
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


def at_scale(n: int, *, asserts: bool) -> bool:
    """Print what collecting, running and reporting ``n`` cases costs; return whether it meets the targets."""
    with tempfile.TemporaryDirectory() as name:
        bare, rag = Path(name, "bare"), Path(name, "rag")
        bare_command, command = bare_project(bare, n), rag_project(rag, n)
        two = ["-p", "xdist", "-n", "2"]
        run([*command, "--rag-limit", "1"], rag)  # writes the byte code
        now = pace()
        costs = {
            "bare collect": run([*bare_command, "--collect-only"], bare),
            "bare run": run(bare_command, bare),
            "collect": run([*command, "--collect-only"], rag),
            "first 100": run([*command, "--rag-limit", "100"], rag),
            "run": run(command, rag),
        }
        now = (now + pace()) / 2
        if not asserts:
            costs |= {"bare run -n 2": run([*bare_command, *two], bare), "run -n 2": run([*command, *two], rag)}
    rows = [["", "wall s", "CPU s", "peak MiB", "wished"]]
    meets_targets = True
    for label, cost in costs.items():
        seconds, memory = targets_of(label, n, now)
        if label == "run -n 2":
            seconds = OF_WORKERS * costs["run"].cpu
        row = [label, f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.peak:.0f}"]
        limits = [(seconds, "s"), (memory, "MiB")]
        rows.append([*row, ", ".join(f"{most:.1f} {unit}" for most, unit in limits if most is not None)])
        meets_targets &= (seconds is None or cost.cpu <= seconds) and (memory is None or cost.peak <= memory)
    print(f"{n:,} cases, {now:.2f} times the CPU of the targets' machine\n{table(rows)}")
    return meets_targets


def targets_of(label: str, n: int, now: float) -> tuple[float | None, float | None]:
    """Return the targets of a command at a `pace`, CPU seconds and MiB; None for no target."""
    seconds, memory = WISHED.get(label, (None, None))
    share = n / 100_000
    start = 40.0  # MiB of a session of one case
    return (
        seconds and now * seconds * (1 if label == "first 100" else share),
        memory and start + (memory - start) * share,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What a case costs, against bare parametrized tests.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds with 1,000 (default: %(default)s)")
    parser.add_argument("--large-rounds", type=int, default=3, help="rounds with 10,000 (default: %(default)s)")
    parser.add_argument("--cases", type=int, help="measure this many cases once, instead of 1,000 and 10,000")
    parser.add_argument("--assert", action="store_true", dest="asserts", help="fail if --cases misses a target")
    args = parser.parse_args(arguments)
    if args.cases is None:
        compare(args.rounds, args.large_rounds)
    elif not at_scale(args.cases, asserts=args.asserts) and args.asserts:
        sys.exit("some figure misses its target")


if __name__ == "__main__":
    main()
