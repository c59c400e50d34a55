"""What eRAG costs beyond its model's time: one request for each document of each query.

    python tests/benchmarks/erag.py [--rounds N] [--concurrency N]

100 queries x 10 documents, a scripted model that takes 20 ms, `erag:nDCG@10` among the metrics. The ideal is the
number of calls (an answer and ten documents a query) x 20 ms / the calls in flight. The start of pytest is subtracted
from the wall time; it is measured by the same session with one query and a model that takes no time. Target: at most
1.3 x the ideal, and one request for each pair of a query and a document.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median

from measuring import pytest_command, run, table

QUERIES, DOCUMENTS, DELAY_S = 100, 10, 0.02
RAG = ("-p", "pytest_rageval.plugin")
CONFTEST = """
import collections, json
import pytest
from pytest_rageval.testing import ScriptedLLM

requests = collections.Counter()


@pytest.fixture(scope="session")
def rag_llm():
    def reply(messages):
        requests[messages[-1]["content"]] += 1
        return "forty-two"
    yield ScriptedLLM(reply, delay_s=DELAY)
    with open("requests.json", "w") as stream:
        json.dump(list(requests.items()), stream)
"""
TESTS = """
from pytest_rageval import rag_case


@rag_case("jsonl:cases.jsonl", metrics=["accuracy", "erag:nDCG@10", "erag:P@10"], gates=["erag:P@10 >= 1"])
def test_worth(rag):
    pass
"""


def project(folder: Path, queries: int, delay_s: float, concurrency: int) -> Path:
    """Write a project with ``queries`` queries; each retrieves ten documents that no other query retrieves."""
    folder.mkdir()
    ini = f"[pytest]\ntestpaths = test_worth.py\nrag_corpus = kb.jsonl\nrag_top_k = {DOCUMENTS}\n"
    (folder / "pytest.ini").write_text(f"{ini}rag_concurrency = {concurrency}\n")
    (folder / "conftest.py").write_text(CONFTEST.replace("DELAY", str(delay_s)))
    (folder / "test_worth.py").write_text(TESTS)
    rows = ({"id": f"q{i}", "question": f"What is word{i}x?", "answers": ["forty-two"]} for i in range(queries))
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = ((i, j, f"word{i}x is forty-two, says page {j}. {'More words here. ' * 20}") for i in range(queries)
             for j in range(DOCUMENTS))  # fmt: skip
    (folder / "kb.jsonl").write_text("".join(json.dumps({"id": f"d{i}.{j}", "text": t}) + "\n" for i, j, t in texts))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description="What eRAG costs beyond its model's time.")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=16, help="calls in flight (default: %(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        slow = project(Path(name) / "slow", QUERIES, DELAY_S, args.concurrency)
        idle = project(Path(name) / "idle", 1, 0.0, args.concurrency)
        sides = {side: (pytest_command(*RAG), side) for side in (slow, idle)}
        walls: dict[Path, list[float]] = {slow: [], idle: []}
        for number in range(args.rounds + 1):
            for side, (command, folder) in sides.items():
                wall = run(command, folder).wall
                if number:
                    walls[side].append(wall)
        requests = json.loads((slow / "requests.json").read_text())
    calls = sum(count for _, count in requests)
    start = median(walls[idle])
    took, ideal = median(walls[slow]) - start, calls * DELAY_S / args.concurrency
    print(f"{QUERIES} queries x {DOCUMENTS} documents, {DELAY_S * 1000:g} ms, {args.concurrency} in flight\n")
    rows = [["", "seconds"], ["starting pytest", f"{start:.2f}"], ["ideal", f"{ideal:.2f}"], ["took", f"{took:.2f}"]]
    print(table([*rows, ["ratio", f"{took / ideal:.2f}"], ["wished", "<= 1.30"]]))
    alone = [count for text, count in requests if "[2]" not in text]
    print(f"\ncalls {calls}, of single documents {sum(alone)}, of one pair at most {max(alone)}")


if __name__ == "__main__":
    main()
