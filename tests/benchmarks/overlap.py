"""What overlapping calls save: cases that ask a slow model, against trivial tests and a plain gather.

    python tests/benchmarks/overlap.py [--rounds N] [--large-rounds N]

The model is a local server in a separate process. Targets, in addition to a bare pytest of as many trivial tests:

- 200 cases of 50 ms at 20 in flight: 1.0 s, 200 calls, never more than 20 at once, 100 MiB less than through litellm.
- 2,000 cases of 200 ms at 64 in flight, 5 % refused with 429: 1.2 times the ideal 6.25 s, with two workers too.

250 replayed cases: within 0.5 s of starting pytest, without litellm and without a socket. 10,000 cases with look-ahead:
no more memory than without it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measuring import Cost, pytest_command, run, table

TESTS_FOLDER = Path(__file__).parents[1]
SERVER = "support.servers.openai_server"
RAG = ("-p", "pytest_rageval.plugin")
LITELLM = ("-o", "rag_model_params=api_base = {url}\napi_key = sk-benchmark\ndrop_params = true")
"""Options with a parameter that only litellm supports, so requests go through it."""
BARE = """
import pytest


@pytest.mark.parametrize("number", range({n}))
def test_case(number):
    pass
"""
INI = "[pytest]\ntestpaths = test_cases.py\n"  # without it pytest would search the byte code in the folder
TESTS = """
from pytest_rageval import rag_case


@rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "error_rate <= 0"])
def test_case(rag):
    pass
"""
GATHER = """
import asyncio, json, sys
from pytest_rageval.llm.client.clients import Client
from pytest_rageval.llm.client.rate_limiter import Limiter
from pytest_rageval.llm.backends.named_model import NamedModel
from pytest_rageval.llm.client.retry import RetryPolicy
from pytest_rageval.model.case import Passage, Query
from pytest_rageval.systems.prompting import load_prompts, messages_for

url, most = sys.argv[1], int(sys.argv[2])
params = {"api_base": url, "api_key": "sk-benchmark", "temperature": 0}
prompts = load_prompts()
queries = [Query(row["question"], tuple(Passage(p["id"], p["text"]) for p in row["passages"]))
           for row in map(json.loads, open("cases.jsonl"))]

async def main():
    client = Client(NamedModel("openai/gpt-4o-mini"), name="gpt-4o-mini", params=params, limiter=Limiter(most),
                    retry=RetryPolicy())
    replies = await asyncio.gather(*(client.complete(messages_for(query, prompts)) for query in queries))
    await client.close()
    assert len(replies) == len(queries)

asyncio.run(main())
"""
WATCH = """
import sys

opened = []
sys.addaudithook(lambda event, args: opened.append(event) if event == "socket.__new__" else None)


def pytest_unconfigure(config):
    assert "litellm" not in sys.modules, "litellm was imported"
    assert not opened, f"{len(opened)} sockets were opened"
"""
SYSTEM = """
import asyncio
import pytest


@pytest.fixture(scope="session")
def rag_system():
    async def answer(query):
        await asyncio.sleep(0)
        return "The answer is forty-two."

    return answer
"""


@contextmanager
def served(delay_s: float, plan: str = "") -> Iterator[str]:
    """Yield the base URL of a server that answers "forty-two" after ``delay_s``."""
    command = [sys.executable, "-m", SERVER, "--delay", str(delay_s), "--reply", "forty-two", "--plan", plan]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS_FOLDER
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate()


def stats(url: str) -> dict[str, Any]:
    """Return the server's counters so far."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as reply:  # noqa: S310 - the loopback
        counters: dict[str, Any] = json.load(reply)
    return counters


def project(folder: Path, n: int, url: str = "", concurrency: int = 16) -> Path:
    """Write a project of ``n`` cases; if there is a ``url``, it uses the model there."""
    folder.mkdir()
    model = f"rag_model = openai/gpt-4o-mini\nrag_model_params =\n    api_base = {url}\n    api_key = sk-benchmark\n"
    settings = f"{INI}rag_concurrency = {concurrency}\n"
    (folder / "pytest.ini").write_text(f"{settings}{model if url else ''}")
    (folder / "test_cases.py").write_text(TESTS)
    (folder / "gather.py").write_text(GATHER)
    passage = {"id": "d1", "text": "The answer to every question is forty-two. " * 20}
    rows = ({"id": f"q{i}", "question": f"What is {i}?", "answers": ["forty-two"]} for i in range(n))
    (folder / "cases.jsonl").write_text("".join(json.dumps({**row, "passages": [passage]}) + "\n" for row in rows))
    return folder


def costs(rounds: int, sides: dict[str, tuple[list[str], Path]]) -> dict[str, Cost]:
    """Return the median cost of each side, run in turn, once to warm up."""
    by_side: dict[str, list[Cost]] = {side: [] for side in sides}
    for number in range(rounds + 1):
        for side, (command, folder) in sides.items():
            cost = run(command, folder)
            if number:
                by_side[side].append(cost)
    return {side: Cost.median(each) for side, each in by_side.items()}


