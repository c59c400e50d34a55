"""``rag_user_dict``: words of the user for all processes of one session, and no later one."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Mode, Project, case

from pytest_rageval.text.words import words

RUNS = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["token_f1"])
    def test_it(rag): ...
"""


def write_project(project: Project, ini: str) -> Project:
    pytest.importorskip("jieba", reason="the extra chinese is not installed")
    rows = [case("q1", "say 韩玉赏鉴", "赏鉴", language="zh"), case("q2", "say 赏鉴", "赏鉴", language="zh")]
    project.says(rows, test=RUNS)
    project.file("pytest.ini", f"[pytest]\n{ini}")
    project.file("words/own.txt", "韩玉赏鉴")
    return project


def test_every_process_segments_words_with_the_user_dictionary(project: Project, mode: Mode) -> None:
    run = write_project(project, "rag_user_dict = words/own.txt").run(*mode)
    assert [outcome["scores"]["token_f1"]["value"] for outcome in run.outcomes.values()] == [0.0, 1.0]
    assert run.results["run"]["versions"]["rag_user_dict"].startswith("sha256:")
    assert "韩玉赏鉴" not in words("韩玉赏鉴")


def test_without_a_user_dictionary_words_are_those_of_jieba(project: Project) -> None:
    run = write_project(project, "").run()
    assert all(outcome["scores"]["token_f1"]["value"] > 0 for outcome in run.outcomes.values())
    assert "rag_user_dict" not in run.results["run"]["versions"]


def test_a_missing_file_is_a_usage_error(project: Project) -> None:
    result = write_project(project, "rag_user_dict = gone.txt").pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*rag_user_dict: '*gone.txt' cannot be read (No such file*; give a file*"])
