"""Malformed evidence and spans outside their document are refused."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, Row, case
from support.projects.refused_projects import refused

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl"{arguments})
    def test_it(rag):
        ...
"""
OPENS = {"page": "docs/visit.md", "quote": "opens at 9:00"}


def write_project(project: Project, unit: Row) -> None:
    """Make a project whose second record has this unit."""
    project.file("docs/visit.md", "# Visit\n\nThe museum opens\nat 9:00.")
    project.file("pytest.ini", "[pytest]\nrag_corpus = docs/*.md\nrag_chunking = sentences 1")
    rows = [case(f"q{at}", "When?", "9:00", evidence=[each]) for at, each in enumerate((OPENS, unit), 1)]
    project.says(rows, "metrics=['accuracy']", TEST, conftest="")


def test_a_span_outside_its_document_is_refused(project: Project) -> None:
    write_project(project, {"page": "docs/visit.md", "span": [9, 900]})
    outside = "the span [9, 900] of its evidence is outside the document 'docs/visit.md', which has 35 code points"
    assert refused(project) == f"cases.jsonl:2: {outside}; correct the span"


@pytest.mark.parametrize(
    ("unit", "problem"),
    [
        ({"quote": "opens"}, "the field evidence[0].page is missing, wanted an integer or a string that is not empty"),
        (OPENS | {"span": [0, 1]}, "evidence[0]: found both quote and span, wanted one of them"),
        (OPENS | {"quote": ""}, "evidence[0].quote: found '', wanted a string that is not empty"),
    ],
)
def test_a_malformed_unit_is_refused(project: Project, unit: Row, problem: str) -> None:
    write_project(project, unit)
    assert refused(project) == f"cases.jsonl:2: {problem}"