def overlapping(root: Path, rounds: int, n: int, delay_s: float, most: int, plan: str, wished: float) -> None:
    """Print what ``n`` cases take beyond as many trivial tests, over plain HTTP and through litellm."""
    print(f"{n:,} cases of {delay_s * 1000:g} ms, {most} in flight{f', {plan}' if plan else ''}\n")
    with served(delay_s, plan) as url:
        folder = project(root / f"cases{n}", n, url, most)
        bare = root / f"bare{n}"
        bare.mkdir()
        (bare / "pytest.ini").write_text(INI)
        (bare / "test_cases.py").write_text(BARE.format(n=n))
        sides = {
            "bare pytest": (pytest_command(), bare),
            "asyncio.gather": ([sys.executable, "gather.py", url, str(most)], folder),
            "pytest": (pytest_command(*RAG), folder),
            "pytest, through litellm": (pytest_command(*RAG, *(arg.format(url=url) for arg in LITELLM)), folder),
        }
        if plan:
            sides["pytest -n 2"] = (pytest_command(*RAG, "-p", "xdist", "-n", "2", "--dist", "worksteal"), folder)
        measured = costs(rounds, sides)
        before = stats(url)["requests"]
        run(pytest_command(*RAG), folder)
        counters = stats(url)
    floor, ideal = measured["bare pytest"], n * delay_s / most
    rows = [["", "wall s", "beyond bare", "/ ideal", "CPU s", "peak MiB"]]
    for side, cost in measured.items():
        more = cost.wall - floor.wall
        rows.append(
            [side, f"{cost.wall:.2f}", f"{more:.2f}", f"{more / ideal:.2f}", f"{cost.cpu:.2f}", f"{cost.peak:.0f}"]
        )
    print(table([*rows, ["wished of pytest", "", f"<= {wished:.2f}", "", "", ""]]))
    saved = measured["pytest, through litellm"].minus(measured["pytest"])
    ratio = measured["pytest, through litellm"].wall / measured["pytest"].wall
    print(f"litellm takes {saved.wall:.2f} s and {saved.peak:.0f} MiB more, {ratio:.2f} times the time of plain HTTP")
    print(f"requests of one run {counters['requests'] - before}, highest in flight at the server {counters['peak']}\n")


def replaying(root: Path, rounds: int, n: int) -> None:
    """Print what ``n`` recorded cases take beyond a session without any."""
    with served(0.0) as url:
        folder = project(root / "replay", n, url)
        run(pytest_command(*RAG, "--rag-record-mode", "once"), folder)
        shutil.rmtree(folder / ".rageval")
    replay = pytest_command(*RAG, "--rag-record-mode", "none")
    (folder / "conftest.py").write_text(WATCH)
    run(replay, folder)
    (folder / "conftest.py").unlink()  # its audit hook takes time
    empty = root / "empty"
    empty.mkdir()
    (empty / "pytest.ini").write_text(INI)
    (empty / "test_cases.py").write_text("def test_one(): ...\n")
    measured = {
        side: cost.wall
        for side, cost in costs(rounds, {"start": (pytest_command(*RAG), empty), "replay": (replay, folder)}).items()
    }
    rows = [["", "wall s"], *([side, f"{wall:.2f}"] for side, wall in measured.items())]
    rows += [["difference", f"{measured['replay'] - measured['start']:.2f}"], ["wished", "<= 0.50"]]
    print(f"{n} replayed cases, without litellm and without a socket\n\n{table(rows)}\n")


def remembering(root: Path, rounds: int) -> None:
    """Print the peak memory of many cases, one at a time and with look-ahead."""
    rows = [["", "wall s", "peak MiB, in turn", "looking ahead", "more"]]
    for n in (1_000, 10_000):
        folder = project(root / f"memory{n}", n)
        (folder / "conftest.py").write_text(SYSTEM)
        by_limit = {most: [run(pytest_command(*RAG, "--rag-concurrency", most), folder) for _ in range(rounds)]
                    for most in ("1", "16")}  # fmt: skip
        turn, ahead = (Cost.median(by_limit[most]) for most in ("1", "16"))
        rows.append([f"{n:,} cases", f"{ahead.wall:.2f}", f"{turn.peak:.1f}", f"{ahead.peak:.1f}",
                     f"{ahead.peak - turn.peak:+.1f}"])  # fmt: skip
    print(f"memory: a window of cases, not a list of them\n\n{table(rows)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="What overlapping calls save.")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the small ones (default: %(default)s)")
    parser.add_argument("--large-rounds", type=int, default=3, help="rounds of the large ones (default: %(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        overlapping(root, args.rounds, 200, 0.05, 20, "", 1.0)
        overlapping(root, args.large_rounds, 2_000, 0.2, 64, "429=0.05", 1.2 * 2_000 * 0.2 / 64)
        replaying(root, args.rounds, 250)
        remembering(root, args.large_rounds)


if __name__ == "__main__":
    main()
