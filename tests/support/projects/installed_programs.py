"""Run installed programs in a folder, as a user or a CI server does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from ..processes.forked_workers import WorkerServer

__all__ = ["ALL_PLUGINS", "QuickProgram", "clean_environment", "quick_program", "run_program"]

QuickProgram = Callable[..., tuple[int, str]]
"""`run_program` for pytest and `rageval` alone."""

LEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist -p pytest_rageval.plugin"}
"""Loading all installed plugins takes pytest longer than a small suite."""

ALL_PLUGINS = dict.fromkeys(LEAN, "")
"""The environment of a user: pytest loads what is installed."""


def clean_environment(extra: Mapping[str, str] = {}) -> dict[str, str]:
    """Return the environment without variables of pytest or CI servers; programs of this Python come first."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    return {**env, **LEAN, **extra}


def run_program(folder: Path, *command: str, env: Mapping[str, str] = {}, errors: bool = True) -> tuple[int, str]:
    """Run a command in a folder, and return its status and its output, with or without its errors."""
    process = subprocess.run(
        command, cwd=folder, env=clean_environment(env), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if errors else subprocess.DEVNULL, text=True, check=False,
    )  # fmt: skip
    return process.returncode, process.stdout


@pytest.fixture(scope="session")
def quick_program(worker_server: WorkerServer) -> QuickProgram:
    """Return `run_program` for pytest and `rageval`, in processes that have imported them before."""
    if sys.platform != "linux":
        return run_program

    def run(
        folder: Path, program: str, *arguments: str, env: Mapping[str, str] = {}, errors: bool = True
    ) -> tuple[int, str]:
        with TemporaryFile("w+", encoding="utf-8") as output, open(os.devnull, "r+") as nothing:
            streams = (nothing.fileno(), output.fileno(), (output if errors else nothing).fileno())
            process = worker_server.fork(
                streams, arguments, clean_environment(env), program=program, folder=os.fspath(folder)
            )
            status = process.wait(300)
            output.seek(0)
            return status, output.read()

    return run
