"""What the reports of a run cost together: its page, its Markdown and its JUnit properties.

    python tests/benchmarks/reports.py [--rounds N]

Target: at most 0.3 s for 1,000 cases and 2 s for 11,400, for all three. The page is that of `html_report.py`, with its
passages and judges' replies, the Markdown that of `drawing.py`, compared with a baseline; both scripts show more of
each. All reports share the account of the run, which the terminal needs without any report: it has its own column and
is not in the sum. JUnit is the difference of two whole sessions that write pytest's file, one without the properties of
cases, because its cost is spread over a session. Seconds are the processor's, medians; sessions alternate. One round is
8 sessions with their warm-up and takes about 100 s of CPU; a difference of two single sessions varies by 0.3 s.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from measuring import Cost, alternate, table
from scale import rag_project

WISHED = {1_000: 0.3, 11_400: 2.0}


def main() -> None:
    parser = argparse.ArgumentParser(description="What the reports of a run cost together.")
    parser.add_argument("--rounds", type=int, default=1, help="(default: %(default)s)")
    rounds = parser.parse_args().rounds
    rows = [["cases", "account s", "page s", "Markdown s", "JUnit s", "together s", ""]]
    with tempfile.TemporaryDirectory() as name:
        in_junit = {n: _junit(Path(name, str(n)), n, rounds) for n in WISHED}  # first, while this process is small
        for n, wished in WISHED.items():
            account, markdown = _markdown(n, rounds)
            costs = [_page(Path(name, f"{n}.html"), n, rounds), markdown, in_junit[n]]
            rows.append([f"{n:,}", *(f"{cost:.2f}" for cost in (account, *costs, sum(costs))), f"wished <= {wished:g}"])
    print(table(rows))


def _junit(folder: Path, n: int, rounds: int) -> float:
    whole = [*rag_project(folder, n), "--junitxml=junit.xml"]
    bare = [*whole, "-p", "no:rageval-junit"]
    without, with_ = map(Cost.median, alternate(rounds, (bare, folder, False), (whole, folder, False)))
    return with_.minus(without).cpu


def _page(path: Path, n: int, rounds: int) -> float:
    from html_report import results_of_size

    from pytest_rageval.report.html.page import write_html

    write_html(path, results_of_size(10))  # warm-up: imports the modules
    results = results_of_size(n)
    return median(_cpu_seconds(lambda: write_html(path, results)) for _ in range(rounds))


def _markdown(n: int, rounds: int) -> tuple[float, float]:
    """Return the seconds of the account, and of the Markdown after it."""
    from drawing import renderers, run_of

    from pytest_rageval.report.run.account import account_of

    before, costs = run_of(n, 1), []
    for _ in range(rounds):
        run = run_of(n, 2, before)  # a new run each time: a run caches its computations
        costs.append((_cpu_seconds(partial(account_of, run)), _cpu_seconds(renderers(run)["markdown"])))
    return median(account for account, _ in costs), median(markdown for _, markdown in costs)


def _cpu_seconds(draw: Callable[[], object]) -> float:
    began = time.process_time()
    draw()
    return time.process_time() - began


if __name__ == "__main__":
    main()
