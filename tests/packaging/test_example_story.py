"""The example's README breaks the assistant and mends it: what is typed there prints what is shown there."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from readme_blocks import ROOT, all_blocks, blocks_of, steps_of, stories_of

EXAMPLE = ROOT / "example_project"
BLOCKS = [
    block
    for block in blocks_of((EXAMPLE / "README.md").read_text(encoding="utf-8"))
    if block.section == "Break it, and mend it" and block.language == "console"
]


IN_README = {
    command.replace("example_project/", ""): shown
    for block in stories_of(all_blocks())["example"]
    for command, shown in steps_of(block.text)
    if shown
}
"""What the project's README shows of the same story, by the command."""


@pytest.mark.skipif(shutil.which("sed") is None, reason="the story is told with sed")
def test_the_story_in_the_readme_of_the_example_is_true(tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns(".rageval", ".pytest_cache", "__pycache__")
    copy = shutil.copytree(EXAMPLE, tmp_path / "desk", ignore=ignored)
    env = {**os.environ, "COLUMNS": "80", "PYTEST_ADDOPTS": "-p no:randomly"}
    ended = []
    for command, shown in (step for block in BLOCKS for step in steps_of(block.text)):
        typed = [sys.executable if word == "python" else word for word in shlex.split(command)]
        run = subprocess.run(typed, cwd=copy, env=env, capture_output=True, text=True, check=False)
        printed = iter(run.stdout.splitlines())
        assert [line for line in shown if line not in printed] == [], run.stdout  # each below the one before
        again = iter(run.stdout.splitlines())
        assert [line for line in IN_README.pop(command.removeprefix("python -m "), ()) if line not in again] == []
        ended.append(run.returncode)
    assert IN_README == {}
    assert ended == [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    for file in ("assistant/desk.py", "pyproject.toml"):
        assert (copy / file).read_bytes() == (EXAMPLE / file).read_bytes()
