"""What tests of indexes share: a project with a corpus that is large enough for an index on disk."""

from __future__ import annotations

import sys

from support.projects.rag_project import Project, case

__all__ = ["RAGEVAL", "built", "corpus", "shop"]

ASKED = [case(f"q{number}", f"What is kept in drawer {number}?", f"item {number}") for number in range(8)]

COUNTED = """
    from pathlib import Path

    from pytest_rageval.retrieval.bm25 import build

    def counted(parts):
        get = parts.store.get

        def counting(made_of, make):
            def noted(folder):
                with open(Path(__file__).parent / "count.txt", "a") as stream:
                    stream.write("built\\n")
                return make(folder)

            return get(made_of, noted)

        parts.store.get = counting
        return build(parts)

    def pytest_rageval_register(registry):
        registry.retrievers.register("counted", counted)
"""
"""A conftest with BM25 as the retriever "counted", which notes in a file when an index is built."""

RAGEVAL = [sys.executable, "-c", "from pytest_rageval.cli import main; raise SystemExit(main())"]


def corpus(project: Project, count: int = 2_000) -> None:
    """Write a corpus that has just as many passages as an index on disk needs."""
    lines = (f"In drawer {number} is item {number}, beside other things." for number in range(count))
    project.file("kb.txt", "\n".join(lines))


def shop(project: Project, *ini: str, conftest: str = COUNTED) -> Project:
    """Make a project whose cases are answered from its corpus."""
    project.says(ASKED, "gates=['accuracy >= 1']", conftest=conftest)
    chosen = ["rag_retriever = counted"] if conftest is COUNTED else []
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_corpus = lines:kb.txt", *chosen, *ini]))
    corpus(project)
    return project


def built(project: Project) -> int:
    """Return how often an index was built."""
    path = project.path / "count.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0
