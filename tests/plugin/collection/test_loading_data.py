"""Data is read lazily and once per process; collection is linear."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.rag_project import Mode, Project, cases
from test_multiplying import names

COUNTING = """
    import os
    from pathlib import Path
    from pytest_rageval.datasets.jsonl import load

    def load_and_count(path):
        with open(Path(__file__).parent / "reads.txt", "a") as stream:
            print(path.name, os.getpid(), file=stream)
        return load(path)

    def pytest_rageval_register(registry):
        registry.datasets.register("counted", load_and_count)
"""


def reads(project: Project) -> list[list[str]]:
    path = project.path / "reads.txt"
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def test_each_file_is_read_once_per_process(project: Project, mode: Mode) -> None:
    project.data(cases("a", "b"))
    project.data(cases("c"), "sub/more.jsonl")
    project.file("conftest.py", COUNTING)
    test = """
        from pytest_rageval import rag_case

        @rag_case("counted:cases.jsonl")
        @rag_case("counted:./cases.jsonl", passages=[0, 1])
        def test_it(rag): ...

        @rag_case("counted:other/../cases.jsonl")
        def test_again(rag): ...
    """
    project.file("test_it.py", test)
    project.file("test_other.py", test)
    (project.path / "other").mkdir()
    project.file("sub/test_sub.py", test.replace(":./cases", ":more"))
    assert project.run(*mode, "--rag-system", "builtins:repr").status == 0
    loads = reads(project)
    processes = {process for _, process in loads}
    assert len(processes) == (2 if mode == ("-n2",) else 1)
    for process in processes:
        assert sorted(name for name, by in loads if by == process) == ["cases.jsonl", "more.jsonl"]


@pytest.mark.parametrize("args", [("test_plain.py",), ("--markers",), ("test_plain.py", "-n2")])
def test_nothing_is_read_without_a_rag_case(project: Project, args: tuple[str, ...]) -> None:
    project.data(cases("a"))
    project.file("conftest.py", COUNTING)
    project.file("test_plain.py", "def test_plain(): ...\n")
    project.file(
        "test_it.py", "from pytest_rageval import rag_case\n@rag_case('counted:cases.jsonl')\ndef test_it(): ..."
    )
    assert project.run(*args, json_path=None).status == 0
    assert reads(project) == []
    assert not (project.path / ".rageval").exists()


def test_a_path_is_relative_to_the_file_that_names_it_then_to_the_rootdir(project: Project) -> None:
    for place in ("", "a/", "a/b/"):
        project.data([{**row, "id": f"in-{place.strip('/').replace('/', '-') or 'root'}"} for row in cases("x")],
                     f"{place}cases.jsonl")  # fmt: skip
    test = "from pytest_rageval import rag_case\n@rag_case('jsonl:cases.jsonl')\ndef test_it(): ...\n"
    for place in ("a/b/test_b.py", "a/test_a.py", "c/test_c.py"):
        project.file(place, test)
    project.file("pytest.ini", "[pytest]\n")
    expected = ["test_it[in-a-b]", "test_it[in-a]", "test_it[in-root]"]
    assert sorted(names(project)) == expected
    project.pytester.chdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.path / "c")
        assert sorted(names(project, "..")) == expected
    absolute = project.path / "a" / "cases.jsonl"
    project.file("c/test_c.py", test.replace("cases.jsonl", str(absolute)))
    assert names(project, "c") == ["test_it[in-a]"]


def calls_while_collecting(project: Project, n: int) -> int:
    """Return how many Python functions are called while ``n`` cases are collected."""
    project.says(cases(*["say Paris"] * n), "limit=1")
    project.file("count.py", """
        import sys
        from pathlib import Path

        calls = 0

        def count(frame, event, arg):
            global calls
            if event == "call":
                calls += 1

        def pytest_collection(session):
            sys.setprofile(count)

        def pytest_collection_finish(session):
            sys.setprofile(None)
            Path("calls.txt").write_text(str(calls))
    """)  # fmt: skip
    project.file("conftest.py", "pytest_plugins = ['count']\n")
    run = project.run("-p", "no:xdist", "--collect-only", json_path=None)
    run.said(f"*1/{n} tests collected*")
    return int((Path(project.path) / "calls.txt").read_text())


def test_collection_is_linear(project: Project) -> None:
    warm = calls_while_collecting(project, 10)
    small, large = calls_while_collecting(project, 400), calls_while_collecting(project, 1600)
    assert warm < small
    assert (large - warm) / (small - warm) < 4.3


def test_ten_thousand_cases_are_collected(project: Project) -> None:
    project.says(cases(*["say Paris"] * 2500), "passages=[0, 1, 2, 3], gates=['n >= 1'], limit=5")
    run = project.run("--collect-only", "-q", json_path=None)
    run.said("6/10001 tests collected (9995 deselected)*")
