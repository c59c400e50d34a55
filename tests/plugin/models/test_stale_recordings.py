"""Recordings of a function are stale after a change of its code, files or settings."""

from __future__ import annotations

import json

import pytest
from support.projects.model_projects import refused, rows
from support.projects.rag_project import Mode, Project

import pytest_rageval.llm.recorded_functions.recorded  # noqa: F401 - pytester unloads what a run imports

FILE = "cassettes/system-desk.system.answer.jsonl"

RETRIEVER = """
    TOP_K = {top_k}

    def search(question):
        return ["It is in Paris.", "It is in Rome."][:TOP_K]
"""

SYSTEM = """
    from pathlib import Path

    from pytest_rageval import recorded

    from .retriever import search

    MODEL = "small"

    @recorded(depends=["../prompt.txt", {"model": MODEL}])
    def answer(query):
        with open("asked.txt", "a") as stream:
            stream.write(query.question + chr(10))
        return " ".join([Path("prompt.txt").read_text().strip(), *search(query.question)])
"""

CONFTEST = """
    import pytest
    from desk.system import answer

    @pytest.fixture(scope="session")
    def rag_system():
        return answer
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"], gates=["accuracy >= 1", "error_rate <= 0"])
    def test_it(rag):
        ...
"""


@pytest.fixture
def desk(project: Project) -> Project:
    """Return a project whose system is recorded."""
    project.data(rows("a", "b"))
    project.file("conftest.py", CONFTEST)
    project.file("test_it.py", TEST)
    project.file("prompt.txt", "Answer:")
    project.file("desk/__init__.py", "")
    project.file("desk/retriever.py", RETRIEVER.format(top_k=1))
    project.file("desk/system.py", SYSTEM)
    project.file("pytest.ini", "[pytest]")
    run = project.run("--rag-record-mode", "once")
    assert run.status == 0, run.text
    return project


def request_count(project: Project) -> int:
    return len((project.path / "asked.txt").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    ("record_mode", "args"),
    [("none", ()), ("once", ()), ("new_episodes", ()), ("none", ("-n2",))],
    ids=["none", "once", "new_episodes", "none-n2"],
)
def test_a_broken_retriever_fails_the_run(desk: Project, record_mode: str, args: Mode) -> None:
    desk.file("desk/retriever.py", RETRIEVER.format(top_k=0))
    run = desk.run("--rag-record-mode", record_mode, *args)
    assert (run.status, request_count(desk)) == (1, 2)
    assert [outcome["error_type"] for outcome in run.results["outcomes"]] == ["not_recorded"] * 2
    assert run.outcomes["a"]["error"] == (
        "stale recording: desk/retriever.py changed; record system 'desk.system.answer' again with "
        "--rag-record-mode all, or delete cassettes/system-desk.system.answer.jsonl and record with "
        "--rag-record-mode once"
    )
    assert "Traceback" not in run.text


def test_an_error_names_a_changed_prompt_a_setting_and_a_moved_module(desk: Project) -> None:
    desk.file("prompt.txt", "Answer in one word:")
    desk.file("desk/system.py", SYSTEM.replace('"small"', '"large"').replace(".retriever", ".search"))
    (desk.path / "desk/retriever.py").rename(desk.path / "desk/search.py")
    error = desk.run("--rag-record-mode", "none").outcomes["a"]["error"]
    assert (
        "stale recording: desk/system.py changed, prompt.txt changed, setting model changed, 2 more; record system"
        in error
    )


def test_recording_again_replaces_stale_recordings(desk: Project) -> None:
    desk.file("desk/retriever.py", RETRIEVER.format(top_k=0))
    run = desk.run("--rag-record-mode", "all")
    assert (run.gates["accuracy >= 1"]["status"], request_count(desk)) == ("failed", 4)
    assert len((desk.path / FILE).read_text(encoding="utf-8").splitlines()) == 2
    run = desk.run("--rag-record-mode", "none")
    assert (run.gates["accuracy >= 1"]["status"], run.results["usage"]["calls"], request_count(desk)) == (
        "failed",
        0,
        4,
    )


def test_changes_of_comments_docstrings_and_other_files_keep_recordings_valid(desk: Project) -> None:
    desk.file("desk/retriever.py", '''
        """Finds passages."""

        TOP_K = 1  # one is enough


        def search(question):
            """Return passages."""
            return ["It is in Paris.", "It is in Rome."][:TOP_K]
    ''')  # fmt: skip
    desk.file("test_it.py", TEST.replace("...", "assert rag.answer.text"))
    desk.file("desk/unused.py", "TOP_K = 9")
    run = desk.run("--rag-record-mode", "none")
    assert (run.status, request_count(desk)) == (0, 2), run.text
    assert "warning:" not in run.text


WARNING = (
    "warning: stale recordings were replayed (system-desk.system.answer.jsonl: desk/retriever.py changed); "
    "record again with --rag-record-mode all"
)


@pytest.mark.parametrize(
    ("policy", "warnings", "args"),
    [("warn", [WARNING], ()), ("warn", [WARNING], ("-n2",)), ("replay", [], ())],
    ids=["warn", "warn-n2", "replay"],
)
def test_a_stale_recording_is_replayed_if_the_ini_allows_it(
    desk: Project, policy: str, warnings: list[str], args: Mode
) -> None:
    desk.file("desk/retriever.py", RETRIEVER.format(top_k=0))
    run = desk.run("--rag-record-mode", "none", "-o", f"rag_stale_recordings={policy}", *args)
    assert (run.status, request_count(desk)) == (0, 2), run.text
    assert [line for line in run.prose.splitlines() if line.startswith("warning")] == warnings


@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["plain", "n2"])
def test_recordings_without_a_digest_are_replayed_with_one_warning(desk: Project, args: Mode) -> None:
    lines = (desk.path / FILE).read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert all(record.pop("depends") for record in records)
    (desk.path / FILE).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    desk.file("desk/retriever.py", RETRIEVER.format(top_k=0))
    run = desk.run("--rag-record-mode", "none", *args)
    assert (run.status, request_count(desk)) == (0, 2), run.text
    assert [line for line in run.prose.splitlines() if line.startswith("warning")] == [
        "warning: recordings without a digest were replayed, whatever has changed since "
        "(system-desk.system.answer.jsonl); record again with --rag-record-mode all"
    ]


def test_an_unknown_policy_is_refused(project: Project) -> None:
    project.data(rows("a"))
    project.file("test_it.py", TEST)
    sentence = refused(project, "-o", "rag_stale_recordings=ignore")
    assert sentence == "rag_stale_recordings is 'ignore'; write error, warn or replay"
