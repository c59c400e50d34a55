"""The example of the page on data imports prints and scores what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.projects.readme_blocks import all_blocks, examples_of, lay_out

from pytest_rageval.cli import main

BLOCKS = all_blocks()


def test_the_import_example_prints_the_output_of_the_page_and_its_cases_are_scored(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    example = examples_of(BLOCKS)["bring"]
    [console] = [block for block in BLOCKS if "rageval import table questions.csv" in block.commands]
    lay_out("bring", [block for block in example if block.language == "csv"], pytester.path)
    imported, scored = (command.split()[1:] for command in console.commands)
    assert main(imported) == 1
    documented = [line for line in console.text.splitlines() if not line.startswith("$ ")]
    assert capsys.readouterr().out.splitlines() == documented
    lay_out("bring", example, pytester.path)
    assert Path("cases.jsonl").exists()
    result = pytester.runpytest_subprocess("-v", *scored)
    result.stdout.fnmatch_lines(["accuracy by topic x task*", "Hours *1.00 (1)*", "Prices *0.00 (1)*"])
    result.stdout.fnmatch_lines(["    FAILED  accuracy[[]topic=[*]] >= 0.5 *", "            worst at topic=Prices"])
