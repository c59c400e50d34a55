"""``rageval index`` builds, lists and prunes the indexes that the ini declares."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.projects.index_projects import built, corpus, shop
from support.projects.rag_project import Project

REGISTERED = """
    from pytest_rageval import Answer, Ranking

    class Mine:
        def search(self, query, k):
            return Ranking(())

    def build(parts):
        made_of = {"kind": "mine", "model": "a" * 64, **parts.params}
        parts.store.get(made_of, lambda folder: {"passages": len(parts.passages)})
        parts.store.get({"kind": "more", "of": made_of}, lambda folder: {})
        return Mine()

    def pytest_rageval_register(registry):
        registry.retrievers.register("mine", build)
"""

VECTORS = """
    import numpy as np
    from pytest_rageval.retrieval.dense import dense
    from pytest_rageval.retrieval.embedding import DenseSettings
    from pytest_rageval.retrieval.hnsw import Hnsw
    from pytest_rageval.retrieval.retriever_params import Params

    class Encoder:
        digest = "lengths"

        def encode(self, texts):
            return np.array([[len(text), 9, sum(map(ord, text)) % 9] for text in texts], dtype=np.float32)

    def build(parts):
        return dense(parts, DenseSettings("lengths"), Encoder(), Hnsw.of(Params(parts.params)))

    def pytest_rageval_register(registry):
        registry.retrievers.register("mine", build)
"""

FAULTY = """
    def pytest_rageval_register(registry):
        registry.retrievers.register("faulty", lambda parts: parts.params["endpoint"])
