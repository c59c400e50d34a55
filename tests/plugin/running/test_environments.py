"""Environments that users declare in the ini, as functions, or by a fixture."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest
from support.projects.rag_project import Mode, Project, case

PAGES = [
    {"id": "Algiers (film)", "title": "Algiers (film)", "text": "Algiers is a film of 1938. It shows Hedy Lamarr."},
    {"id": "Paris", "title": "Paris", "text": "Paris is a city."},
]

AGENT = """
    from pytest_rageval.systems.workflow import Workflow

    def read(setup):
        setup.options.finish()

    def build(parts, options):
        async def answer(query):
            environment = parts.environments.of_case()
            with environment.open() as tools:
                name, _, argument = query.question.partition(" ")
                tool = next(each for each in tools.tools if each.name == name)
                observation = await tools.run(name, {next(iter(tool.parameters["properties"])): argument})
            return environment.name + ": " + observation.text
        return answer

    def pytest_rageval_register(registry):
        registry.systems.register("agent", Workflow(read, build, uses_environments=True))
"""
"""A conftest that registers a system; a question names the tool to call and its argument."""

INI = """
    [pytest]
    rag_system = agent
    {lines}
"""

TEST = """
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["has_answer"], passages="retrieved")
    def test_it(rag):
        print(rag.answer.text)
"""


def write_project(project: Project, lines: str, *rows: dict[str, Any], conftest: str = AGENT) -> Project:
    """Write a project whose ini has these lines."""
    project.data(list(rows) or [case("q1", "Search algiers", "1938")])
    project.data(PAGES, "pages.jsonl")
    project.file("conftest.py", conftest)
    project.file("test_it.py", TEST)
    project.file("pytest.ini", INI.replace("{lines}", "\n    ".join(lines.splitlines())))
    return project


def run_answers(project: Project, *args: str) -> list[str]:
    """Run the project, check that it passes, and return the answers."""
    run = project.run(*args)
    assert run.status == 0, run.text
    return [outcome["answer"]["text"] for outcome in run.results["outcomes"]]


def test_a_corpus_is_a_wiki(project: Project, mode: Mode) -> None:
    write_project(project, "rag_corpus = pages.jsonl")
    assert run_answers(project, *mode) == ["wiki: Algiers is a film of 1938. It shows Hedy Lamarr."]


def test_a_case_names_its_environment_and_the_only_one_needs_no_name(project: Project) -> None:
    project.file(
        "desk.py", 'def opening(day: str) -> str:\n    """Return the opening hours."""\n    return day + " 9:00"\n'
    )
    two = "rag_environments =\n    desk: desk:opening; timeout=5\n    books: wiki; corpus=jsonl:pages.jsonl"
    rows = [
        case("q1", "opening Monday", "9:00", environment="desk"),
        case("q2", "Search Paris", "city", environment="books"),
    ]
    assert run_answers(write_project(project, two, *rows)) == ["desk: Monday 9:00", "books: Paris is a city."]
    one = "rag_environments =\n    desk: desk:opening"
    assert run_answers(write_project(project, one, case("q1", "opening Monday", "9:00"))) == ["desk: Monday 9:00"]


def test_a_fixture_replaces_the_environments(project: Project) -> None:
    conftest = (
        AGENT
        + """
    import pytest

    class Counter:
        def __init__(self):
            self.calls = 0
        def count(self, word: str) -> int:
            self.calls += 1
            return self.calls

    @pytest.fixture(scope="session")
    def rag_environments(rag_environments):
        assert list(rag_environments) == ["wiki"]
        return {"own": Counter}
"""
    )
    rows = [case("q1", "count a", "1"), case("q2", "count b", "1")]
    write_project(project, "rag_corpus = pages.jsonl", *rows, conftest=conftest)
    assert run_answers(project) == ["own: 1", "own: 1"]


def test_the_wiki_searches_the_corpus_of_a_fixture(project: Project) -> None:
    conftest = (
        AGENT
        + """
    import pytest
    from pytest_rageval import Passage

    @pytest.fixture(scope="session")
    def rag_corpus():
        return [Passage("p1", "Rome is old.", "Rome")]
