"""What the traces of a large run cost: storing outcomes, writing results.json, drawing the page.

    python tests/benchmarks/traces.py [--cases N] [--steps N]

Target, for 10,000 cases with 8 steps each: results.json in less than 10 s, the page in less than 5 s. A step is a tool
call with arguments, a result of 300 characters and two passages. "Taking" is the work for each case before that: its
answer is completed, shortened, encoded, masked and stored. The script prints CPU seconds and peak memory.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from measuring import table

from pytest_rageval.llm.secrets import redact, redact_json
from pytest_rageval.model.answer import Answer, Step, Usage
from pytest_rageval.model.case import Instance
from pytest_rageval.model.codec import encode_instance, encode_outcome
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.report.html.page import write_html
from pytest_rageval.report.run.json_text import json_lines
from pytest_rageval.report.run.plan import Plan, TestbedPlan
from pytest_rageval.report.run.run import Run
from pytest_rageval.report.run.summary_data import MatrixChoice
from pytest_rageval.trace.completing import complete_answer
from pytest_rageval.trace.shortening import TRACE_CHARS, shortened

TOWN = "test_town.py::test_it"
WORDS = ["".join(random.Random(seed).choices("abcdefghijklmnopqrstuvwxyz", k=2 + seed % 9)) for seed in range(4_000)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=8)
    arguments = parser.parse_args()
    rows = [["cases", "steps", "taking", "results.json", "size", "page", "size", "peak"]]
    n = arguments.cases
    rows += [[f"{n:,}", str(steps), *_cost(n, steps)] for steps in (0, arguments.steps)]
    sys.stdout.write(table(rows) + "\n")


def _cost(cases: int, steps: int) -> list[str]:
    from pytest_rageval.report.files.results_json import results_of

    dice = random.Random(7)
    plan = Plan(testbeds={TOWN: TestbedPlan(TOWN, "town", ("accuracy",), (), cases)})
    run, taking = Run(datetime.now(timezone.utc), plan), 0.0
    for number in range(cases):
        answer = Answer(
            _text(dice, 60), trace=tuple(_step(dice) for _ in range(steps)), usage=Usage(900, 60, 0.01, 1.0)
        )
        instance = Instance(f"q{number}", _text(dice, 80), ((_text(dice, 20),),))
        start = time.process_time()
        answer = complete_answer(answer)
        answer = Answer(answer.text, trace=shortened(answer.trace, TRACE_CHARS, redact), usage=answer.usage)
        name = f"{TOWN}[q{number}]"
        facets = {"topic": f"topic {number % 16}", "task": f"task {number % 5}"}
        scores = {"accuracy": Score(float(number % 3 > 0))}
        outcome = Outcome(name, f"q{number}", TOWN, facets, "agent", "scored", answer, scores)
        run.take(redact_json(encode_outcome(outcome)), redact_json(encode_instance(instance)))
        taking += time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        results_file, page = Path(folder) / "results.json", Path(folder) / "page.html"
        start = time.process_time()
        results = results_of(run, "r", datetime.now(timezone.utc), MatrixChoice())
        with results_file.open("w", encoding="utf-8") as file:
            file.writelines(json_lines(results))
        writing, start = time.process_time() - start, time.process_time()
        write_html(page, results)
        drawing = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sizes = [f"{path.stat().st_size / 1e6:.1f} MB" for path in (results_file, page)]
    return [f"{taking:.1f} s", f"{writing:.1f} s", sizes[0], f"{drawing:.1f} s", sizes[1], f"{peak:.0f} MiB"]


def _step(dice: random.Random) -> Step:
    passages = [{"id": f"d{dice.randrange(999)}", "text": _text(dice, 200), "score": dice.random()} for _ in range(2)]
    arguments = {"title": _text(dice, 20), "k": 2}
    detail = {"name": "search", "arguments": arguments, "result": _text(dice, 300), "passages": passages}
    return Step("tool", {**detail, "seconds": dice.random()})


def _text(dice: random.Random, characters: int) -> str:
    return " ".join(dice.choices(WORDS, k=characters // 6))[:characters].capitalize() + "."


if __name__ == "__main__":
    main()
