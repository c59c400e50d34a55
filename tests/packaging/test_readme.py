"""README.md says nothing that does not work."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest
from _pytest.config.argparsing import Parser
from readme_blocks import ROOT, blocks_of, examples_of, lay_out, printed_of, section_commands

from pytest_rageval.hooks.config.options import add_options

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks_of(TEXT)
EXAMPLES = examples_of(BLOCKS)
PRINTED = {command.split()[0] for command in printed_of(BLOCKS)}
IMPORTED = {name for name, blocks in EXAMPLES.items() if any(block.language == "csv" for block in blocks)}
PROGRAMS = {"bash", "cat", "cd", "cp", "git", "ls", "mkdir", "pip", "pytest", "python", "rageval"}


@pytest.mark.parametrize("section", ["Set up", "Run the example", "Run the tests"])
def test_the_sections_that_ci_types_have_commands(section: str) -> None:
    assert section_commands(BLOCKS, section), f"README.md has no console block with commands under '## {section}'"


def test_set_up_takes_two_commands_and_the_others_one() -> None:
    counts = [len(section_commands(BLOCKS, section)) for section in ("Set up", "Run the example", "Run the tests")]
    assert counts == [2, 1, 1]


def test_every_python_block_parses() -> None:
    for block in BLOCKS:
        if block.language == "python":
            ast.parse(block.text, f"README.md:{block.line}")


def test_every_toml_and_json_block_parses() -> None:
    for block in BLOCKS:
        where = f"README.md:{block.line}"
        try:
            if block.language == "toml":
                tomllib.loads(block.text)
            elif block.language == "json":
                json.loads(block.text)
            elif block.language == "jsonl":
                list(map(json.loads, block.text.splitlines()))
        except ValueError as error:
            pytest.fail(f"{where}: {error}")


def test_every_command_is_a_known_program() -> None:
    for block in BLOCKS:
        for command in block.commands if block.language == "console" else []:
            program = re.sub(r"^(\w+=\S* )+", "", command).split()[0]
            assert program in PROGRAMS, f"README.md:{block.line}: {command}"


def test_every_file_it_links_to_is_there() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", TEXT)
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_option_and_every_setting_stands_in_one_table_row() -> None:
    parser = Parser(_ispytest=True)
    add_options(parser)
    table = TEXT.partition("### Options\n")[2].partition("\n#")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    named = [option.names()[0] for group in parser._groups for option in group.options]
    for name in (*named, *parser._inidict):
        assert sum(bool(re.search(rf"`{name}[ `]", row)) for row in rows) == 1, name


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in PRINTED | IMPORTED])
def test_example_runs(name: str, pytester: pytest.Pytester) -> None:
    lay_out(name, EXAMPLES[name], pytester.path)
    result = pytester.runpytest("-p", "no:randomly", "--strict-markers", "-ra")
    outcomes = result.parseoutcomes()
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    assert outcomes.get("passed", 0) + outcomes.get("missed", 0) > 0
    assert "errors" not in outcomes
    # Small data stands in for what the example names, so one of its gates may fail, but nothing else.
    failed = [line for line in result.outlines if line.startswith(("FAILED ", "ERROR "))]
    assert [line for line in failed if "[gate: " not in line] == []


def test_at_least_one_example_is_run() -> None:
    assert EXAMPLES, "README.md has no <!-- test: NAME --> above a block"


def test_an_unmarked_block_is_no_example(tmp_path: Path) -> None:
    text = "## A\n\n```python\nx = 1\n```\n\n<!-- test: two as conftest.py -->\n```python\ny = 2\n```\n"
    blocks = blocks_of(text)
    assert [(block.section, block.line, block.examples, block.file) for block in blocks] == [
        ("A", 3, (), ""),
        ("A", 8, ("two",), "conftest.py"),
    ]
    lay_out("two", examples_of(blocks)["two"], tmp_path)
    assert (tmp_path / "conftest.py").read_text(encoding="utf-8") == "y = 2\n"


def test_a_block_may_be_of_several_examples_and_show_what_one_prints() -> None:
    text = (
        "<!-- test: one, two as a.jsonl -->\n```jsonl\n{}\n```\n\n<!-- prints: two -k x -->\n```text\n1 passed\n```\n"
    )
    blocks = blocks_of(text)
    assert {name: [block.file for block in of] for name, of in examples_of(blocks).items()} == {
        "one": ["a.jsonl"],
        "two": ["a.jsonl"],
    }
    assert {command: block.text for command, block in printed_of(blocks).items()} == {"two -k x": "1 passed\n"}