"""


def names(project: Project) -> list[str]:
    return sorted(path.name for path in project.path.glob(".rageval/indexes/*-*") if path.is_dir())


def test_tests_use_the_built_index(project: Project) -> None:
    shop(project, "addopts = -n2 --strict-markers -q\nfilterwarnings = error")
    first = project.command("index", "build")
    assert (first.returncode, first.stderr) == (0, "")
    first_line, index = first.stdout.splitlines()
    assert first_line.startswith("counted over 2,000 passages, in ")
    (name,) = names(project)
    assert index.startswith(f"{project.path / '.rageval/indexes' / name}: built in ")
    assert re.search(f"{name}: already built, 0.[0-9] MB$", project.command("index", "build").stdout)
    assert project.pytester.runpytest_inprocess("-n0").ret == 0
    assert built(project) == 1


def test_an_index_of_another_user_dictionary_is_not_used(project: Project) -> None:
    pytest.importorskip("jieba", reason="the extra chinese is not installed")
    project.file("words.txt", "韩玉赏鉴")
    shop(project)
    assert project.pytester.runpytest_inprocess().ret == 0
    (without,) = names(project)
    shop(project, "rag_user_dict = words.txt")
    project.command("index", "build")
    assert len(set(names(project)) - {without}) == 1
    assert project.pytester.runpytest_inprocess().ret == 0
    assert built(project) == 2
    project.file("words.txt", "赏鉴基金")
    assert project.pytester.runpytest_inprocess().ret == 0
    assert built(project) == 3
    shop(project, "rag_user_dict = gone.txt")
    assert "rag_user_dict: '" in project.command("index", "build").stderr


def test_info_lists_stored_indexes_and_marks_used_ones(project: Project) -> None:
    shop(project)
    project.command("index", "build")
    (old,) = names(project)
    shop(project, "rag_retriever_params = b = 0.75")
    unbuilt = project.command("index", "info").stdout.splitlines()
    assert unbuilt[1].split()[:3] == [old, "no", "2,000"]
    assert "b=0.4 bm25s=" in unbuilt[2]
    assert " k1=0.9 " in unbuilt[2]
    assert re.fullmatch(r"The ini needs bm25-\w+, which is missing; build it with rageval index build.", unbuilt[3])
    assert names(project) == [old]
    project.command("index", "build")
    info = json.loads(project.command("index", "info", "--json").stdout)
    (new,) = set(names(project)) - {old}
    assert Path(info["folder"]) == project.path / ".rageval/indexes"
    assert (info["used"], info["problem"]) == ([new], None)
    rows = {row["name"]: row for row in info["indexes"]}
    assert {name: row["used"] for name, row in rows.items()} == {old: False, new: True}
    assert (rows[new]["kind"], rows[new]["passages"], rows[new]["problem"]) == ("bm25", 2_000, None)
    assert rows[new]["settings"]["b"] == 0.75
    assert rows[new]["disk_bytes"] > 0 < rows[new]["build_s"]
    assert built(project) == 2


def test_prune_removes_unused_indexes_and_reports_their_size(project: Project) -> None:
    shop(project)
    project.command("index", "build")
    (old,) = names(project)
    size = sum(path.stat().st_size for path in project.path.glob(f".rageval/indexes/{old}/*"))
    assert project.command("index", "prune").stdout == "Removed 0 indexes that the ini does not use, 0 bytes.\n"
    notes = project.path / ".rageval/indexes/my-notes"
    notes.mkdir()
    shop(project, "rag_retriever_params = b = 0.75")
    refused = project.command("index", "prune")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert re.fullmatch(
        r"rageval: nothing is removed, because the index bm25-\w+ of the ini is missing; "
        r"run rageval index build first \[RAG101\]\n",
        refused.stderr,
    )
    project.command("index", "build")
    listing = project.command("index", "prune", "--dry-run").stdout.splitlines()
    assert listing == [
        f"{old}: {size:,} bytes",
        f"Would remove 1 index that the ini does not use, {size:,} bytes.",
    ]
    assert old in names(project)
    pruned = project.command("index", "prune")
    assert (pruned.returncode, pruned.stderr) == (0, "")
    assert pruned.stdout.splitlines() == [
        f"{old}: {size:,} bytes",
        f"Removed 1 index that the ini does not use, {size:,} bytes.",
    ]
    assert notes.is_dir()
    notes.rmdir()
    (new,) = names(project)
    assert new != old
    assert "already built" in project.command("index", "build").stdout


@pytest.mark.parametrize(
    ("ini", "problem"),
    [
        ("", "the ini names no rag_corpus; tests index the corpus of a fixture with that name"),
        ("rag_corpus = lines:kb.txt\nrag_retriever = bm52", "unknown retriever 'bm52'"),
        ("rag_corpus = lines:nowhere.txt", "nowhere.txt"),
    ],
)
def test_prune_removes_nothing_if_the_ini_is_invalid(project: Project, ini: str, problem: str) -> None:
    shop(project, conftest="")
    project.command("index", "build")
    before = names(project)
    project.file("pytest.ini", f"[pytest]\n{ini}")
    refused = project.command("index", "prune")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("rageval: nothing is removed, because the ini cannot be used: ")
    assert problem in refused.stderr
    assert names(project) == before != []


def test_a_damaged_index_is_marked_in_the_list(project: Project) -> None:
    shop(project)
    project.command("index", "build")
    (path,) = project.path.glob(".rageval/indexes/*/data.csc.index.npy")
    path.write_bytes(b"")
    info = project.command("index", "info")
    assert info.returncode == 0
    _, line = info.stdout.splitlines()
    assert line.startswith(f"{names(project)[0]}  yes   {path}: has 0 bytes, but was written")
    failed = project.command("index", "build")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith(f"rageval: {path}: has 0 bytes")
    assert len(failed.stderr.splitlines()) == 1


def test_a_users_retriever_may_store_two_indexes(project: Project) -> None:
    shop(project, "rag_retriever = mine", "rag_retriever_params = size = 3", conftest="")
    project.file("tests/conftest.py", REGISTERED)
    assert "mine over 2,000 passages" in project.command("index", "build").stdout
    lines = project.command("index", "info").stdout.splitlines()
    main, more = names(project)
    assert [line.split()[:3] for line in lines[1::2]] == [[main, "yes", "2,000"], [more, "yes", "?"]]
    assert lines[2::2] == ["  model=aaaaaaaaaaaaaaaa... size=3", f"  of={main}"]


def test_search_settings_do_not_rebuild_the_index(project: Project) -> None:
    pytest.importorskip("usearch", reason="the extra dense is not installed")
    shop(project, "rag_retriever = mine", conftest=VECTORS)
    corpus(project, 40)
    build_lines = project.command("index", "build").stdout.splitlines()
    graph, vectors = index_names = names(project)
    assert [line.partition(":")[0].rpartition("/")[2] for line in build_lines[1:]] == [vectors, graph]
    shop(project, "rag_retriever = mine", "rag_retriever_params = ef_search = 8", conftest=VECTORS)
    corpus(project, 40)
    lines = project.command("index", "info").stdout.splitlines()
    assert [line.split()[:3] for line in lines[1::2]] == [[graph, "yes", "40"], [vectors, "yes", "40"]]
    assert len(lines) == 5
    assert project.command("index", "prune").stdout.startswith("Removed 0 indexes")
    assert names(project) == index_names


def test_a_small_corpus_needs_no_index(project: Project) -> None:
    shop(project, conftest="")
    corpus(project, 3)
    assert project.command("index", "build").stdout.splitlines()[1:] == [
        "Nothing is stored on disk: each run builds its index again."
    ]
    assert project.command("index", "info").stdout.splitlines() == [
        "There is no index.",
        "The ini's retriever stores nothing on disk.",
    ]


@pytest.mark.parametrize(
    ("ini", "conftest", "problem"),
    [
        ("", "", "the ini names no rag_corpus; tests index the corpus of a fixture with that name"),
        ("rag_corpus = lines:kb.txt\nrag_retriever = bm52", "", "unknown retriever 'bm52'; did you mean 'bm25'?"),
        ("", "def pytest_rageval_register(registry):\n    registry.nothing", "conftest.py:2: "),
        (
            "rag_corpus = lines:kb.txt\nrag_retriever = faulty",
            FAULTY,
            "'faulty' cannot be created: KeyError: 'endpoint'",
        ),
    ],
)
def test_an_error_is_reported_in_one_sentence(project: Project, ini: str, conftest: str, problem: str) -> None:
    shop(project, conftest=conftest)
    project.file("pytest.ini", f"[pytest]\n{ini}")
    failed = project.command("index", "build")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("rageval: ")
    assert problem in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


def test_an_error_of_pytest_itself_is_shown(project: Project) -> None:
    shop(project, "addopts = --no-such-option", conftest="")
    failed = project.command("index", "info")
    assert failed.returncode == 2
    assert "--no-such-option" in failed.stderr
    assert "rageval: pytest cannot start here: it ended with status 4; correct the error above" in failed.stderr
