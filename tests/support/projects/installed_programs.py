"""Run installed programs in a folder, as a user or a CI server does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["ALL_PLUGINS", "clean_environment", "run_program"]

LEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist -p pytest_rageval.plugin"}
"""Loading all installed plugins takes pytest longer than a small suite."""

ALL_PLUGINS = dict.fromkeys(LEAN, "")
"""The environment of a user: pytest loads what is installed."""


def clean_environment(extra: Mapping[str, str] = {}) -> dict[str, str]:
    """Return the environment without what pytest or a CI server has set, this Python's programs first on the path."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    return {**env, **LEAN, **extra}


def run_program(folder: Path, *command: str, env: Mapping[str, str] = {}) -> tuple[int, str]:
    """Run a command in a folder, and return its status and its output with its errors."""
    done = subprocess.run(
        command, cwd=folder, env=clean_environment(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout
