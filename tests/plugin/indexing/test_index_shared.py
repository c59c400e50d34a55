"""The index of a large corpus is built once, for all workers and later runs."""

from __future__ import annotations

from support.projects.index_projects import built, corpus, shop
from support.projects.rag_project import Mode, Project


def ranked_ids(project: Project, *args: str) -> list[list[str]]:
    """Run the tests, and return the ids that each case retrieved."""
    result = project.pytester.runpytest_inprocess(*args)
    assert result.ret == 0, result.stdout.str()
    return [[d["doc_id"] for d in outcome["answer"]["ranking"]] for outcome in project.stored_results()["outcomes"]]


def test_the_index_is_built_once_and_reused_by_the_next_run(project: Project, mode: Mode) -> None:
    shop(project)
    first = ranked_ids(project, *mode)
    assert built(project) == 1
    assert ranked_ids(project) == first
    assert built(project) == 1
    assert {passages[0] for passages in first} == {f"kb.txt:{number + 1}" for number in range(8)}


def test_concurrent_workers_build_one_index(project: Project) -> None:
    shop(project)
    assert len(ranked_ids(project, "-n4")) == 8
    assert built(project) == 1


def test_an_index_depends_on_the_passages_of_a_fixture(project: Project) -> None:
    shop(project)
    conftest = (project.path / "conftest.py").read_text()
    corpus_fixture = """
import pytest
from pytest_rageval import Passage

@pytest.fixture(scope="session")
def rag_corpus():
    return [Passage(f"own{n}", f"In drawer {n} is item {n}.") for n in range(2_000)]
"""
    (project.path / "conftest.py").write_text(conftest + corpus_fixture)
    first = ranked_ids(project)
    assert ranked_ids(project) == first
    assert first[0][0] == "own0"
    assert built(project) == 1


def test_a_truncated_index_is_an_error_that_says_what_to_do(project: Project) -> None:
    shop(project)
    ranked_ids(project)
    (path,) = project.path.glob(".rageval/indexes/*/data.csc.index.npy")
    path.write_bytes(path.read_bytes()[:-1])
    result = project.pytester.runpytest_inprocess()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*data.csc.index.npy: has * bytes, but was written with *; remove the folder*"])
    assert "Traceback" not in result.stdout.str()


def test_a_small_corpus_stores_no_index(project: Project) -> None:
    shop(project)
    corpus(project, 1_999)
    ranked_ids(project)
    assert built(project) == 0
    assert not (project.path / ".rageval/indexes").exists()
