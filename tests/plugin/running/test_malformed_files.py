"""Malformed files of every format in the commands: no traceback, no hang, little memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
INPUTS = 12


@pytest.mark.skipif(sys.platform == "win32", reason="needs alarms and limits of a process")
def test_a_malformed_file_gives_a_result_or_an_error_of_one_sentence() -> None:
    command = [sys.executable, "tests/benchmarks/chaos.py", "--only", "fuzz", "--trials", str(INPUTS), "--seed", "0"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    rows = [line.split()[-5:] for line in process.stdout.splitlines()[-3:]]
    assert sum(int(trials) for trials, *_ in rows) == INPUTS
    assert all(survived == trials for trials, survived, *_ in rows)
    assert all(row[2:] == ["0", "0", "0"] for row in rows)
