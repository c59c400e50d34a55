"""What the reports that a run is asked for cost together: its page, its Markdown and what JUnit tells of each test.

    python tests/benchmarks/reports.py [--rounds N]

Wished: at most 0.3 s for 1,000 cases and 2 s for 11,400, for all three. The page is that of `html_report.py`, with its
passages and judges' replies, the Markdown that of `drawing.py`, compared with a baseline; both scripts tell more of
each. JUnit is the difference of two whole sessions that write pytest's file, one without what is told of cases, as its
cost is spread over a session. Seconds are the processor's, medians; sessions alternate.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from measuring import Cost, alternate, table
from scale import rag_project

WISHED = {1_000: 0.3, 11_400: 2.0}


def main() -> None:
    parser = argparse.ArgumentParser(description="What the reports of a run cost together.")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    rounds = parser.parse_args().rounds
    rows = [["cases", "page s", "Markdown s", "JUnit s", "together s", ""]]
    with tempfile.TemporaryDirectory() as name:
        told = {n: _junit(Path(name, str(n)), n, rounds) for n in WISHED}  # first, while this process is small
        for n, wished in WISHED.items():
            costs = [_page(Path(name, f"{n}.html"), n, rounds), _markdown(n, rounds), told[n]]
            rows.append([f"{n:,}", *(f"{cost:.2f}" for cost in (*costs, sum(costs))), f"wished <= {wished:g}"])
    print(table(rows))


def _junit(folder: Path, n: int, rounds: int) -> float:
    told = [*rag_project(folder, n), "--junitxml=junit.xml"]
    bare = [*told, "-p", "no:rageval-junit"]
    without, with_ = map(Cost.median, alternate(rounds, (bare, folder, False), (told, folder, False)))
    return with_.minus(without).cpu


def _page(path: Path, n: int, rounds: int) -> float:
    from html_report import results_of_size

    from pytest_rageval.report.html.page import write_html

    write_html(path, results_of_size(10))  # which imports
    results = results_of_size(n)
    return median(_taken(lambda: write_html(path, results)) for _ in range(rounds))


def _markdown(n: int, rounds: int) -> float:
    from drawing import drawn, run_of

    before = run_of(n, 1)
    return median(_taken(drawn(run_of(n, 2, before))["markdown"]) for _ in range(rounds))  # anew: a run keeps much


def _taken(draw: Callable[[], object]) -> float:
    began = time.process_time()
    draw()
    return time.process_time() - began


if __name__ == "__main__":
    main()
