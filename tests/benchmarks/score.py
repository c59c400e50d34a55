"""What `rageval score` costs: CPU, memory of all processes and disk, for recorded answers of 200 characters.

    python tests/benchmarks/score.py [--rows N] [--jobs N] [--assert]

Targets for 1,000,000 answers, `accuracy` and `token_f1`, two processes, one gate and a matrix: 90 s CPU, 600 MB for
all processes together, disk of 3 times the input while it runs; gates and matrix 5 s. For 10,000: 3 s in all.
CPU and disk scale with the rows; memory is 150 MB and the rows' share of the rest. Seconds are those of the targets'
machine times this one's pace (see `pace`). For comparison, `sketch_us` is the time per row of a bare loop over the
same rows on this machine.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from measuring import environment, pace, table

ROWS = 1_000_000
CPU_S, MEMORY_MB, BASE_MB, DISK, MERGE_S, SMALL_ROWS, SMALL_S = 90.0, 600.0, 150.0, 3.0, 5.0, 10_000, 3.0
START_CPU_S = 4.0  # imports of three processes, for any number of rows
SKETCH_ROWS = 20_000
WARM_UP_ROWS = 100
TOPICS = ("Fares", "Ferries", "Trams", "Lost property")
WORDS = ("the", "ticket", "fare", "zone", "valid", "from", "station", "to", "airport", "costs", "euro", "day", "of",
         "return", "single", "price", "adult", "child", "forty", "two", "line", "bus", "tram", "ferry")  # fmt: skip


def write_data(folder: Path, rows: int) -> int:
    """Write cases and answers, and return their size in bytes."""
    draw = random.Random(0)
    with (folder / "cases.jsonl").open("w") as cases, (folder / "answers.jsonl").open("w") as answers:
        for number in range(rows):
            gold = " ".join(draw.choices(WORDS, k=4))
            text = ""
            while len(text) < 190:
                text += draw.choice(WORDS) + " "
            right = draw.random() < 0.7
            case = {"id": f"q{number}", "question": f"What is the fare of line {number}?", "answers": [gold],
                    "topic": draw.choice(TOPICS), "task": draw.choice(("qa", "lookup"))}  # fmt: skip
            cases.write(json.dumps(case) + "\n")
            answers.write(
                json.dumps({"id": f"q{number}", "answer": (gold + " " + text if right else text)[:200]}) + "\n"
            )
    return sum((folder / name).stat().st_size for name in ("cases.jsonl", "answers.jsonl"))


def sketch_us(folder: Path) -> float:
    """Return the CPU microseconds a row of a bare loop: containment, token F1 and a line of JSON, and nothing else."""
    start = time.process_time()
    lines = []
    with (folder / "cases.jsonl").open() as cases, (folder / "answers.jsonl").open() as answers:
        for case_line, answer_line in islice(zip(cases, answers, strict=True), SKETCH_ROWS):
            case, answer = json.loads(case_line), json.loads(answer_line)
            gold, text = case["answers"][0].lower(), answer["answer"].lower()
            ours, theirs = Counter(text.split()), Counter(gold.split())
            both = sum((ours & theirs).values())
            f1 = 2 * both / (ours.total() + theirs.total())
            lines.append(json.dumps({"id": case["id"], "accuracy": float(gold in text), "token_f1": f1}))
    gzip.compress("\n".join(lines).encode(), 4)
    return (time.process_time() - start) / len(lines) * 1e6


def tree(pid: int) -> Iterator[int]:
    """Yield a process and its descendants (Linux)."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from tree(int(child))


def peak_mb(pid: int) -> float | None:
    """Return a living process's peak of resident memory."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1000 * 1.024 for line in lines if line.startswith("VmHWM")), None)


def disk_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    process = subprocess.run(["du", "-sb", str(folder)], capture_output=True, text=True, check=False)
    return int(process.stdout.split()[0]) if process.stdout else 0


def measure(folder: Path, jobs: int) -> dict[str, float]:
    """Score the data of a folder, and return CPU and wall seconds, and peaks of memory and disk."""
    command = [sys.executable, "-c", "import sys; from pytest_rageval.cli import main; sys.exit(main())",
               "score", "jsonl:cases.jsonl", "answers.jsonl", "--metrics", "accuracy,token_f1", "--gate",
               "accuracy >= 0.5", "--matrix", "accuracy", "--out", "scores", "--jobs", str(jobs)]  # fmt: skip
    start = time.perf_counter()
    with (folder / "log.txt").open("w") as log:
        child = subprocess.Popen(command, cwd=folder, env=environment(folder), stdout=log, stderr=log)
        peaks: dict[int, float] = {}
        disk = 0
        while True:
            ended_pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if ended_pid:
                break
            for pid in tree(child.pid):
                if (peak := peak_mb(pid)) is not None:
                    peaks[pid] = max(peak, peaks.get(pid, 0.0))
            disk = max(disk, disk_of(folder / "scores"))
            time.sleep(0.05)
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"rageval score exited with {os.waitstatus_to_exitcode(status)}:\n{(folder / 'log.txt').read_text()}")
    seconds = json.loads((folder / "scores" / "manifest.json").read_text())["seconds"]
    stages = {f"{key}_s": each for key, each in seconds.items()}
    return {"cpu_s": usage.ru_utime + usage.ru_stime, "wall_s": time.perf_counter() - start,
            "memory_mb": sum(peaks.values()), "disk": float(disk), **stages}  # fmt: skip


def main() -> None:
    """Measure, print a table, and with ``--assert`` exit 1 if a target is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--assert", action="store_true", dest="asserts")
    arguments = parser.parse_args()
    share = arguments.rows / ROWS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder, WARM_UP_ROWS)
        measure(folder, arguments.jobs)  # compiles the modules, like an installation
        shutil.rmtree(folder / "scores")
        size = write_data(folder, arguments.rows)
        sketch = sketch_us(folder)
        now = pace()
        values = measure(folder, arguments.jobs)
        now = (now + pace()) / 2
    values["sketch_us"] = sketch
    targets = {
        "cpu_s": now * (START_CPU_S + (CPU_S - START_CPU_S) * share),
        "memory_mb": BASE_MB + (MEMORY_MB - BASE_MB) * share,
        "disk": DISK * size,
        "merge_s": None,
        "figures_s": now * (0.5 + MERGE_S * share),
    }
    if arguments.rows <= SMALL_ROWS:
        targets["wall_s"] = now * SMALL_S
    rows = [["", "found", "target"]]
    for key, value in values.items():
        target = targets.get(key)
        rows.append([key, f"{value:,.1f}", "" if target is None else f"{target:,.1f}"])
    print(f"{arguments.rows:,} answers, {size / 1e6:,.0f} MB, {arguments.jobs} processes, ", end="")
    print(f"{now:.2f} times the CPU of the targets' machine\n\n{table(rows)}")
    missed = [key for key, target in targets.items() if target is not None and values[key] > target]
    if missed and arguments.asserts:
        sys.exit(f"targets missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
