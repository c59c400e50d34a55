"""What recording and replaying a system's HTTP requests costs, against plain httpx.

    python tests/benchmarks/recorded_http.py [--calls N] [--rounds N]

The server runs in a separate process and replies at once. Target: 200 recorded calls replay in 0.5 s or less, and
recording adds 1 ms a call or less. The files are written to a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen
from tempfile import TemporaryDirectory

import httpx
from measuring import table

from pytest_rageval.llm.client.usage_meter import SCOPE, Meter, Scope
from pytest_rageval.llm.http.hosts import Hosts
from pytest_rageval.llm.http.http_recorder import HttpRecorder
from pytest_rageval.llm.http.patches import Patches
from pytest_rageval.llm.recordings.cassettes import Cassettes
from pytest_rageval.trace.collector import collecting

TESTS_FOLDER = Path(__file__).parents[1]
PASSAGES = "The museum opens at 9:00 and closes at 17:00. " * 40
REPLAY_S, RECORD_MS = 0.5, 1.0

Run = Callable[[str, int], None]


@contextmanager
def served() -> Iterator[str]:
    """Yield the base URL of a server in a separate process."""
    command = [sys.executable, "-m", "support.servers.openai_server", "--reply", "It opens at 9:00."]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=TESTS_FOLDER) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate()


@contextmanager
def session(folder: Path, mode: str) -> Iterator[None]:
    """Record or replay inside the block, in one case."""
    cassettes = Cassettes(folder, mode)
    patches = Patches(HttpRecorder(Hosts.parse(["127.0.0.1:*"], "rag_record_http"), cassettes))
    patches.install()
    outer = SCOPE.set(Scope(Meter()))
    try:
        with collecting():
            yield
    finally:
        SCOPE.reset(outer)
        patches.undo()
        cassettes.close()


def body(number: int) -> dict[str, object]:
    """Return a request with passages, as RAG systems send them."""
    return {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": f"{PASSAGES}\nQuestion {number}?"}]}


def one_by_one(url: str, calls: int) -> None:
    """Ask from one thread."""
    with httpx.Client() as client:
        for number in range(calls):
            client.post(url, json=body(number)).raise_for_status()


def sixteen_at_once(url: str, calls: int) -> None:
    """Ask from one event loop, sixteen at a time."""

    async def ask_all() -> None:
        numbers = iter(range(calls))
        async with httpx.AsyncClient() as client:

            async def worker() -> None:
                for number in numbers:
                    (await client.post(url, json=body(number))).raise_for_status()

            await asyncio.gather(*(worker() for _ in range(16)))

    asyncio.run(ask_all())


def seconds(run: Run, url: str, calls: int, around: AbstractContextManager[None]) -> tuple[float, float]:
    """Return the wall and CPU seconds of a run, including its session."""
    wall, cpu = time.perf_counter(), time.process_time()
    with around:
        run(url, calls)
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    rows = []
    with served() as base, TemporaryDirectory() as folder:
        url = f"{base}/chat/completions"
        for name, run in (("one by one", one_by_one), ("sixteen at once", sixteen_at_once)):
            plain, record, replay = [], [], []
            run(url, 20)
            for number in range(args.rounds):
                cassettes = Path(folder, f"{name}-{number}")
                plain.append(seconds(run, url, args.calls, nullcontext()))
                record.append(seconds(run, url, args.calls, session(cassettes, "once")))
                replay.append(seconds(run, url, args.calls, session(cassettes, "none")))
            for at, clock in enumerate(("clock", "processor")):
                times = [median(each[at] for each in runs) for runs in (plain, record, replay)]
                added = (times[1] - times[0]) / args.calls * 1000
                columns = [f"{each:.3f}" for each in times]
                rows.append([f"{name}, {clock}", *columns, f"{added:.2f}", f"{times[2] * 200 / args.calls:.3f}"])
    head = [f"{args.calls} calls", "plain s", "recording s", "replay s", "added ms a call", "200 replayed s"]
    print(table([head, *rows]))
    print(f"wished: added <= {RECORD_MS} ms, 200 replayed in <= {REPLAY_S} s")


if __name__ == "__main__":
    main()
