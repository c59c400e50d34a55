"""`rageval lint` reads formats of a project; the summary reports lines that were left out."""

from __future__ import annotations

import json

from support.projects.rag_project import Project

REGISTERS = """
    from pytest_rageval import Instance

    def load(path):
        return [Instance("q1", "Where?", (("Ann;Bo",),), origin=f"{path.name}:1")]

    def pytest_rageval_register(registry):
        registry.datasets.register("mine", load)
"""


def test_lint_reads_a_format_that_the_project_registers(project: Project) -> None:
    project.file("conftest.py", REGISTERS)
    project.file("data.txt", "x")
    run = project.command("lint", "mine:data.txt", "--strict")
    assert run.returncode == 1, run.stderr
    assert run.stdout.startswith("data.txt:1: warning: joined_names q1: the alias 'Ann;Bo' contains 2 names")


def test_the_summary_notes_conversations_without_turns(project: Project) -> None:
    turn = {"question": "say Paris", "answer": ["Paris"]}
    lines = "".join(json.dumps(line) + "\n" for line in ([], [turn], []))
    project.file("tree/A/B/conversational_qa.jsonl", lines)
    project.says([])
    project.file("test_it.py", """
        from pytest_rageval import rag_case

        @rag_case("omnieval:tree")
        def test_it(rag): ...
    """)  # fmt: skip
    run = project.run()
    [note] = run.results["plan"]["notes"]
    assert note.startswith("omnieval:tree: 2 lines are no cases, the first: a conversation of zero turns at ")
    assert note.endswith("conversational_qa.jsonl:1")
    assert f"warning: {note}\n" in run.prose
    assert len(run.outcomes) == 1
