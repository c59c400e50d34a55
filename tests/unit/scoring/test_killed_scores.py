"""A killed `rageval score` continues in the next call and writes the same bytes."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from support.processes.process_table import adopting_orphans, descendants, wait_until_ended
from support.samples.recorded_data import answer_rows, case_rows, write_rows

from pytest_rageval.cli import main
from pytest_rageval.scoring.chunk import score_chunk

N, CHUNK_BYTES, KILLS = 600, 8_000, 4

CODE = f"""
import sys
from pytest_rageval.scoring import split
split.CHUNK_BYTES = {CHUNK_BYTES}
from pytest_rageval.cli import main
sys.exit(main(["score", "jsonl:cases.jsonl", "answers.jsonl", "--metrics", "accuracy,token_f1", "--gate",
               "accuracy >= 0.1", "--by", "topic", "--jobs", "2", "--out", sys.argv[1]]))
"""


def _start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CODE, out]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def _files(folder: Path) -> dict[str, bytes]:
    paths = [*sorted((folder / "cases").iterdir()), folder / "summary.json"]
    return {path.name: path.read_bytes() for path in paths}


def _run_to_end(folder: Path, out: str) -> float:
    start = time.perf_counter()
    process = _start(folder, out)
    _, error = process.communicate()
    assert (process.returncode, error) == (0, b"")
    return time.perf_counter() - start


def _wait_for_result(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a chunk is scored or the call has ended."""
    while process.poll() is None and not any(folder.glob("work/results/*")):
        time.sleep(0.005)


@pytest.mark.timeout(300)
def test_killed_calls_lose_no_scored_chunk(tmp_path: Path) -> None:
    write_rows(tmp_path / "cases.jsonl", case_rows(N))
    write_rows(tmp_path / "answers.jsonl", answer_rows(N, seed=5))
    seconds = _run_to_end(tmp_path, "whole")
    rng = random.Random(4)
    runs_with_results = 0
    for kill in range(KILLS):
        others = set(descendants())
        process = _start(tmp_path, "killed")
        if kill % 2:
            time.sleep(rng.uniform(0.2, 1.0) * seconds)
        else:
            _wait_for_result(tmp_path / "killed", process)
        with adopting_orphans():
            process.kill()
            process.communicate()
            assert not wait_until_ended(set(descendants()) - others, 20)
        runs_with_results += any((tmp_path / "killed").glob("work/results/*"))
        if kill % 2:
            _run_to_end(tmp_path, "killed")
            assert _files(tmp_path / "killed") == _files(tmp_path / "whole")
            shutil.rmtree(tmp_path / "killed")
    assert runs_with_results


def test_finished_chunks_are_not_scored_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pytest_rageval.scoring.split.CHUNK_BYTES", CHUNK_BYTES)
    write_rows(tmp_path / "cases.jsonl", case_rows(100))
    write_rows(tmp_path / "answers.jsonl", answer_rows(100, seed=5))
    call = ["score", "jsonl:cases.jsonl", "answers.jsonl", "--metrics", "accuracy", "--jobs", "1", "--out", "scores"]
    scored_chunks: list[bytes] = []

    def score_and_count(job: bytes, chunk: bytes, most: int) -> bytes:
        if len(scored_chunks) == most:
            raise KeyboardInterrupt
        scored_chunks.append(chunk)
        return score_chunk(job, chunk)

    monkeypatch.setattr("pytest_rageval.scoring.chunk.score_chunk", partial(score_and_count, most=3))
    assert main(call) == 130
    monkeypatch.setattr("pytest_rageval.scoring.chunk.score_chunk", partial(score_and_count, most=1_000))
    assert main(call) == 0
    assert len(scored_chunks) == len(set(scored_chunks)) > 3
