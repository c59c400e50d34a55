"""The commands of the example's README print what it shows: those that break the desk, ask it more, and run agents."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from support.projects.installed_programs import QuickProgram, run_program
from support.projects.readme_blocks import ROOT, all_blocks, blocks_of, renew, repeatable, steps_of, stories_of

EXAMPLE = ROOT / "example_project"
BLOCKS = blocks_of((EXAMPLE / "README.md").read_text(encoding="utf-8"), "example_project/README.md")
SECTIONS = {
    "Break it, and repair it": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
    "More questions, and the same ones a little different": [0, 0, 0, 0, 1, 0, 0],
    "Train a judge of your own": [0, 0],
    "Compare agents and a chain": [0, 1],
}
"""Section -> the exit statuses of its commands."""

[README] = stories_of(all_blocks())["example"]
IN_README = {command.replace("example_project/", ""): lines for command, lines in steps_of(README.text) if lines}
"""What the project's README shows of the same story, by the command."""


@pytest.mark.skipif(shutil.which("sed") is None, reason="a story uses sed")
@pytest.mark.parametrize("section", SECTIONS)
def test_the_story_in_the_readme_of_the_example_is_true(
    section: str, tmp_path: Path, quick_program: QuickProgram
) -> None:
    in_readme = dict(IN_README) if section == "Break it, and repair it" else {}
    ignored = shutil.ignore_patterns(".rageval", ".pytest_cache", "__pycache__")
    copy = shutil.copytree(EXAMPLE, tmp_path / "desk", ignore=ignored)
    env = {"COLUMNS": "80", "CI": "1"}  # CI: Hypothesis keeps no examples of an earlier run
    ended, missing, everything = [], [], []
    for block in BLOCKS:
        if block.section != section or block.language != "console":
            continue
        outputs = []
        for command, documented in steps_of(block.text):
            words = shlex.split(command.removeprefix("python -m "))
            run = quick_program if words[0] in ("pytest", "rageval") else run_program
            status, output = run(copy, *words, env=env, errors=False)
            for lines in (documented, in_readme.pop(command.removeprefix("python -m "), ())):
                printed = map(repeatable, output.splitlines())
                missing += [(command, line) for line in lines if repeatable(line) not in printed]  # in this order
            ended.append(status)
            outputs.append(f"$ {command}\n{output}")
        renew(block, "\n".join(outputs))
        everything += outputs
    if section == "Break it, and repair it":
        renew(README, "\n".join(everything[:2]))
    assert missing == [], "\n".join(everything)
    assert in_readme == {}
    assert ended == SECTIONS[section]
    for file in ("assistant/desk.py", "assistant/words.py", "pyproject.toml"):
        assert (copy / file).read_bytes() == (EXAMPLE / file).read_bytes()