"""
    )
    write_project(project, "", case("q1", "Search rome", "old"), conftest=conftest)
    assert run_answers(project) == ["wiki: Rome is old."]


def test_an_outage_is_an_error_without_scores(project: Project) -> None:
    project.file("desk.py", "def ask(word: str) -> str:\n    raise ConnectionRefusedError('port 1')\n")
    write_project(project, "rag_environments =\n    desk: desk:ask", case("q1", "ask x"))
    run = project.run()
    assert run.status == 1
    (outcome,) = run.results["outcomes"]
    assert (outcome["status"], outcome["error_type"], outcome["scores"]) == ("error", "tool_unavailable", {})
    run.said("*the tool ask of environment 'desk' cannot be reached: ConnectionRefusedError: port 1*")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("    wiki", "rag_environments has the line 'wiki'; write 'name: kind; option=value'"),
        ("    a: wiki; corpus=pages.jsonl\n    a: wiki", "rag_environments has two lines for 'a'; write one"),
        ("    a: wiki; corpus", "rag_environments: a has the option 'corpus'; write option=value"),
        ("    a: wikki", "rag_environments: a: unknown environment kind 'wikki'; did you mean 'wiki'?"),
        ("    a: wiki", "rag_environments: a has no corpus; add corpus=FILE, or set rag_corpus"),
        (
            "    a: wiki; corpus=none.jsonl",
            "rag_environments: a has corpus=none.jsonl: no such file",
        ),
        ("    a: wiki; corpus=pages.jsonl; lockup=x", "a has the unknown option 'lockup'; did you mean 'lookup'?"),
        ("    a: wiki; corpus=pages.jsonl; lookup=word", "a has lookup=word; write sentence or paragraph"),
        ("    a: wiki; corpus=pages.jsonl; timeout=0", "a has timeout=0; write a number of seconds above 0"),
        ("    a: no_such_module:tools", "rag_environments: a: no module 'no_such_module'"),
        ("    a: desk:open_att", "rag_environments: a: module 'desk' has no 'open_att'; did you mean 'open_at'?"),
        ("    a: desk:open_at; k=3", "rag_environments: a has the unknown option 'k'"),
        ("    a: mcp; command=python -m crm", "a names no tools that may be called; write allow=NAME,NAME, or allow=*"),
        ("    a: mcp; allow=*", "a has no server; write command=PROGRAM, which is started here, or url=ADDRESS"),
        ("    a: mcp; url=http://localhost/mcp; allow=a-b", "a has allow=a-b: the tool 'a-b' needs another name"),
        ("    a: desk:bare", "a: desk:bare: bare has the parameter word without a type hint"),
    ],
)
def test_a_line_that_cannot_be_used_ends_the_session(project: Project, lines: str, message: str) -> None:
    project.file("desk.py", "def open_at(day: str): ...\n\ndef bare(word): ...\n")
    run = write_project(project, f"rag_environments =\n{lines}").run(json_path=None)
    assert run.status == 4, run.text
    text = " ".join(f"{run.result.stdout.str()}{run.result.stderr.str()}".split())
    assert message in text
    assert "Traceback" not in text


TWO_WIKIS = "rag_environments =\n    a: wiki; corpus=pages.jsonl\n    b: wiki; corpus=pages.jsonl"


@pytest.mark.parametrize(
    ("lines", "row", "message"),
    [
        (TWO_WIKIS, {}, "there are several environments (a, b); name one with the facet environment of the case"),
        (TWO_WIKIS, {"environment": "c"}, "unknown environment 'c'; known: a, b"),
        ("", {}, "the system needs an environment; set rag_corpus or rag_environments in the ini"),
        ("rag_environments =\n    a: wiki; corpus=jsonl:broken.txt", {}, "broken.txt:2: "),
    ],
)
@pytest.mark.parametrize("mode", [(), ("-n2",)], ids=["plain", "n2"])
def test_a_case_without_an_environment_ends_the_session_before_any_test_runs(
    project: Project, lines: str, row: dict[str, str], message: str, mode: Mode
) -> None:
    project.file("broken.txt", '{"id": "a", "text": "b"}\n{')
    run = write_project(project, lines, case("q1", "Search Paris", **row)).run(*mode, json_path=None)
    assert run.status == 4, run.text
    text = " ".join(f"{run.result.stdout.str()}{run.result.stderr.str()}".split())
    assert message in text
    assert "Traceback" not in text


def test_a_run_over_other_pages_is_not_resumed_and_changed_tools_are_reported(project: Project) -> None:
    project.file("desk.py", "def opening(day: str) -> str:\n    raise ConnectionError\n")
    lines = "rag_environments =\n    books: wiki; corpus=pages.jsonl\n    desk: desk:opening"
    rows = [case("q1", "Search Paris", "city", environment="books"), case("q2", "opening x", environment="desk")]
    write_project(project, lines, *rows)
    assert project.run().status == 1
    project.data(PAGES[1:], "pages.jsonl")
    run = project.run("--rag-resume", fresh=False, json_path=None)
    assert run.status == 4
    assert "rag_environments: books" in f"{run.result.stdout.str()}{run.result.stderr.str()}"
    project.data(PAGES, "pages.jsonl")
    project.file("desk.py", "def opening(day: str) -> str:\n    return day\n")
    fixed = project.run("-v", "--rag-resume", fresh=False)
    assert set(fixed.statuses.values()) == {"scored"}
    fixed.said("1 of 2 cases taken over *", "warning: desk.py changed since *")


def test_the_message_about_a_missing_mcp_package_names_the_extra(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("pytest_rageval.environments.mcp.kind.version", missing)
    run = write_project(project, "rag_environments =\n    crm: mcp; url=http://127.0.0.1:1/mcp; allow=*").run(
        json_path=None
    )
    assert run.status == 4, run.text
    text = " ".join(f"{run.result.stdout.str()}{run.result.stderr.str()}".split())
    assert "rag_environments: crm needs an optional dependency: pip install 'pytest-rageval[mcp]' [RAG106]" in text
