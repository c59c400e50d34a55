"""Invalid options of built-in systems in ``rag_systems`` end the session early."""

from __future__ import annotations

import pytest
from support.projects.rag_project import Project, case
from support.projects.refused_projects import refused
from support.projects.seeker_project import seeker_project

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag): ...
"""
WHERE = "rag_systems: mini"
WIKIS = ["rag_environments =", "    one: wiki; corpus=pages.jsonl", "    two: wiki; corpus=pages.jsonl"]

LINES: list[tuple[str, str]] = [
    ("mini: seeker; max_stepz=3", f"{WHERE} has the unknown option 'max_stepz'; did you mean 'max_steps'?"),
    ("mini: seeker; color=red", f"{WHERE} has the unknown option 'color'; known: environment, examples, "
                                "max_observation, max_steps, max_time, prompts"),
    ("mini: seeker; max_steps=0", f"{WHERE} has max_steps=0; write a whole number of 1 or more"),
    ("mini: seeker; max_steps=-1", f"{WHERE} has max_steps=-1; write a whole number of 1 or more"),
    ("mini: seeker; max_steps=two", f"{WHERE} has max_steps=two; write a whole number of 1 or more"),
    ("mini: seeker; max_steps=1e3", f"{WHERE} has max_steps=1e3; write a whole number of 1 or more"),
    ("mini: seeker; max_observation=0", f"{WHERE} has max_observation=0; write a whole number of 1 or more"),
    ("mini: seeker; examples=-1", f"{WHERE} has examples=-1; write a whole number of 0 or more"),
    ("mini: seeker; max_time=0", f"{WHERE} has max_time=0; write a number of seconds above 0, up to 1000000"),
    ("mini: seeker; max_time=1e10", f"{WHERE} has max_time=1e10; write a number of seconds above 0, up to 1000000"),
    ("mini: seeker; max_time=nan", f"{WHERE} has max_time=nan; write a number of seconds above 0, up to 1000000"),
    ("mini: seeker; max_time=soon", f"{WHERE} has max_time=soon; write a number of seconds above 0, up to 1000000"),
    ("mini: seeker; max_steps", f"{WHERE} has the option 'max_steps'; write option=value"),
    ("mini: seeker; max_steps=", f"{WHERE} has the option 'max_steps='; write option=value"),
    ("mini: seeker; max_steps=2; max_steps=3", f"{WHERE} gives 'max_steps' twice; give it once"),
    ("mini: seeker; prompts=none.toml", f"{WHERE}: there is no file 'none.toml'; correct the path"),
    ("mini: seeker; environment=wikki", f"{WHERE}: unknown environment 'wikki'; did you mean 'wiki'?"),
    ("mini: seeker@", f"{WHERE} names the system 'seeker@'; write NAME or NAME@MODEL"),
    ("mini: llm; k=3", f"{WHERE} has the option 'k', and llm takes no options; remove it"),
    ("mini: closed_book; k=3", f"{WHERE} has the option 'k', and closed_book takes no options; remove it"),
    ("mini: extractive; k=3", f"{WHERE} has the option 'k', and extractive takes no options; remove it"),
    ("mini: extractive@openai/m", f"{WHERE}: extractive asks no model; remove @openai/m"),
    ("mini: seekr", "unknown system 'seekr' (one of your own is module:attribute); did you mean 'seeker'?"),
    ("mini: app:answer; max_steps=3", f"{WHERE} has the option 'max_steps', and app:answer takes only the labels "
                                      "workflow and model; remove it"),
    ("seeker: llm", "rag_systems has the alias 'seeker', which is the name of a system; choose another alias"),
    ("llm: seeker", "rag_systems has the alias 'llm', which is the name of a system; choose another alias"),
    ("mini seeker", "rag_systems has the line 'mini seeker'; write 'alias: name@model; option=value', for instance "
                    "'mini: llm@openai/gpt-4o-mini'"),
]  # fmt: skip


def write_project(project: Project, line: str, *ini: str, corpus: bool = True) -> None:
    rows = [case("q1", "When was Algiers made?", "1938")]
    seeker_project(project, rows, TEST, "rag_model = script:replies.toml", "rag_systems =", f"    {line}", *ini)
    project.file("replies.toml", '[[reply]]\ntext = "1938"\n')
    project.file("app.py", "def answer(query):\n    return 'x'\n")
    if not corpus:
        path = project.path / "pytest.ini"
        path.write_text(path.read_text(encoding="utf-8").replace("rag_corpus = pages.jsonl\n", ""), encoding="utf-8")


@pytest.mark.parametrize(("line", "sentence"), LINES, ids=[line for line, _ in LINES])
def test_an_invalid_line_is_refused_with_one_sentence(project: Project, line: str, sentence: str) -> None:
    write_project(project, line)
    assert refused(project, "--rag-system", "mini") == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("seekr", "unknown system 'seekr' (one of your own is module:attribute); did you mean 'seeker'?"),
        ("seeker@", "--rag-system names the system 'seeker@'; write NAME or NAME@MODEL"),
        ("mni", "unknown system 'mni' (one of your own is module:attribute); did you mean 'mini'?"),
    ],
)
def test_an_invalid_name_on_the_command_line_is_refused_with_one_sentence(
    project: Project, name: str, sentence: str
) -> None:
    write_project(project, "mini: seeker")
    assert refused(project, "--rag-system", name) == sentence


NO_ENVIRONMENT = "test_it.py::test_it: the system needs an environment; set rag_corpus or rag_environments in the ini"
SEVERAL_ENVIRONMENTS = (
    "test_it.py::test_it: there are several environments (one, two); name one with the facet environment of the case, "
    "or with environment= of the system"
)
NO_WIKI = f"{WHERE}: the system needs the environment 'wiki'; set rag_corpus or rag_environments in the ini"


@pytest.mark.parametrize("args", [(), ("--rag-dry-run",), ("--rag-budget-usd", "1"), ("-n2",)], ids=str)
def test_an_agent_without_an_environment_is_refused(project: Project, args: tuple[str, ...]) -> None:
    write_project(project, "mini: seeker", corpus=False)
    assert refused(project, "--rag-system", "mini", *args) == NO_ENVIRONMENT
    write_project(project, "mini: seeker; environment=wiki", corpus=False)
    assert refused(project, "--rag-system", "mini", *args) == NO_WIKI
    write_project(project, "mini: seeker", *WIKIS)
    assert refused(project, "--rag-system", "mini", *args) == SEVERAL_ENVIRONMENTS


@pytest.mark.parametrize(
    ("pages", "sentence"),
    [
        (None, "no such file"),
        ("", "pages.jsonl"),
        ('{"id": "a"}', "pages.jsonl:1: "),
    ],
)
def test_an_environment_without_data_is_refused(project: Project, pages: str | None, sentence: str) -> None:
    write_project(project, "mini: seeker")
    path = project.path / "pages.jsonl"
    path.unlink()
    if pages is not None:
        path.write_text(pages, encoding="utf-8")
    assert sentence in refused(project, "--rag-system", "mini")


def test_options_of_a_system_that_no_case_uses_are_not_read(project: Project) -> None:
    write_project(project, "mini: seeker; max_steps=0")
    assert project.run("--rag-system", "extractive").statuses == {"q1": "scored"}
