"""CPU time of a call to a model: plain httpx, bare litellm, and the project's client.

    python tests/benchmarks/client_cpu.py [--calls N] [--rounds N] [--in-flight N]

The server runs in a separate process. Target: the project's client takes less than 1.5 ms a call. The second table has
2,000 calls of 200 ms at 64 in flight: alone, and with a thread that works a millisecond for each call, like a session.
Target: within 1.2 times the ideal 6.25 s.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx
from measuring import table

from pytest_rageval.llm.backends.litellm_import import litellm
from pytest_rageval.llm.backends.named_model import NamedModel

TESTS_FOLDER = Path(__file__).parents[1]
SERVER = "support.servers.openai_server"
MODEL = "gpt-4o-mini"
MESSAGES = [{"role": "system", "content": "Answer from the passages."}, {"role": "user", "content": "word " * 200}]
KEY = "sk-benchmark"
WISHED_MS, CALLS, IN_FLIGHT, DELAY_S = 1.5, 2_000, 64, 0.2

Call = Callable[[], Awaitable[object]]


@contextmanager
def served(delay_s: float) -> Iterator[str]:
    """Yield the base URL of a server in a separate process."""
    command = [sys.executable, "-m", SERVER, "--delay", str(delay_s), "--reply", "forty-two"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS_FOLDER
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate()


async def calls(call: Call, n: int, in_flight: int) -> None:
    """Make ``n`` calls, ``in_flight`` at a time."""
    numbers = iter(range(n))

    async def worker() -> None:
        for _ in numbers:
            await call()

    await asyncio.gather(*(worker() for _ in range(in_flight)))


async def compared(base_url: str, n: int, rounds: int, in_flight: int) -> dict[str, float]:
    """Return the median CPU milliseconds of a call by each client."""
    backend, module = NamedModel(f"openai/{MODEL}"), litellm()
    plain = httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60)

    async def with_httpx() -> None:
        body = {"model": MODEL, "messages": MESSAGES, "temperature": 0}
        (await plain.post(f"{base_url}/chat/completions", json=body)).json()

    async def with_litellm() -> None:
        options = {"api_base": base_url, "api_key": KEY, "temperature": 0, "max_retries": 0}
        await module.acompletion(f"openai/{MODEL}", MESSAGES, **options)

    async def with_ours() -> None:
        await backend.complete(MESSAGES, api_base=base_url, api_key=KEY, temperature=0)

    sides: dict[str, Call] = {"httpx": with_httpx, "litellm": with_litellm, "ours": with_ours}
    times: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(rounds + 1):
        for side, call in sides.items():
            start = time.process_time()
            await calls(call, n, in_flight)
            await asyncio.sleep(0.1)  # background work of litellm
            if number:
                times[side].append((time.process_time() - start) * 1000 / n)
    await plain.aclose()
    await backend.aclose()
    return {side: median(each) for side, each in times.items()}


async def walls(base_url: str) -> float:
    """Return the seconds that the calls of the target take with the project's client."""
    backend = NamedModel(f"openai/{MODEL}")

    async def call() -> None:
        await backend.complete(MESSAGES, api_base=base_url, api_key=KEY, temperature=0)

    await call()
    start = time.perf_counter()
    await calls(call, CALLS, IN_FLIGHT)
    wall = time.perf_counter() - start
    await backend.aclose()
    return wall


def working(over: threading.Event) -> None:
    """Use a millisecond of CPU for each call that is due, until ``over`` is set."""
    pause = DELAY_S / IN_FLIGHT
    while not over.wait(pause - 0.001):
        until = time.thread_time() + 0.001
        while time.thread_time() < until:
            pass


def main() -> None:
    parser = argparse.ArgumentParser(description="What a call to a model costs of the client's processor.")
    parser.add_argument("--calls", type=int, default=400, help="calls a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds (default: %(default)s)")
    parser.add_argument("--in-flight", type=int, default=16, help="calls at a time (default: %(default)s)")
    args = parser.parse_args()
    with served(0.02) as base_url:
        cpu = asyncio.run(compared(base_url, args.calls, args.rounds, args.in_flight))
    rows = [["", "CPU ms a call", "/ httpx", "/ litellm"]]
    for side, ms in cpu.items():
        rows.append([side, f"{ms:.2f}", f"{ms / cpu['httpx']:.2f}", f"{ms / cpu['litellm']:.2f}"])
    print(table([*rows, ["wished of ours", f"<= {WISHED_MS}", "", ""]]), "\n")
    ideal = CALLS * DELAY_S / IN_FLIGHT
    rows = [[f"{CALLS:,} x {DELAY_S * 1000:g} ms at {IN_FLIGHT}", "wall s", "/ ideal"]]
    with served(DELAY_S) as base_url:
        alone = asyncio.run(walls(base_url))
        over = threading.Event()
        worker = threading.Thread(target=working, args=(over,))
        worker.start()
        busy = asyncio.run(walls(base_url))
        over.set()
        worker.join()
    for label, wall in (("alone", alone), ("with a busy thread", busy)):
        rows.append([label, f"{wall:.2f}", f"{wall / ideal:.2f}"])
    print(table([*rows, ["wished", f"<= {ideal * 1.2:.2f}", "<= 1.20"]]))


if __name__ == "__main__":
    main()
