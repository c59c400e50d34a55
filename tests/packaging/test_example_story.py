"""The example's README breaks the assistant and mends it: what is typed there prints what is shown there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.projects.readme_blocks import ROOT, all_blocks, blocks_of, renew, steps_of, stories_of

EXAMPLE = ROOT / "example_project"
BLOCKS = [
    block
    for block in blocks_of((EXAMPLE / "README.md").read_text(encoding="utf-8"), "example_project/README.md")
    if block.section == "Break it, and repair it" and block.language == "console"
]


[README] = stories_of(all_blocks())["example"]
IN_README = {command.replace("example_project/", ""): shown for command, shown in steps_of(README.text) if shown}
"""What the project's README shows of the same story, by the command."""


@pytest.mark.skipif(shutil.which("sed") is None, reason="the story is told with sed")
def test_the_story_in_the_readme_of_the_example_is_true(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns(".rageval", ".pytest_cache", "__pycache__")
    copy = shutil.copytree(EXAMPLE, tmp_path / "desk", ignore=ignored)
    env = {**os.environ, "COLUMNS": "80"}
    ended, missing, everything = [], [], []
    for block in BLOCKS:
        outputs = []
        for command, shown in steps_of(block.text):
            typed = [sys.executable if word == "python" else word for word in shlex.split(command)]
            run = subprocess.run(typed, cwd=copy, env=env, capture_output=True, text=True, check=False)
            for lines in (shown, IN_README.pop(command.removeprefix("python -m "), ())):
                printed = iter(run.stdout.splitlines())
                missing += [(command, line) for line in lines if line not in printed]  # each below the one before
            ended.append(run.returncode)
            outputs.append(f"$ {command}\n{run.stdout}")
        renew(block, "\n".join(outputs))
        everything += outputs
    renew(README, "\n".join(everything[:2]))
    assert missing == [], "\n".join(everything)
    assert IN_README == {}
    assert ended == [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    for file in ("assistant/desk.py", "pyproject.toml"):
        assert (copy / file).read_bytes() == (EXAMPLE / file).read_bytes()
