"""What README shows of the example is what the example prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from readme_blocks import ROOT, blocks_of


def lines_of(text: str) -> list[str]:
    """Return the lines without the seconds, which differ, and without what stands for lines left out."""
    shown = (re.sub(r" in [\d.]+s\b.*", "", line).strip(" =") for line in text.splitlines())
    return [line for line in shown if line and line != "..."]


def test_the_output_in_readme_is_what_the_example_prints(tmp_path: Path) -> None:
    [block] = [b for b in blocks_of((ROOT / "README.md").read_text("utf-8")) if b.language == "text"]
    ignored = shutil.ignore_patterns(".rageval", ".pytest_cache", "__pycache__")
    shutil.copytree(ROOT / "example_project", tmp_path / "example_project", ignore=ignored)
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "example_project"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, run.stdout
    printed = lines_of(run.stdout)
    wanted = lines_of(block.text)
    assert len(wanted) > 30
    assert [line for line in wanted if line not in printed] == []
