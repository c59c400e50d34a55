"""Every rendering of a run shows the same verdict and causes, word for word."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from support.projects.rag_project import Mode, Project, case

from pytest_rageval.analysis.account.finding import CAUSES_OF_FAILURE
from pytest_rageval.cli import main

SYSTEM = """
    from pathlib import Path

    import pytest

    def say(query):
        number = int(query.question.split()[-1])
        if "bad" not in Path("state.txt").read_text() or number < 8:
            return "Paris"
        if number > 38:
            raise ConnectionError("100% of *seats* taken: 'soup, a|b'")
        return "Rome"

    @pytest.fixture(scope="session")
    def rag_system():
        return say
"""
GATES = 'gates=["accuracy >= baseline", "accuracy >= 0.9"]'
BASELINE = ("--rag-baseline", "rag-baseline.json")
ANNOTATES_TOO = """
    def pytest_configure(config):
        config.pluginmanager.register(object(), "pytest_github_actions_annotate_failures")
"""


def break_suite(project: Project, *options: str) -> tuple[list[str], str]:
    """Run a suite, break its system, and run it again; return its verdict and its causes, and what it printed."""
    project.file("state.txt", "good")
    rows = [case(f"q{number}", f"Where is hall {number}", topic="AB"[number % 2]) for number in range(40)]
    project.says(rows, GATES, conftest=SYSTEM)
    assert project.run(*BASELINE, "--rag-update-baseline").status == 0
    project.file("state.txt", "bad")
    run = project.run(*BASELINE, "--junitxml=junit.xml", "--rag-markdown=rag.md", *options)
    assert run.status == 1
    account = run.results["account"]
    causes = [each["sentence"] for each in account["findings"] if each["kind"] in CAUSES_OF_FAILURE]
    assert len(causes) == 2
    return [account["verdict"], *causes], run.text


def read_junit(project: Project, output: str) -> list[str]:
    root = ElementTree.parse(project.path / "junit.xml").getroot()  # noqa: S314 - we wrote it
    properties = {each.attrib["name"]: each.attrib["value"] for each in root.iterfind("testsuite/properties/property")}
    return [value for name, value in properties.items() if name.startswith(("rag.verdict", "rag.cause."))]


def read_markdown(project: Project, output: str) -> list[str]:
    text = (project.path / "rag.md").read_text(encoding="utf-8")
    tokens = MarkdownIt("gfm-like").parse(text.partition("<details>")[0])
    inlines = [token for token in tokens if token.type == "inline"]
    lines = ["".join(part.content for part in token.children or []) for token in inlines]
    verdict, *items = (line.replace("\u200b", "") for line in lines)
    causes = [item for item, token in zip(items, inlines[1:], strict=True) if token.level == 3]
    return [verdict.partition("RAG tests: ")[2], *(re.sub(r" · pytest --rag-resume$", "", cause) for cause in causes)]


def read_annotations(project: Project, output: str) -> list[str]:
    """Return the annotations; they have no verdict, so it comes from results.json."""
    messages = re.findall(r"^::error [^\n]*?::(.*)$", output, re.MULTILINE)
    verdict = json.loads((project.path / "results.json").read_text(encoding="utf-8"))["account"]["verdict"]
    for escape, character in (("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        messages = [message.replace(escape, character) for message in messages]
    return [verdict, *messages]


@pytest.mark.parametrize("read_sentences", [read_junit, read_markdown, read_annotations])
def test_reports_show_the_sentences_of_the_account(
    project: Project, mode: Mode, monkeypatch: pytest.MonkeyPatch, read_sentences: Callable[[Project, str], list[str]]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    sentences, output = break_suite(project, *mode)
    assert read_sentences(project, output) == sentences


@pytest.mark.parametrize("columns", ["60", "200"])
def test_the_terminal_ends_with_the_sentences_of_the_account(
    project: Project, mode: Mode, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    (verdict, *causes), output = break_suite(project, *mode)
    block = " ".join(output.rpartition("\nrag: ")[2].split())
    assert block.startswith(f"{verdict} ")
    positions = [block.find(f" {at} {cause} ") for at, cause in enumerate(causes, 1)]
    assert -1 not in positions
    assert positions == sorted(positions)


def test_all_reports_show_the_same_number_of_broken_cases_and_of_significant_ones(project: Project) -> None:
    system = SYSTEM.replace("number < 8:", "number < 8 or 102 <= number:").replace("number > 38", "number == 39")
    project.file("state.txt", "good")
    project.says([case(f"q{number}", f"Where is hall {number}") for number in range(39)], GATES, conftest=system)
    project.file("few.jsonl", "".join(
        json.dumps({"id": f"f{number}", "question": f"Where is hall {number}", "answers": ["Paris"]}) + "\n"
        for number in range(100, 120)
    ))  # fmt: skip
    project.file("few.rag.toml", '[[testbed]]\nname = "few"\ndataset = "jsonl:few.jsonl"\nmetrics = ["accuracy"]\n')
    assert project.run(*BASELINE, "--rag-update-baseline").status == 0
    project.file("state.txt", "bad")
    run = project.run("-v", *BASELINE, "--rag-markdown=rag.md", "--rag-html=rag.html")
    assert run.results["account"]["verdict"].endswith(" - 31 cases broke, 1 cause")
    text = "roken by the primary metric: 33 cases, 31 of them in a significant drop"  # 2 of 20 are not significant
    page, markdown = ((project.path / name).read_text(encoding="utf-8") for name in ("rag.html", "rag.md"))
    assert f"\nb{text}\n" in run.text
    assert f"<summary>B{text}</summary>" in page
    assert f"<summary>B{text}</summary>" in markdown
    compared = project.command("compare", "rag-baseline.json", "results.json")
    assert f"\nb{text}\n" in compared.stdout


def test_compare_leads_with_the_sentences_of_the_account(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences, _ = break_suite(project)
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    for width in ("60", "200"):
        monkeypatch.setenv("COLUMNS", width)
        assert main(["compare", "rag-baseline.json", "results.json"]) == 0
        verdict, *causes = sentences
        lead = " ".join([verdict, *(f"{at} {cause}" for at, cause in enumerate(causes, 1))])
        assert " ".join(capsys.readouterr().out.split()).startswith(f"{lead} ")
    assert main(["compare", "rag-baseline.json", "results.json", "--json"]) == 0
    account = json.loads(capsys.readouterr().out)["account"]
    assert account == json.loads((project.path / "results.json").read_text(encoding="utf-8"))["account"]


def test_compare_takes_the_verdict_from_the_second_file(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_suite(project)
    monkeypatch.chdir(project.path)
    capsys.readouterr()
    assert main(["compare", "results.json", "results.json", "--json"]) == 0
    account = json.loads(capsys.readouterr().out)["account"]
    assert account["verdict"].startswith("1 of 2 gates failed")
    assert [each["kind"] for each in account["findings"]] == ["errors", "missed"]
    assert main(["compare", "results.json", "rag-baseline.json", "--json"]) == 0
    assert "account" not in json.loads(capsys.readouterr().out)


def test_annotations_name_the_line_of_the_marker(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path.parent))
    _, output = break_suite(project)
    line = next(n for n, text in enumerate((project.path / "test_it.py").read_text().splitlines(), 1) if "@" in text)
    commands = re.findall(r"^::.*$", output, re.MULTILINE)
    assert [command.partition("::")[2].partition("::")[0] for command in commands] == 2 * [
        f"error file={project.path.name}/test_it.py,line={line},title=RAG tests"
    ]
    assert "100%25 of *seats*" in output


def test_only_github_gets_annotations_and_only_from_one_plugin(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, output = break_suite(project)
    assert "::error" not in output
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    project.file("conftest.py", SYSTEM + ANNOTATES_TOO)
    run = project.run(*BASELINE)
    assert run.status == 1
    assert "::error" not in run.text
