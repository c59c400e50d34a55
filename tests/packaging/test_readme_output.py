"""What README and docs/ show of a run is what the run prints."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.projects.installed_programs import QuickProgram
from support.projects.rag_project import Project
from support.projects.readme_blocks import (
    ROOT,
    Block,
    all_blocks,
    blocks_of,
    examples_of,
    lay_out,
    printed_of,
    renew,
    repeatable,
    steps_of,
    stories_of,
)

BLOCKS = all_blocks()
STORIES = stories_of(BLOCKS)


def lines_of(text: str) -> list[str]:
    """Return the lines without the seconds, which differ, and without what stands for lines left out."""
    lines = (re.sub(r" in [\d.]+s\b.*", "", repeatable(line)).strip(" =") for line in text.splitlines())
    return [line for line in lines if line and line != "..."]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory, quick_program: QuickProgram) -> tuple[Path, int, str]:
    """Return a copy of the example that has been run beside it, the exit status and what it printed."""
    folder = tmp_path_factory.mktemp("example")
    ignored = shutil.ignore_patterns(".rageval", ".pytest_cache", "__pycache__")
    copy = shutil.copytree(ROOT / "example_project", folder / "example_project", ignore=ignored)
    return copy, *quick_program(folder, "pytest", "example_project", env={"COLUMNS": "80"})


def test_the_output_in_readme_is_what_the_example_prints(example: tuple[Path, int, str]) -> None:
    [block] = [b for b in BLOCKS if b.page == "README.md" and b.section == "Run the example" and b.language == "text"]
    _, status, output = example
    assert status == 0, output
    printed = lines_of(output)
    documented = lines_of(block.text)
    assert len(documented) > 3
    renew(block, output)
    assert [line for line in documented if line not in printed] == []


def test_the_agreement_in_the_readme_of_the_example_is_what_is_printed(
    example: tuple[Path, int, str], quick_program: QuickProgram
) -> None:
    copy, _, _ = example
    blocks = blocks_of((copy / "README.md").read_text(encoding="utf-8"))
    [block] = [b for b in blocks if b.language == "console" and b.section == "The matrix, the judge and the people"]
    [command] = block.commands
    status, output = quick_program(copy, *command.split(), errors=False)
    assert status == 0, output
    documented = [line for line in lines_of(block.text) if line != f"$ {command}"]
    assert len(documented) > 10
    assert [line for line in documented if line not in lines_of(output)] == []


def test_the_example_as_markdown_has_a_verdict_a_table_of_gates_and_matrices(
    example: tuple[Path, int, str], quick_program: QuickProgram
) -> None:
    copy, _, _ = example
    status, output = quick_program(copy, "rageval", "export", "--as", "markdown", errors=False)
    assert status == 0, output
    assert re.match(r"## ✅ RAG tests: all \d+ gates hold\n\n907 cases and 439 variants: 1346 scored, 0 errors", output)
    assert "\n| ✅ | `rouge_l >= 0.3` | `town` | – | 0.45 | 417 in 373 units |" in output
    assert "<summary>rouge_l by topic x task" in output
    assert "did not fit" not in output


def typed(project: Project, command: str) -> tuple[int, str]:
    """Run a command as if typed, pytest and rageval in processes that start at once; return its status and output."""
    program, *arguments = shlex.split(command)
    if program == "pytest":
        output = project.path / "output.txt"
        output.unlink(missing_ok=True)
        return project.started(*arguments).wait(120), output.read_text(encoding="utf-8")
    if program == "rageval":
        process = project.command(*arguments)
    else:
        process = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return process.returncode, process.stdout + process.stderr


@pytest.mark.parametrize("command", printed_of(BLOCKS))
def test_what_an_example_prints_is_shown(command: str, project: Project) -> None:
    tests, _, then = command.partition(" && ")
    name, _, rest = tests.partition(" ")
    lay_out(name, examples_of(BLOCKS)[name], project.path)
    status, output = typed(project, rest if rest.startswith("rageval ") else f"pytest {rest}")
    assert status in (0, 1, 5), output
    if then:
        status, output = typed(project, then)
        assert status == 0, output
    block = printed_of(BLOCKS)[command]
    documented = [unpriced(line) for line in lines_of(block.text) if line != f"$ {rest}"]
    printed = {unpriced(line) for line in lines_of(output)}
    assert documented
    renew(block, output)
    assert [line for line in documented if line not in printed] == [], output


def unpriced(line: str) -> str:
    """Return a line without the dollars at its end; providers change their prices, and litellm's map follows."""
    return re.sub(r"\d+\.\d{4}$", "$", line)


@pytest.mark.skipif(shutil.which("sed") is None, reason="stories are told with sed")
@pytest.mark.parametrize("name", [name for name in STORIES if name != "example"])  # test_example_story runs it
def test_a_story_that_is_typed_prints_what_is_shown(name: str, project: Project) -> None:
    commands = 0
    for block in STORIES[name]:
        if block.file:
            project.file(block.file, block.text)
        else:
            commands += steps_typed(project, block)
    assert commands


def steps_typed(project: Project, block: Block) -> int:
    """Run the commands of a console block; each must print the lines shown below it, in that order."""
    outputs, missing = [], []
    for command, documented in steps_of(block.text):
        _, output = typed(project, command)
        printed = iter(lines_of(output))
        missing += [(command, each) for each in lines_of("\n".join(documented)) if each not in printed]
        outputs.append(f"$ {command}\n{output}")
    renew(block, "\n".join(outputs))
    assert missing == [], f"{block.where}\n" + "\n".join(outputs)
    return len(block.commands)
