"""Check that `rageval score` writes the same bytes for any processes, engine, line order and kills.

    python tests/benchmarks/same_scores.py [--cases N] [--kills N] [--seed S] [--engines local ray]

Cases of two systems, with dialogues, clusters, errors and missing answers. The reference is a call with one process.
All other calls are compared with it byte by byte (``cases/`` and ``summary.json``): four processes, the lines of both
files shuffled, each engine, and calls that SIGKILL ends at random moments before one may finish. The script exits with
1 if any differs. A test compares scores and gates with `pytest --rag-answers`, for any number of cases:

    SCORED_CASES=10000 pytest tests/plugin/scoring
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from measuring import environment, table

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.samples.recorded_data import answer_rows, case_rows, write_rows

CHUNKS = 40
"""Approximate number of chunks; several, so a kill can lose some."""

CODE = """
import sys
from pytest_rageval.scoring import split
split.CHUNK_BYTES = int(sys.argv[1])
from pytest_rageval.cli import main
sys.exit(main(["score", *sys.argv[3:], "--metrics", "accuracy,token_f1,rejection_rate", "--gate", "accuracy >= 0.1",
               "--gate", "token_f1[topic=*] >= 0.1", "--by", "topic", "--matrix", "accuracy", "--cluster", "doc",
               "--out", sys.argv[2]]))
"""


class Calls:
    """Calls of `rageval score` in one folder.

    Args:
        folder: the folder, with the files of cases and answers.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        size = sum((folder / name).stat().st_size for name in ("cases.jsonl", "answers.jsonl"))
        self._chunk_bytes = size // CHUNKS

    def start(self, out: str, *args: str, subfolder: str = "") -> subprocess.Popen[bytes]:
        """Start a call that writes the folder ``out``; its input files are in the folder ``subfolder``."""
        files = (f"jsonl:{subfolder}cases.jsonl", f"{subfolder}answers.jsonl")
        command = [sys.executable, "-c", CODE, str(self._chunk_bytes), out, *files, *args]
        env = environment(self._folder) | {"RAY_AUTH_MODE": "disabled"}
        with (self._folder / "log.txt").open("ab") as log:
            return subprocess.Popen(command, cwd=self._folder, env=env, stdout=log, stderr=log)

    def whole(self, out: str, *args: str, subfolder: str = "") -> dict[str, bytes]:
        """Return the files of a call that must not differ."""
        status = self.start(out, *args, subfolder=subfolder).wait()
        if status:
            sys.exit(f"rageval score exited with {status}:\n{(self._folder / 'log.txt').read_text()}")
        paths = [*sorted((self._folder / out / "cases").iterdir()), self._folder / out / "summary.json"]
        return {path.name: path.read_bytes() for path in paths}

    def chunk_count(self, out: str) -> int:
        """Return the number of chunks that the folder of a killed call holds."""
        return len(list((self._folder / out).glob("work/results/*")))


def kills(calls: Calls, expected: dict[str, bytes], seconds: float, trials: int, draw: random.Random) -> Iterator[bool]:
    """Yield for each trial whether a killed and restarted call writes the expected bytes."""
    for trial in range(trials):
        process = calls.start(f"killed-{trial}", "--jobs", "2")
        time.sleep(draw.uniform(0.0, 1.0) * seconds)
        process.kill()
        process.wait()
        print(f"kill {trial + 1}: {calls.chunk_count(f'killed-{trial}')} chunks were finished", flush=True)
        yield calls.whole(f"killed-{trial}", "--jobs", "2") == expected


def main() -> int:
    """Compare, print a table, and return 1 if anything differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", nargs="*", default=["ray"] if find_spec("ray") else [])
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    folder = Path(tempfile.mkdtemp(prefix="rag-"))
    try:
        (folder / "other-order").mkdir()
        rows = {"cases": list(case_rows(arguments.cases)), "answers": list(answer_rows(arguments.cases, seed=5))}
        for name, each in rows.items():
            write_rows(folder / f"{name}.jsonl", each)
            draw.shuffle(each)
            write_rows(folder / "other-order" / f"{name}.jsonl", each)
        calls = Calls(folder)
        expected = calls.whole("one", "--jobs", "1")
        same = {
            "--jobs 4": calls.whole("four", "--jobs", "4") == expected,
            "lines shuffled": calls.whole("shuffled", "--jobs", "2", subfolder="other-order/") == expected,
        }
        for engine in arguments.engines:
            same[f"--engine {engine}"] = calls.whole(engine, "--engine", engine, "--jobs", "2") == expected
        start = time.perf_counter()
        calls.whole("two", "--jobs", "2")
        seconds = time.perf_counter() - start
        survived = list(kills(calls, expected, seconds, arguments.kills, draw))
        same[f"{sum(survived)} of {len(survived)} kills"] = all(survived)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{arguments.cases:,} cases, {len(expected) - 1} chunks, seed {arguments.seed}\n")
    print(table([["", "the same bytes"], *([name, "yes" if good else "NO"] for name, good in same.items())]))
    return int(not all(same.values()))


if __name__ == "__main__":
    sys.exit(main())
