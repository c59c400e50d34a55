"""Run a command as a child process and measure its time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

__all__ = ["Cost", "alternate", "bare_project", "environment", "pace", "pytest_command", "run", "table"]

ROOT = Path(__file__).parents[2]
_KIB = 1024 if sys.platform == "darwin" else 1  # ru_maxrss units per KiB

BARE = """
import pytest


@pytest.mark.parametrize("number", range({n}))
def test_bare(number):
    pass
"""
BARE_CPU_S = 0.47
"""CPU seconds of 1,000 bare tests on the machine of the targets: two idle cores, Python 3.11."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a child process: wall seconds, CPU seconds and peak MiB."""

    wall: float
    cpu: float
    peak: float

    @classmethod
    def median(cls, costs: Sequence[Cost]) -> Cost:
        """Return the median of each."""
        return cls(*(median(getattr(cost, name) for cost in costs) for name in ("wall", "cpu", "peak")))

    def minus(self, other: Cost) -> Cost:
        """Return the difference of each."""
        return Cost(self.wall - other.wall, self.cpu - other.cpu, self.peak - other.peak)


def pytest_command(*args: str) -> list[str]:
    """Return a pytest command that loads only the plugins in ``args``."""
    return [sys.executable, "-m", "pytest", "-q", *args]


def bare_project(folder: Path, n: int) -> list[str]:
    """Write ``n`` bare tests and return the command that runs them."""
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_bare.py").write_text(BARE.format(n=n))
    return pytest_command()


def pace(rounds: int = 3) -> float:
    """Return this machine's CPU seconds for 1,000 bare tests now, divided by those of the targets' machine."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "bare")
        [costs] = alternate(rounds, (bare_project(folder, 1_000), folder, False))
    return Cost.median(costs).cpu / BARE_CPU_S


def environment(folder: Path, *, autoload: bool = False) -> dict[str, str]:
    """Return the environment of a child: it imports this checkout and stores its byte code in ``folder``.

    The name begins with a dot, so pytest does not search hundreds of folders of byte code for tests.
    """
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PYTHON", "COV"))}
    switch = {} if autoload else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**keep, **switch, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / ".pycache")}


def run(command: Sequence[str], folder: Path, *, autoload: bool = False, expect: int = 0) -> Cost:
    """Run ``command`` in ``folder`` and return its cost; end the script if its status is unexpected.

    A child's peak is at least its parent's size when it was started, so a script that measures imports little.
    """
    env = environment(folder, autoload=autoload)
    log = folder / "log.txt"
    with log.open("w") as stream:
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != expect:
        sys.exit(f"{' '.join(command)}\nexited with {child.returncode}:\n{log.read_text()}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / _KIB / 1024)


def alternate(rounds: int, *sides: tuple[Sequence[str], Path, bool]) -> list[list[Cost]]:
    """Run (command, folder, autoload) of each side in turn, once to warm up and then ``rounds`` times."""
    costs: list[list[Cost]] = [[] for _ in sides]
    for number in range(rounds + 1):
        order = list(enumerate(sides))
        for at, (command, folder, autoload) in order if number % 2 else reversed(order):
            cost = run(command, folder, autoload=autoload)
            if number:
                costs[at].append(cost)
    return costs


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned text; the first row is the head, the first column is left-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in
             enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]  # fmt: skip
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
