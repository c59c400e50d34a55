"""What the page of a run costs: time to draw it, its size, and time to view it.

    python tests/benchmarks/html_report.py [--rounds N]

Target: at most 0.3 s for 1,000 cases and 2 s for 11,400, linear memory, and a first view in a browser under 2 s. The
cases are like those of a benchmark with passages. Each has a record with a pool of twelve passages of 300 characters;
five of them are supplied. It has an answer of 200 characters, three scores and a judge's reply, for two systems.
Drawing is timed in CPU seconds, both as at the end of a session (outcomes are JSON text) and as in `rageval show`
(outcomes are read from the file). Words are random; pages of real texts are smaller. Views are timed in Chromium with
`playwright`, if it is installed.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import table

SIZES = (1_000, 11_400)
WORDS = ["".join(random.Random(seed).choices("abcdefghijklmnopqrstuvwxyz", k=2 + seed % 9)) for seed in range(4_000)]
PASSAGES, SUPPLIED = 12, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--draw", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.draw:
        _draw(int(arguments.draw[0]), Path(arguments.draw[1]), arguments.rounds)
        return
    rows = [
        ["cases", "results.json", "page", "drawn from text", "from the file", "more memory", "first view", "filter"]
    ]
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            page = Path(folder) / f"{size}.html"
            command = [sys.executable, __file__, "--rounds", str(arguments.rounds), "--draw", str(size), str(page)]
            figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            rows.append([f"{size:,}", *figures, *_view_times(page)])
    sys.stdout.write(table(rows) + "\n")


def results_of_size(n: int) -> dict[str, Any]:
    """Return results of ``n`` cases as a session stores them: outcomes and instances are JSON text."""
    from pytest_rageval.report.run.json_text import to_json

    dice = random.Random(7)
    instances = {f"case-{number:05}": to_json(_instance(dice)) for number in range(n // 2)}
    outcomes = [
        to_json(_outcome(dice, f"case-{number:05}", number, system))
        for system in ("one", "other")
        for number in range(n // 2)
    ]
    metric = {"binary": True, "higher_is_better": True, "of": "answer", "downstream": True, "judge": ""}
    testbed = {"name": "town", "metrics": ["accuracy", "rouge_l", "judged"], "gates": [], "generated": n // 2}
    unknown = {"asserts": False, "notes": [], "labelled": False}
    calls = dict.fromkeys(("calls", "replayed", "attempts", "prompt_tokens", "completion_tokens"), 0)
    plan = {"session_gates": [], "unmatched_gates": [], "unselected": 0, "unfinished": {}, "notes": []}
    return {
        "schema": 1,
        "run": {
            "id": "20260101T000000",
            "started": "2026-01-01T00:00:00+00:00",
            "duration_s": 60.0,
            "versions": {},
            "fingerprint": "",
            "interrupted": False,
        },
        "testbeds": {"test_town.py::test_it": {**testbed, **unknown}},
        "plan": {
            **plan,
            "alpha": 0.05,
            "metrics": {"accuracy": metric, "rouge_l": {**metric, "binary": False}, "judged": metric},
            "view": {"metric": None, "rows": None, "cols": None},
        },
        "instances": instances,
        "outcomes": outcomes,
        "gates": [],
        "matrix": None,
        "matrices": [],
        "usage": {**calls, "cost_usd": 0.0, "spent_usd": 0.0},
    }


def _text(dice: random.Random, characters: int) -> str:
    words = dice.choices(WORDS, k=characters // 6)
    return " ".join(words)[:characters].capitalize() + "."


def _instance(dice: random.Random) -> dict[str, Any]:
    roles = ["positive", *["negative"] * (PASSAGES - 1)]
    passages = {f"p{at}": {"text": _text(dice, 300), "role": role} for at, role in enumerate(roles)}
    return {"question": _text(dice, 80), "gold": [[_text(dice, 20)]], "history": [], "passages": passages}


def _outcome(dice: random.Random, name: str, number: int, system: str) -> dict[str, Any]:
    usage = {"prompt_tokens": 900, "completion_tokens": 60, "cost_usd": 0.0004, "latency_s": dice.random()}
    answer: dict[str, Any] = {"text": _text(dice, 200), "abstained": None, "ranking": None, "trace": [], "usage": usage}
    reply = _text(dice, 120)
    facets = {"topic": f"topic {number % 16}", "task": f"task {number % 5}", "noise_rate": f"0.{number % 4 * 2}"}
    return {
        "nodeid": f"test_town.py::test_it[{name}-{system}]",
        "testbed": "test_town.py::test_it",
        "case_id": name,
        "facets": {"dataset": "town", "language": "en", **facets, "passages": "5", "system": system},
        "system": system,
        "status": "scored",
        "answer": answer,
        "scores": {
            "accuracy": {"value": float(dice.random() < 0.8)},
            "rouge_l": {"value": dice.random()},
            "judged": {"value": 1.0, "label": "yes", "rationale": reply, "replies": [reply]},
        },
        "supplied": [f"p{at}" for at in range(SUPPLIED)],
        "error": None,
        "error_type": None,
        "calls": None,
    }


def _draw(n: int, path: Path, rounds: int) -> None:
    """Draw a page in this process, and print sizes, times and memory as JSON."""
    import resource

    from pytest_rageval.report.html.page import write_html
    from pytest_rageval.report.run.json_text import decode_results

    results = results_of_size(n)
    write_html(path.with_suffix(".warm"), results_of_size(10))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    as_text = min(_timed(write_html, path, results) for _ in range(rounds))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read = decode_results(results)
    as_read = min(_timed(write_html, path, read) for _ in range(rounds))
    size = len(json.dumps(read, ensure_ascii=False).encode())
    figures = [f"{size / 1e6:.1f} MB", f"{path.stat().st_size / 1e6:.1f} MB"]
    times = [f"{as_text:.2f} s", f"{as_read:.2f} s", f"{(after - before) / 1024:.0f} MiB"]
    sys.stdout.write(json.dumps([*figures, *times]))


def _timed(write: Any, path: Path, results: Any) -> float:
    start = time.process_time()
    write(path, results)
    return time.process_time() - start


def _view_times(path: Path) -> list[str]:
    """Return the time to the first view and the time of a filter in Chromium; dashes if it is missing."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return ["–", "–"]
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(path.as_uri(), wait_until="commit")
        page.locator("table.heat").wait_for()
        first = time.perf_counter() - start
        page.locator("html[data-ready=yes]").wait_for(state="attached")
        start = time.perf_counter()
        page.get_by_label("Search").fill("case-00042")
        page.get_by_text("2 cases of").wait_for()
        filter_s = time.perf_counter() - start
        browser.close()
    return [f"{first:.2f} s", f"{filter_s:.2f} s"]


if __name__ == "__main__":
    main()
