"""What a step through `pytest_rageval.tracing` costs, inside a case and outside.

    python tests/benchmarks/tracing.py [--steps N]

Target: at most 5 us a step inside a case, less than 2 us outside. Prints the median and the fastest of rounds of one
case with N steps. They alternate with calls of the bare function, whose time is subtracted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from measuring import table

from pytest_rageval import tracing
from pytest_rageval.trace.collector import collecting

ROUNDS = 500


def search(title: str) -> str:
    return title


recorded = tracing.tool(search)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50)
    steps = parser.parse_args().steps
    rows = [["what", "us a step inside", "fastest", "us outside", "fastest"]]
    for name, call, bare in (
        ("@tracing.tool", lambda: recorded("Paris"), lambda: search("Paris")),
        ("tracing.step", _step, _nothing),
        ("tracing.retrieve", _retrieve, _nothing),
        ("tracing.end", lambda: tracing.end("gave_up"), _nothing),
    ):
        inside, outside, base = [], [], []
        for _ in range(ROUNDS):
            base.append(_seconds(bare, steps))
            outside.append(_seconds(call, steps))
            with collecting():
                inside.append(_seconds(call, steps))
        figures = (
            (figure(each) - figure(base)) / steps * 1e6
            for each in (inside, outside)
            for figure in (statistics.median, min)
        )
        rows.append([name, *(f"{figure:.2f}" for figure in figures)])
    print(table(rows))


def _step() -> None:
    with tracing.step("thought"):
        pass


def _retrieve() -> None:
    with tracing.retrieve("Paris"):
        pass


def _nothing() -> None:
    pass


def _seconds(call: Callable[[], object], times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
