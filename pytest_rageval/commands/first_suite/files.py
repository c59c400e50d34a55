"""The texts of the files of a first suite."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_rageval.toml_files import toml_string

__all__ = ["pytest_ini", "suite_toml", "workflow"]

_INI = """\
[pytest]
testpaths = tests
{system}# Once `pytest --rag-baseline rag-baseline.json --rag-update-baseline` has written it:
# rag_baseline = rag-baseline.json
"""

_SUITE = """\
[[testbed]]
name = "first"
dataset = {dataset}
metrics = ["accuracy", "token_f1"]
gates = [
    "accuracy >= 0.5",  # a first guess: raise it to what your system reaches
    "error_rate <= 1%",
    # "accuracy >= baseline - 0.05",  # once there is a baseline
]
"""

_WORKFLOW = """\
name: rag
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  rag:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "{python}"
      - run: python -m pip install "pytest-rageval[html]"{requirements}
      - run: python -m {pytest} --junitxml junit.xml --rag-json results.json --rag-html rag.html
      - uses: actions/upload-artifact@v4
        if: ${{{{ !cancelled() }}}}
        with:
          name: rag
          path: |
            junit.xml
            results.json
            rag.html
"""


def pytest_ini(system: str) -> str:
    """Return pytest's settings, with the system as ``rag_system`` unless it is ""."""
    return _INI.format(system=f"rag_system = {system}\n" if system else "")


def suite_toml(dataset: str) -> str:
    """Return a suite with one testbed for the dataset ``format:path``."""
    return _SUITE.format(dataset=toml_string(dataset))


def workflow(folder: Path, pytest: Sequence[str]) -> str:
    """Return a workflow of GitHub Actions that installs the project in ``folder`` and runs ``pytest``, a command."""
    requirements = " -r requirements.txt" if (folder / "requirements.txt").exists() else ""
    if not requirements and _is_package(folder / "pyproject.toml"):
        requirements = " -e ."
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return _WORKFLOW.format(python=python, requirements=requirements, pytest=shlex.join(pytest))


def _is_package(pyproject: Path) -> bool:
    """Return whether pip can install the project; some pyproject.toml files have only the settings of tools."""
    text = pyproject.read_text(encoding="utf-8", errors="replace") if pyproject.is_file() else ""
    return any(f"\n{table}" in f"\n{text}" for table in ("[project]", "[tool.poetry]"))
