"""What it costs to draw a finished run for a terminal and as Markdown, without the computation.

    python tests/benchmarks/drawing.py [--rounds N]

Target: at most 0.3 s for 1,000 cases and 2 s for 11,400, for both together. The run has two systems, 16 topics by five
tasks, a tenth of errors and a baseline that all cases are compared with. Gates, comparison and matrices are computed
before the clock starts, because results.json needs them in any case. Times are medians; the peak is the memory that
drawing adds.
"""

from __future__ import annotations

import argparse
import random
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from statistics import median

from measuring import table

from pytest_rageval.analysis.metric_info import MetricInfo
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.codec import encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.export.markdown import markdown_of
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.report.terminal.summary import summary_lines
from pytest_rageval.report.text.colours import paint

TESTBED = "test_town.py::test_town"
WISHED = {1_000: 0.3, 11_400: 2.0}


def run_of(n: int, seed: int, baseline: Run | None = None) -> Run:
    """Return a run of ``n`` outcomes, half of them of each system."""
    gates = ("accuracy >= 0.9", "accuracy[topic=*] >= 0.5") + (("accuracy >= baseline - 0.02",) if baseline else ())
    testbeds = {TESTBED: TestbedPlan(TESTBED, "test_town", ("accuracy", "token_f1"), gates, n)}
    run = Run(datetime(2026, 1, 1, tzinfo=timezone.utc), Plan(testbeds=testbeds))
    run.plan.metrics = {"accuracy": MetricInfo(binary=True), "token_f1": MetricInfo()}
    values = random.Random(seed)
    for at in range(n):
        system, number = ("one", "other")[at % 2], at // 2
        facets = {"topic": f"Topic {number % 16}", "topic_1": f"Area {number % 4}", "task": f"task_{number // 16 % 5}"}
        scores = {"accuracy": Score(float(values.random() < 0.7)), "token_f1": Score(round(values.random(), 4))}
        outcome = Outcome(f"{TESTBED}[q{number}-{system}]", f"q{number}", TESTBED, facets, system, "scored",
                          Answer("It is so. " * 20), scores, data=f"{number:016x}")  # fmt: skip
        if values.random() < 0.1:
            broke = {"error": "429: too many requests", "error_type": "rate_limited"}
            outcome = replace(outcome, status="error", scores={}, **broke)  # type: ignore[arg-type]
        run.plan.cases[outcome.nodeid] = (outcome.case_id, TESTBED, system, 0)
        run.take(encode_outcome(outcome), None)
    if baseline is not None:
        run.baseline = replace(baseline.snapshot(), path="rag-baseline.json")
    run.evaluate_gates()
    run.comparison(MatrixChoice())
    for draw in (run.matrices, run.differences, run.gains):
        draw(MatrixChoice())
    return run


def renderers(run: Run) -> dict[str, Callable[[], object]]:
    """Return name of a report -> function that draws it."""
    return {
        "terminal": lambda: [paint(line, 256, "utf-8") for line in summary_lines(run, MatrixChoice(), 80, 0)],
        "markdown": lambda: markdown_of(run, MatrixChoice()),
    }


def cpu_seconds(draw: Callable[[], object]) -> float:
    began = time.perf_counter()
    draw()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="What it costs to draw a finished run.")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    args = parser.parse_args()
    rows = [["cases", "terminal s", "Markdown s", "together s", "wished s", "peak MiB"]]
    for n, wished in WISHED.items():
        before, times = run_of(n, 1), list[tuple[float, float]]()
        for _ in range(args.rounds):
            draw = renderers(run_of(n, 2, before))  # a new run each time: a run caches its computations
            times.append((cpu_seconds(draw["terminal"]), cpu_seconds(draw["markdown"])))
        draw = renderers(run_of(n, 2, before))
        tracemalloc.start()
        draw["terminal"]()
        draw["markdown"]()
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        one, other = (median(side) for side in zip(*times, strict=True))
        rows.append([f"{n:,}", f"{one:.2f}", f"{other:.2f}", f"{one + other:.2f}", f"< {wished}", f"{peak:.1f}"])
    print(table(rows))


if __name__ == "__main__":
    main()
