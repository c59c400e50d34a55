"""What `react` costs beyond its model and its tools: whole sessions with an instant model, 16 cases in flight.

    python tests/benchmarks/react.py [--cases N] [--rounds N]

Target: at most 2 ms a step. The other side is the same session with a bare loop as its system: it makes the same calls
of the same model and the same functions, and records no trace. Both run in turn, in separate processes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from measuring import Cost, alternate, pytest_command, table

TARGET = 2.0
"""Milliseconds that a step may cost beyond the bare loop."""

STEPS = 8
CONFTEST = """
import pytest
from pytest_rageval import Completion, Usage
from desk import search

LAST = {last}


class Instant:
    name = "instant"

    async def complete(self, messages, **params):
        step = messages[-1]["content"].count("Observation ") + 1
        action = "Finish[forty-two]" if step == LAST else f"search[page {step}]"
        text = f"I need page {step}.\\nAction {step}: {action}"
        return Completion(text, Usage(100, 10, 0.0), "stop", self.name)


@pytest.fixture(scope="session")
def rag_llm():
    return Instant()


@pytest.fixture(scope="session")
def rag_system():
    model = Instant()

    async def answer(query):
        prompt = f"Question: {query.question}"
        for step in range(1, LAST + 1):
            reply = await model.complete([{"role": "user", "content": prompt}])
            argument = reply.text.rpartition("[")[2].rstrip("]")
            if step == LAST:
                return argument
            prompt += f"\\n{reply.text}\\nObservation {step}: {search(argument)}"

    return answer
"""
DESK = '''
def search(title: str) -> str:
    """Return a page.

    Args:
        title: its title.
    """
    return f"{title}: " + "The answer to every question is forty-two. " * 10
'''
INI = """[pytest]
testpaths = test_cases.py
rag_concurrency = 16
rag_environments =
    desk: desk:search
"""
TESTS = """
from pytest_rageval import rag_case


@rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "error_rate <= 0"], passages="retrieved")
def test_case(rag):
    pass
"""


def project(folder: Path, cases: int) -> Path:
    """Write a project of ``cases`` cases with `STEPS` steps each."""
    (folder / "pytest.ini").write_text(INI)
    (folder / "conftest.py").write_text(CONFTEST.replace("{last}", str(STEPS)))
    (folder / "desk.py").write_text(DESK)
    (folder / "test_cases.py").write_text(TESTS)
    rows = ({"id": f"q{i}", "question": f"What is {i}?", "answers": ["forty-two"]} for i in range(cases))
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def main() -> None:
    """Print the times; end with status 1 if a step costs more than the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    plugin = ("-p", "pytest_rageval.plugin", "-p", "no:cacheprovider")
    with tempfile.TemporaryDirectory() as name:
        folder = project(Path(name), args.cases)
        sides = alternate(
            args.rounds,
            (pytest_command(*plugin), folder, False),
            (pytest_command(*plugin, "--rag-system", "react"), folder, False),
        )
    bare, react = (Cost.median(costs) for costs in sides)
    steps = args.cases * STEPS
    more = react.minus(bare)
    rows = [["session", "s", "s of the processor", "MiB"]]
    for name, cost in (("bare loop", bare), ("react", react)):
        rows.append([name, f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.peak:.0f}"])
    print(f"{args.cases} cases of {STEPS} steps, 16 in flight, median of {args.rounds} rounds")
    print(table(rows))
    print(
        f"a step: {1000 * more.wall / steps:.2f} ms beyond the bare loop; whole sessions: {react.wall / bare.wall:.2f}"
    )
    if 1000 * more.wall / steps > TARGET:
        sys.exit(f"a step costs more than {TARGET:g} ms")


if __name__ == "__main__":
    main()
