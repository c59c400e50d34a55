"""Commands, examples and links in README.md and docs/ work."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.projects.readme_blocks import (
    PAGES,
    ROOT,
    Block,
    all_blocks,
    blocks_of,
    examples_of,
    lay_out,
    page_name,
    printed_of,
    section_commands,
    steps_of,
    stories_of,
)  # fmt: skip
from support.servers.openai_server import OpenAIServer

import pytest_rageval

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PUBLIC = [getattr(pytest_rageval, name) for name in pytest_rageval.__all__]
"""Imported here because pytester drops modules that an inner run imports first; a second class Answer would appear."""

README = (ROOT / "README.md").read_text(encoding="utf-8")
SECTIONS = blocks_of(README)
BLOCKS = all_blocks()
EXAMPLES = examples_of(BLOCKS)
EXAMPLES_WITH_OUTPUT = {command.split()[0] for command in printed_of(BLOCKS)}
EXAMPLES_WITH_CSV = {name for name, blocks in EXAMPLES.items() if any(block.language == "csv" for block in blocks)}
SEPARATE_PROCESS_EXAMPLES = {
    name
    for name, blocks in EXAMPLES.items()
    if any(word in b.text for b in blocks for word in ("from lang", "llama", "from openai", "load_profile"))
}
"""Examples that run in a process of their own.

Their libraries cannot be imported twice in one process, or they load a profile of Hypothesis.
"""

PROGRAMS = {
    "bash", "cat", "cd", "cp", "diff", "git", "hf", "ls", "mkdir", "mv", "pip", "pytest", "python", "rageval", "sed",
}  # fmt: skip


@pytest.mark.parametrize("section", ["Set up", "Run the example", "Run the tests"])
def test_sections_that_ci_runs_have_commands(section: str) -> None:
    assert section_commands(SECTIONS, section), f"README.md has no console block with commands under '## {section}'"


def test_set_up_has_two_commands_and_the_other_sections_one() -> None:
    counts = [len(section_commands(SECTIONS, section)) for section in ("Set up", "Run the example", "Run the tests")]
    assert counts == [2, 1, 1]


def test_readme_has_at_most_250_lines() -> None:
    assert len(README.splitlines()) <= 250


def test_every_python_block_parses() -> None:
    for block in BLOCKS:
        if block.language == "python":
            ast.parse(block.text, block.where)


PARSERS: dict[str, Callable[[str], object]] = {
    "toml": tomllib.loads,
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines()],
}


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.language in PARSERS], ids=lambda block: block.where
)
def test_every_toml_and_json_block_parses(block: Block) -> None:
    PARSERS[block.language](block.text)


def test_every_command_is_a_known_program() -> None:
    for block in BLOCKS:
        for command in block.commands if block.language == "console" else []:
            program = re.sub(r"^(\w+=\S* )+", "", command).split()[0]
            assert program in PROGRAMS, f"{block.where}: {command}"


def anchors_of(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    outside = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", outside, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_has_a_target(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors_of(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in EXAMPLES_WITH_OUTPUT | EXAMPLES_WITH_CSV])
def test_example_runs(name: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(name, EXAMPLES[name], pytester.path)
    run = pytester.runpytest_subprocess if name in SEPARATE_PROCESS_EXAMPLES else pytester.runpytest
    with OpenAIServer(reply="It opens at 9:00.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-loopback")
        result = run("--strict-markers", "-ra")
    outcomes = result.parseoutcomes()
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    assert outcomes.get("passed", 0) + outcomes.get("missed", 0) > 0
    assert "errors" not in outcomes
    # The example runs on small data, so one of its gates may fail, but nothing else.
    failed = [line for line in result.outlines if line.startswith(("FAILED ", "ERROR "))]
    assert [line for line in failed if "[gate: " not in line] == []


def test_at_least_one_example_is_run() -> None:
    assert EXAMPLES, "no page has a <!-- test: NAME --> above a block"


def test_an_unmarked_block_is_not_an_example(tmp_path: Path) -> None:
    text = "## A\n\n```python\nx = 1\n```\n\n<!-- test: two as conftest.py -->\n```python\ny = 2\n```\n"
    blocks = blocks_of(text)
    assert [(block.section, block.line, block.examples, block.file) for block in blocks] == [
        ("A", 3, (), ""),
        ("A", 8, ("two",), "conftest.py"),
    ]
    lay_out("two", examples_of(blocks)["two"], tmp_path)
    assert (tmp_path / "conftest.py").read_text(encoding="utf-8") == "y = 2\n"


def test_a_block_may_belong_to_several_examples_and_show_printed_output() -> None:
    text = (
        "<!-- test: one, two as a.jsonl -->\n```jsonl\n{}\n```\n\n<!-- prints: two -k x -->\n```text\n1 passed\n```\n"
    )
    blocks = blocks_of(text)
    assert {name: [block.file for block in example] for name, example in examples_of(blocks).items()} == {
        "one": ["a.jsonl"],
        "two": ["a.jsonl"],
    }
    assert {command: block.text for command, block in printed_of(blocks).items()} == {"two -k x": "1 passed\n"}


def test_a_story_has_its_files_and_commands_in_order() -> None:
    text = "<!-- story: a as x.py -->\n```python\nx = 1\n```\n<!-- story: a -->\n```console\n$ ls\n...\nx.py\n```\n"
    [file, console] = stories_of(blocks_of(text))["a"]
    assert (file.file, console.file) == ("x.py", "")
    assert steps_of(console.text) == [("ls", ["x.py"])]
