"""How long a program takes in the sandbox, and a case of `pal` with an instant model.

python tests/benchmarks/sandbox.py [--programs 1000] [--sandbox bubblewrap]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median, quantiles

from pytest_rageval.environments.choice import Environments
from pytest_rageval.environments.functions import environment_of
from pytest_rageval.model.case import Query
from pytest_rageval.sandbox import open_sandbox
from pytest_rageval.sandbox.protocol import Sandbox
from pytest_rageval.systems.agents.pal import build
from pytest_rageval.systems.parts import SystemParts
from pytest_rageval.testing import ScriptedLLM
from pytest_rageval.trace.collector import collecting

TARGET = 5.0
"""Milliseconds that a program, and a case of `pal`, may take when Monty is warm."""

PROGRAM = """
import json, re
pages = [look(name) for name in ("Milhouse", "Springfield")]
years = [int(year) for page in pages for year in re.findall(r"[0-9]{4}", page["text"])]
answer = max(years) - min(years)
print(json.dumps({"years": years}))
"""


def look(name: str) -> dict[str, str]:
    """Show a page."""
    return {"title": name, "text": f"{name}: 1989, then 2007."}


TOOLS: dict[str, Callable[..., object]] = {"look": look}
QUERY = Query("How many years lie between?", None, (), "en", "")


def milliseconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1000


async def cases(sandbox: Sandbox, count: int) -> tuple[list[float], float]:
    """Return the milliseconds of each case of `pal`, one after the other, and of a case with 16 at a time."""
    environments = Environments({"desk": lambda: environment_of("desk", look, "here", None)})
    parts = SystemParts(llm=ScriptedLLM(PROGRAM), environments=environments, sandbox=lambda needed_by: sandbox)
    system, slots = build(parts), asyncio.Semaphore(16)

    async def case() -> float:
        async with slots:
            start = time.perf_counter()
            with collecting() as collector:
                answer = await system(QUERY)  # type: ignore[misc]
            assert (getattr(answer, "text", ""), len(collector.events)) == ("18", 5), answer
            return (time.perf_counter() - start) * 1000

    await case()
    alone = [await case() for _ in range(count)]
    start = time.perf_counter()
    await asyncio.gather(*(case() for _ in range(count)))
    return alone, (time.perf_counter() - start) * 1000 / count


def main() -> None:
    """Print the times; end with status 1 if a warm program takes longer than the target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--sandbox", default="monty")
    arguments = parser.parse_args()
    programs = arguments.programs
    sandbox = open_sandbox(arguments.sandbox, "the benchmark")

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
        alone, cases_together = asyncio.run(cases(sandbox, programs))
    finally:
        sandbox.close()
    for name, times in (("1 + 1", bare), ("two calls of tools", warm), ("the same in pal", alone)):
        print(f"{name:20} {median(times):8.2f} ms, 95 % in {quantiles(times, n=20)[-1]:.2f} ms")
    print(f"16 at a time         {together:8.2f} ms a program")
    print(f"16 cases at a time   {cases_together:8.2f} ms a case")
    if sandbox.name == "monty" and max(median(warm), median(alone)) > TARGET:
        sys.exit(f"a warm program takes longer than {TARGET:g} ms")


if __name__ == "__main__":
    main()
