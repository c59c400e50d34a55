"""What tests of indexes share: a project with a corpus that is large enough for an index on disk."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from rag_project import Project, case

__all__ = ["COUNTED", "RAGEVAL", "built", "corpus", "rageval", "shop"]

ASKED = [case(f"q{number}", f"What is kept in drawer {number}?", f"item {number}") for number in range(8)]

COUNTED = """
    from pathlib import Path

    import pytest_rageval.retrieval.bm25
    from pytest_rageval.retrieval.bm25_index import Bm25Index

    pytest_rageval.retrieval.bm25.KEPT_FROM = 100
    Bm25Index.__init__ = (lambda make: lambda *args: (note(args[1:]), make(*args))[1])(Bm25Index.__init__)

    def note(args):
        if args[1:] == (0.9, 0.4):
            with open(Path(__file__).parent / "count.txt", "a") as stream:
                stream.write("built\\n")
"""
"""A conftest that has an index of 100 passages kept, and counts in a file how often one is built."""

RAGEVAL = [sys.executable, "-c", "from pytest_rageval.cli import main; raise SystemExit(main())"]


def corpus(project: Project, count: int = 200) -> None:
    lines = (f"In drawer {number} is item {number}, beside other things." for number in range(count))
    project.file("kb.txt", "\n".join(lines))


def shop(project: Project, *ini: str, conftest: str = COUNTED) -> Project:
    """Make a project whose cases are answered from its corpus."""
    project.says(ASKED, "gates=['accuracy >= 1']", conftest=conftest)
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_corpus = lines:kb.txt", *ini]))
    corpus(project)
    return project


def built(project: Project) -> int:
    """Return how often an index was built."""
    path = project.path / "count.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def rageval(project: Project, *args: str, env: Mapping[str, str] | None = None) -> Any:
    """Run the command in the project."""
    return subprocess.run([*RAGEVAL, *args], cwd=project.path, capture_output=True, text=True, env=env)
