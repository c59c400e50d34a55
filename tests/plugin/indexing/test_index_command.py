"""``rageval index``: built ahead of the tests, from the ini as pytest reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from index_projects import COUNTED, built, rageval, shop
from rag_project import Project

REGISTERED = """
    from pytest_rageval import Answer, Ranking

    class Mine:
        def search(self, query, k):
            return Ranking(())

    def build(parts):
        parts.store.get({"kind": "mine", **parts.params}, lambda folder: {"passages": len(parts.passages)})
        return Mine()

    def pytest_rageval_register(registry):
        registry.retrievers.register("mine", build)
"""


def names(project: Project) -> list[str]:
    return sorted(path.name for path in project.path.glob(".rageval/indexes/*-*") if path.is_dir())


def test_what_it_builds_is_what_the_tests_use(project: Project) -> None:
    shop(project, "addopts = -n2 --strict-markers -q", "rag_retriever_params = k1 = 0.9")
    first = rageval(project, "index", "build")
    assert (first.returncode, first.stderr) == (0, "")
    said, index = first.stdout.splitlines()
    assert said.startswith("bm25 over 200 passages, in ")
    (name,) = names(project)
    assert index.startswith(f"{project.path / '.rageval/indexes' / name}: built in ")
    assert rageval(project, "index", "build").stdout.splitlines()[1].endswith(f"{name}: there already, 0.0 MB")
    assert project.pytester.runpytest_subprocess("-p", "no:randomly").ret == 0
    assert built(project) == 1


def test_info_lists_what_is_kept_and_says_which_the_ini_uses(project: Project) -> None:
    shop(project, "rag_retriever_params = k1 = 0.9")
    assert rageval(project, "index", "info").stdout.splitlines()[0] == "There is no index."
    rageval(project, "index", "build")
    (old,) = names(project)
    shop(project, "rag_retriever_params = b = 0.75")
    unbuilt = rageval(project, "index", "info")
    assert f"{old}  no           200" in unbuilt.stdout
    assert "which is not there yet; rageval index build makes it." in unbuilt.stdout
    assert names(project) == [old]
    rageval(project, "index", "build")
    told = rageval(project, "index", "info")
    (new,) = set(names(project)) - {old}
    lines = told.stdout.splitlines()
    assert [line.split()[:4] for line in lines[1::2]] == [
        [name, "yes" if name == new else "no", "200", "0.0"] for name in names(project)
    ]
    assert any("b=0.75 bm25s=" in line and " k1=0.9 " in line and "stemmer=none" in line for line in lines)
    assert len(lines) == 5


def test_info_for_machines(project: Project) -> None:
    shop(project)
    rageval(project, "index", "build")
    told = json.loads(rageval(project, "index", "info", "--json").stdout)
    (row,) = told["indexes"]
    assert told["used"] == [row["name"]] == names(project)
    assert (row["used"], row["kind"], row["passages"], row["problem"]) == (True, "bm25", 200, None)
    assert row["settings"]["k1"] == 0.9
    assert row["disk_bytes"] > 0 < row["build_s"]
    assert Path(told["folder"]) == project.path / ".rageval/indexes"


def test_a_damaged_index_says_so_in_its_line(project: Project) -> None:
    shop(project)
    rageval(project, "index", "build")
    (path,) = project.path.glob(".rageval/indexes/*/data.csc.index.npy")
    path.write_bytes(b"")
    told = rageval(project, "index", "info")
    assert told.returncode == 0
    assert told.stdout.splitlines()[1].startswith(f"{names(project)[0]}  yes   {path}: has 0 bytes, and was written")
    assert len(told.stdout.splitlines()) == 2
    assert json.loads(rageval(project, "index", "info", "--json").stdout)["indexes"][0]["problem"].startswith(str(path))
    failed = rageval(project, "index", "build")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith(f"rageval: {path}: has 0 bytes")
    assert len(failed.stderr.splitlines()) == 1


@pytest.mark.parametrize("place", [".", "tests"])
def test_a_retriever_of_one_s_own_is_known(project: Project, place: str) -> None:
    shop(project, "rag_retriever = mine", "rag_retriever_params = size = 3", conftest="")
    project.file(f"{place}/conftest.py", REGISTERED)
    assert "mine over 200 passages" in rageval(project, "index", "build").stdout
    assert "size=3" in rageval(project, "index", "info").stdout


def test_a_small_corpus_needs_no_index(project: Project) -> None:
    shop(project, conftest="")
    said = rageval(project, "index", "build").stdout.splitlines()
    assert said[1:] == ["Nothing is kept on disk: each run makes it anew."]
    assert rageval(project, "index", "info").stdout.splitlines() == [
        "There is no index.",
        "The ini's retriever keeps nothing on disk.",
    ]


@pytest.mark.parametrize(
    ("ini", "conftest", "problem"),
    [
        ("", "", "the ini names no rag_corpus; what a fixture of that name gives is indexed by the tests"),
        ("rag_corpus = no.txt", "", "no.txt"),
        ("rag_corpus = lines:kb.txt\nrag_retriever = bm52", "", "unknown retriever 'bm52'; did you mean 'bm25'?"),
        (
            "rag_corpus = lines:kb.txt\nrag_retriever_params = k2 = 1",
            "",
            "rag_retriever_params has the unknown setting",
        ),
        ("", "def pytest_rageval_register(registry):\n    registry.nothing", "conftest.py:2: "),
    ],
)
def test_what_cannot_be_used_is_one_sentence(project: Project, ini: str, conftest: str, problem: str) -> None:
    shop(project, conftest=conftest)
    project.file("pytest.ini", f"[pytest]\n{ini}")
    failed = rageval(project, "index", "build")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("rageval: ")
    assert problem in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


def test_where_pytest_cannot_start_it_says_why(project: Project) -> None:
    shop(project, "addopts = --no-such-option", conftest=COUNTED)
    failed = rageval(project, "index", "info")
    assert failed.returncode == 2
    assert "--no-such-option" in failed.stderr
    assert "rageval: pytest cannot start here: it ended with status 4; mend what it says above" in failed.stderr
