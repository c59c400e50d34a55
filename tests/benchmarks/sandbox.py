"""How long a program takes in the sandbox: the first one, the next ones, and calls of tools.

python tests/benchmarks/sandbox.py [--programs 1000]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median, quantiles

from pytest_rageval.sandbox import open_sandbox

TARGET = 5.0
"""Milliseconds that a program may take when the sandbox is warm."""

PROGRAM = """
import json, re
pages = [look(name) for name in ("Milhouse", "Springfield")]
years = [int(year) for page in pages for year in re.findall(r"[0-9]{4}", page["text"])]
answer = max(years) - min(years)
print(json.dumps({"years": years}))
"""
TOOLS: dict[str, Callable[..., object]] = {"look": lambda name: {"title": name, "text": f"{name}: 1989, then 2007."}}


def milliseconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1000


def main() -> None:
    """Print the times; end with status 1 if a warm program takes longer than the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    programs = parser.parse_args().programs
    sandbox = open_sandbox("monty", "the benchmark")

    def program() -> None:
        ran = sandbox.run(PROGRAM, TOOLS, variable="answer", seed="case-1")
        assert (ran.value, len(ran.tool_calls)) == (18, 2), ran

    try:
        print(f"first program        {milliseconds(program):8.1f} ms, with the start of its process")
        bare = [milliseconds(lambda: sandbox.run("1 + 1")) for _ in range(programs)]
        warm = [milliseconds(program) for _ in range(programs)]
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda _: program(), range(64)))  # starts 16 processes
            together = milliseconds(lambda: list(pool.map(lambda _: program(), range(programs)))) / programs
    finally:
        sandbox.close()
    for name, times in (("1 + 1", bare), ("two calls of tools", warm)):
        print(f"{name:20} {median(times):8.2f} ms, 95 % in {quantiles(times, n=20)[-1]:.2f} ms")
    print(f"16 at a time         {together:8.2f} ms a program")
    if median(warm) > TARGET:
        sys.exit(f"a warm program takes longer than {TARGET:g} ms")


if __name__ == "__main__":
    main()
