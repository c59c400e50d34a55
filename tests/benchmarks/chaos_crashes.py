"""Cases that end their process: with two workers and each ``--dist``, only these are errors."""

from __future__ import annotations

from itertools import cycle, islice, product
from random import Random

from chaos_project import Project, Trouble

__all__ = ["crashes"]

CASES = 60
IN_FLIGHT = 16  # per worker: the default of --rag-concurrency
DISTRIBUTIONS = ("load", "worksteal", "loadfile", "loadscope", "loadgroup")
SUITE = """
[[testbed]]
name = "museum"
dataset = "jsonl:cases.jsonl"
metrics = ["accuracy"]
gates = ["accuracy >= 0.5", "error_rate <= 0.1"]
"""
SYSTEM = """
import asyncio
import os
import pytest

async def answer(query):
    with open("asked.txt", "a") as file:
        file.write(query.question + "\\n")
    await asyncio.sleep(0.02)
    if query.question.startswith("crash"):
        os._exit(3)
    return "Paris"

@pytest.fixture(scope="session")
def rag_system():
    return answer
"""


def crashes(trials: int, seed: int) -> list[Trouble]:
    """Run with each ``--dist``, with one and with two such cases at random places."""
    by_count = {1: Trouble("crashes, one culprit"), 2: Trouble("crashes, two culprits")}
    random = Random(f"crashes-{seed}")
    for distribution, count in islice(cycle(product(DISTRIBUTIONS, by_count)), trials):
        _one(distribution, set(random.sample(range(CASES), count)), by_count[count])
    return list(by_count.values())


def _one(distribution: str, culprits: set[int], trouble: Trouble) -> None:
    passages = [{"id": "d", "text": "It is in Paris.", "role": "positive"}]
    rows = [
        {
            "id": f"c{n}",
            "question": f"{'crash' if n in culprits else 'case'} c{n}",
            "answers": ["Paris"],
            "passages": passages,
        }
        for n in range(CASES)
    ]
    with Project.temporary(rows, {"s.rag.toml": SUITE, "conftest.py": SYSTEM}) as project:
        status, output = project.run("-n", "2", "--dist", distribution, "--rag-json", "results.json")
        ended = {name: each["status"] for name, each in project.outcomes().items()}
        questions = (project.path / "asked.txt").read_text().split("\n")[:-1]
    blamed = [f"c{n}" for n in culprits if ended.get(f"c{n}") != "error"]
    innocent = [f"c{n}" for n in range(CASES) if n not in culprits and ended.get(f"c{n}") != "scored"]
    trouble.lost += len(innocent)
    again = max(0, len(questions) - CASES - IN_FLIGHT * len(culprits))
    trouble.asked_twice += again
    problems = [f"{len(innocent)} innocent cases are not scored"] if innocent else []
    problems += [f"{', '.join(blamed)} is not an error"] if blamed else []
    problems += [f"exit status {status}"] if status != 1 else []
    where = f"--dist {distribution}, {len(culprits)} of {CASES} cases end their process"
    trouble.count_trial([f"{where}: {problem}" for problem in problems], output)
    print(f"{trouble.name}: {where}, {len(innocent)} lost, {len(questions)} calls, exit status {status}", flush=True)
