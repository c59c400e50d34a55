"""The files that runs write (results, recordings, baselines), and the commands that read them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from chaos_formats import CASES, FIXTURES, MODEL, PYTEST, SYSTEM, Files, Target, suite

__all__ = ["RECORDS", "RESULTS", "stored_targets"]

RESULTS, RECORDS = "mutated results.json", "cassettes and baselines"
INI = b"[pytest]\nrag_record_mode = none\n"
LABELS = b'{"id": "q1", "label": "1"}\n{"id": "q2", "label": "0"}\n'
GATES = '["accuracy >= 0.1", "accuracy >= baseline - 0.1"]'
ENDS = b"""
import asyncio
import os
import pytest

async def answer(query):
    if "shop" in query.question and "ENDS" in os.environ:
        await asyncio.sleep(1.5)  # the cases before it end
        os._exit(3)
    return "9:00"

@pytest.fixture(scope="session")
def rag_system():
    return answer
"""
READ = (
    "rageval show r.json", "rageval export r.json --as html --out o.html", "rageval export r.json --as markdown",
    "rageval compare base.json r.json", "rageval compare r.json base.json", "rageval history",
)  # fmt: skip
READ_TOO = (
    "rageval export r.json --as codequality", "rageval export r.json --as csv", "rageval export r.json --as latex",
    "rageval export r.json --as json", "rageval compare r.json r.json --json", "rageval history --json",
    "rageval agreement labels.jsonl r.json --metric accuracy",
)  # fmt: skip


def stored_targets() -> Iterator[Target]:
    """Run the tests of a small project in every way that writes files, and yield a target for each."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        project_files = {
            "cases.jsonl": CASES,
            "s.rag.toml": suite(gates=GATES),
            "conftest.py": SYSTEM,
            "pytest.ini": b"[pytest]\n",
        }
        write(folder, project_files)
        _run(folder, "--rag-record-mode all --rag-update-baseline --rag-baseline b.json")
        _run(folder, "--rag-record-mode none --rag-baseline b.json --rag-json r.json")
        for number in (1, 2):
            _run(
                folder, f"--rag-record-mode none --rag-baseline b.json --rag-shard {number}/2 --rag-json {number}.json"
            )
        records = {path: (folder / path).read_bytes() for path in ("b.json", "r.json", "1.json", "2.json")}
        recordings = read(folder, "cassettes")
    yield from _results(records)
    yield from _recordings(project_files, recordings, records["b.json"])
    yield from _models()
    yield from _unfinished()


def _results(records: Files) -> Iterator[Target]:
    for at, name in enumerate(("reports/museum.json", "html/results.json", "r.json", "r.json")):
        data = records.get(name) or (FIXTURES / name).read_bytes()
        files = {"r.json": data, "base.json": records["r.json"], "labels.jsonl": LABELS, "pytest.ini": b"[pytest]\n"}
        yield Target(
            RESULTS, name, {**files, ".rageval/runs/r/results.json": data}, "r.json", (*READ, *READ_TOO[at::4])
        )
    shards = {name: records[name] for name in ("1.json", "2.json")}
    merge = ("rageval merge 1.json 2.json --out m.json --markdown m.md", "rageval merge 2.json 1.json")
    yield Target(RESULTS, "shard", shards, "1.json", merge)


def _recordings(project_files: Files, recordings: Files, baseline: bytes) -> Iterator[Target]:
    (cassette,) = recordings
    replayed = {**project_files, **recordings, "pytest.ini": INI, "b.json": baseline}
    with_baseline = f"{PYTEST} --rag-baseline b.json"
    for _ in range(2):
        yield Target(
            RECORDS,
            "cassette",
            replayed,
            cassette,
            (with_baseline, f"{with_baseline} --rag-record-mode new_episodes", "rageval cassettes"),
        )
        yield Target(RECORDS, "baseline", replayed, "b.json", (with_baseline, "rageval compare b.json b.json",
                     f"{with_baseline} --rag-update-baseline-part"))  # fmt: skip


def _models() -> Iterator[Target]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        project_files = {
            "cases.jsonl": CASES,
            "s.rag.toml": suite(),
            "conftest.py": MODEL,
            "pytest.ini": INI + b"rag_system = llm\n",
        }
        write(folder, project_files)
        _run(folder, "--rag-record-mode all")
        recordings = read(folder, "cassettes")
    (cassette,) = recordings
    yield Target(RECORDS, "model cassette", {**project_files, **recordings}, cassette)


def _unfinished() -> Iterator[Target]:
    """Run a project whose process ends at its third case; yield a target for each file of the unfinished run."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        project_files = {"cases.jsonl": CASES, "s.rag.toml": suite(), "conftest.py": ENDS, "pytest.ini": b"[pytest]\n"}
        write(folder, project_files)
        command = [sys.executable, "-m", *PYTEST.split()]
        subprocess.run(command, cwd=folder, env={**os.environ, "ENDS": "1"}, capture_output=True, check=False)
        run_files = read(folder, ".rageval/runs")
    for path in filter(run_files.get, run_files):  # an empty file cannot be broken
        commands = (f"{PYTEST} --rag-resume", "rageval history", "rageval cassettes")
        yield Target(RECORDS, "unfinished run", {**project_files, **run_files}, path, commands)


def write(folder: Path, files: Files) -> None:
    """Write the files of a project."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def read(folder: Path, below: str) -> Files:
    """Return the files of a folder of a project."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / below).rglob("*") if path.is_file()}


def _run(folder: Path, arguments: str) -> None:
    output, home = StringIO(), os.getcwd()
    os.chdir(folder)
    with redirect_stdout(output), redirect_stderr(output):
        status = pytest.main([*PYTEST.split()[1:], *arguments.split()])
    os.chdir(home)
    if status not in (0, 1):
        sys.exit(f"pytest {arguments} exited with {status}:\n{output.getvalue()}")
