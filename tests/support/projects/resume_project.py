"""A project whose runs are interrupted and resumed."""

from __future__ import annotations

from pathlib import Path

from support.projects.rag_project import Project, Run

SAYS = """
    import os
    import pathlib
    import time
    import pytest

    def say(query):
        with open("asked.txt", "a") as file:
            file.write(query.question + "\\n")
        time.sleep(float(os.environ.get("SAY_S", "0")))
        word, _, rest = query.question.partition(" ")
        if word == "raise":
            raise ValueError(rest)
        return rest.partition(" ")[0] + "".join(f" < {turn.answer}" for turn in query.history)

    @pytest.fixture(scope="session")
    def rag_system():
        return say

    def pytest_runtest_setup(item):
        stop = pathlib.Path("stop.txt")
        if stop.exists() and item.name == stop.read_text():
            pytest.exit("stopped")
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 0.1"]{arguments})
    def test_it(rag, record_property):
        print("said:", rag.answer.text)
        record_property("case", rag.case.id)
        assert "Bern" not in rag.answer.text, rag.answer.text
"""

BERN = "say Bern"


def asked(project: Project) -> list[str]:
    path = project.path / "asked.txt"
    return path.read_text().splitlines() if path.exists() else []


def stop(project: Project, name: str, *args: str) -> Run:
    """Run the project until a test, and delete the log of questions."""
    (project.path / "stop.txt").write_text(name)
    run = project.run(*args)
    (project.path / "stop.txt").unlink()
    (project.path / "asked.txt").unlink(missing_ok=True)
    assert run.status == 2
    return run


def resume(project: Project, *args: str) -> Run:
    return project.run("--rag-resume", *args, fresh=False)


def folders(project: Project) -> list[Path]:
    return sorted((project.path / ".rageval" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
