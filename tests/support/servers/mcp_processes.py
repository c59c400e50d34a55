"""Processes of the server in `mcp_desk`, and environments over them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pytest_rageval.component_options import ComponentOptions
from pytest_rageval.environments import Environment, EnvironmentParts
from pytest_rageval.environments.mcp.kind import build

__all__ = ["COMMAND", "SCRIPT", "alive", "environment", "noted", "served"]

SCRIPT = Path(__file__).with_name("mcp_desk.py")
COMMAND = shlex.join([sys.executable, str(SCRIPT)])


def environment(options: Mapping[str, str], *, replays: bool = False, folder: Path = Path()) -> Environment:
    """Return the environment ``crm`` of an ini line with these options."""
    where = "rag_environments: crm"
    corpora = None  # of no use here
    parts = EnvironmentParts(
        "crm", "mcp", where, ComponentOptions(options, where), corpora, folder=folder, replays=replays,  # type: ignore[arg-type]
    )  # fmt: skip
    return build(parts)


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve over HTTP inside the block; yield the address and the process. Later servers of a folder get its port."""
    port = folder / "port"
    before = port.stat().st_mtime_ns if port.exists() else 0
    with subprocess.Popen([sys.executable, str(SCRIPT), str(folder)]) as popen:
        end = time.monotonic() + 30
        while (not port.exists() or not port.read_text() or port.stat().st_mtime_ns == before) and popen.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{port.read_text()}/mcp", popen
        finally:
            popen.kill()


def noted(file: Path) -> list[int]:
    """Return the processes that a file of ``RAGEVAL_DESK`` lists."""
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def alive(pids: list[int], seconds: float = 2.0) -> list[int]:
    """Return the processes that still live after these seconds."""
    end = time.monotonic() + seconds
    while (living := [pid for pid in pids if _lives(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return living


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
