"""A project with a corpus that is large enough for an index on disk."""

from __future__ import annotations

import sys

from support.projects.rag_project import Project, case

__all__ = ["RAGEVAL", "built", "corpus", "shop"]

CASES = [case(f"q{number}", f"What is kept in drawer {number}?", f"item {number}") for number in range(8)]

COUNTING_CONFTEST = """
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
"""A conftest with BM25 as the retriever "counted": it adds a line to count.txt for each index that it builds."""

RAGEVAL = [sys.executable, "-c", "from pytest_rageval.cli import main; raise SystemExit(main())"]


def corpus(project: Project, count: int = 2_000) -> None:
    """Write a corpus with the smallest number of passages that gets an index on disk."""
    lines = (f"In drawer {number} is item {number}, beside other things." for number in range(count))
    project.file("kb.txt", "\n".join(lines))


def shop(project: Project, *ini: str, conftest: str = COUNTING_CONFTEST) -> Project:
    """Make a project whose cases are answered from its corpus."""
    project.says(CASES, "gates=['accuracy >= 1']", conftest=conftest)
    retriever_lines = ["rag_retriever = counted"] if conftest is COUNTING_CONFTEST else []
    project.file("pytest.ini", "\n".join(["[pytest]", "rag_corpus = lines:kb.txt", *retriever_lines, *ini]))
    corpus(project)
    return project


def built(project: Project) -> int:
    """Return how often an index was built."""
    path = project.path / "count.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0
