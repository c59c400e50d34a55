"""The commands of the example's README print what it shows: those that break the desk, ask it more, and run agents."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.projects.readme_blocks import ROOT, all_blocks, blocks_of, renew, steps_of, stories_of, timeless

EXAMPLE = ROOT / "example_project"
BLOCKS = blocks_of((EXAMPLE / "README.md").read_text(encoding="utf-8"), "example_project/README.md")
SECTIONS = {
    "Break it, and repair it": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0],
    "More questions, and the same ones a little different": [0, 0, 0, 0, 1, 0, 0],
    "Train a judge of your own": [0, 0],
    "Compare agents and a chain": [0, 1],
}
"""Section -> the exit statuses of its commands."""

PROGRAMS = {
    "python": [sys.executable],
    "rageval": [sys.executable, "-c", "from pytest_rageval.cli import main; raise SystemExit(main())"],
}

[README] = stories_of(all_blocks())["example"]
IN_README = {command.replace("example_project/", ""): shown for command, shown in steps_of(README.text) if shown}
"""What the project's README shows of the same story, by the command."""


@pytest.mark.skipif(shutil.which("sed") is None, reason="a story uses sed")
@pytest.mark.parametrize("section", SECTIONS)
def test_the_story_in_the_readme_of_the_example_is_true(section: str, tmp_path: Path) -> None:
    in_readme = dict(IN_README) if section == "Break it, and repair it" else {}
    ignored = shutil.ignore_patterns(".rageval", ".pytest_cache", "__pycache__")
    copy = shutil.copytree(EXAMPLE, tmp_path / "desk", ignore=ignored)
    env = {**os.environ, "COLUMNS": "80", "CI": "1"}  # CI: Hypothesis draws the same examples in each run
    ended, missing, everything = [], [], []
    for block in BLOCKS:
        if block.section != section or block.language != "console":
            continue
        outputs = []
        for command, shown in steps_of(block.text):
            typed = [word for each in shlex.split(command) for word in PROGRAMS.get(each, [each])]
            run = subprocess.run(typed, cwd=copy, env=env, capture_output=True, text=True, check=False)
            for lines in (shown, in_readme.pop(command.removeprefix("python -m "), ())):
                printed = map(timeless, run.stdout.splitlines())
                missing += [(command, line) for line in lines if timeless(line) not in printed]  # in this order
            ended.append(run.returncode)
            outputs.append(f"$ {command}\n{run.stdout}")
        renew(block, "\n".join(outputs))
        everything += outputs
    if section == "Break it, and repair it":
        renew(README, "\n".join(everything[:2]))
    assert missing == [], "\n".join(everything)
    assert in_readme == {}
    assert ended == SECTIONS[section]
    for file in ("assistant/desk.py", "assistant/words.py", "pyproject.toml"):
        assert (copy / file).read_bytes() == (EXAMPLE / file).read_bytes()
