"""Qrels that name documents missing in ``rag_corpus`` are refused or reported."""

from __future__ import annotations

import pytest
import pytrec_eval_ext  # noqa: F401 - pytester unloads what a run imports, and this module can be loaded only once
from support.projects.rag_project import Mode, Project, case
from support.projects.refused_projects import refused

CORPUS = "# Warranty\n\nA kettle has two years.\n\n## Parcels\n\nThey leave on Mondays."
TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl"{arguments})
    def test_it(rag):
        rag["R@5"]
"""
LINE = "test_it.py:3: rag_corpus contains no document that is judged relevant"


def write_project(project: Project, *names: str, arguments: str = 'metrics=["R@5"], gates=["R@5 >= 0"]') -> None:
    """Make a project with a corpus of two chunks of one page; the record q1 judges these documents, q2 none."""
    rows = [case("q1", "How long for a kettle?", qrels=dict.fromkeys(names, 1)), case("q2", "When do parcels leave?")]
    project.says(rows, arguments, TEST, conftest="")
    project.file("kb.md", CORPUS)
    project.file("pytest.ini", "[pytest]\nrag_corpus = kb.md\nrag_chunking = sections\n")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "ZZZ",
            f"{LINE}: the qrels judge documents such as 'ZZZ', and it has 'kb.md#0'; correct the qrels or rag_corpus",
        ),
        ("kb.md", f"{LINE}: 'kb.md' is the page of its 'kb.md#0'; use page_R@k, or judge ids such as 'kb.md#0'"),
    ],
)
def test_nothing_runs_if_all_judged_documents_are_missing(project: Project, name: str, problem: str) -> None:
    write_project(project, name)
    assert refused(project) == problem


def test_a_file_of_judgements_is_checked_even_without_a_ranking_metric(project: Project) -> None:
    project.file("j.qrels", "q1 0 NOPE 1")
    write_project(project, "kb.md#0", arguments='qrels="j.qrels", metrics=["accuracy"]')
    assert "the qrels judge pages such as 'NOPE', and it has 'kb.md'" in refused(project)
    project.file("j.qrels", "q1 0 kb.md 1")  # valid, because a page metric in the test's body would use it
    assert project.run("-k", "q1").status in (0, 1)


def test_the_summary_reports_missing_documents(project: Project, mode: Mode) -> None:
    write_project(project, "kb.md#0", "ZZZ", "kb.md")
    run = project.run(*mode, "-k", "q1")
    assert run.status == 0
    warning = "test_it.py::test_it: rag_corpus lacks 2 of the 3 documents that are judged relevant, the first 'ZZZ'"
    assert run.prose.count(warning) == 1


def test_page_metrics_check_pages(project: Project) -> None:
    for names, status in ((("kb.md",), 0), (("kb.md#7",), 0), (("other.md",), 4)):
        write_project(project, *names, arguments='metrics=["page_R@5"], gates=["page_R@5 >= 0"]')
        run = project.run("-k", "q1")
        assert run.status == status
        assert "lacks" not in run.text
    assert "rag_corpus contains no page that is judged relevant" in run.result.stderr.str()


def test_qrels_may_name_unknown_documents_if_no_metric_reads_ids(project: Project) -> None:
    write_project(project, "ZZZ", arguments='metrics=["accuracy"], gates=["accuracy >= 0"]')
    assert project.run("-k", "q1").status == 0
    conftest = """
        import pytest
        from pytest_rageval import Answer, Ranking, ScoredPassage

        @pytest.fixture(scope="session")
        def rag_system(rag_corpus):
            return lambda query: Answer("", Ranking((ScoredPassage("ZZZ"),)))
    """
    write_project(project, "ZZZ")
    project.file("conftest.py", conftest)
    assert project.run("-k", "q1").outcomes["q1"]["scores"]["R@5"]["value"] == 1
