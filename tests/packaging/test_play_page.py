"""The eight steps of docs/tutorial/play.md: its commands and its HTTP calls, on a real server."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from support.projects.play_project import PlayPage, run_tests
from support.projects.readme_blocks import ROOT, Block, blocks_of, examples_of, lay_out

PAGE = ROOT / "docs" / "tutorial" / "play.md"
SERVER = "rageval play --no-browser"


def test_the_eight_steps_do_what_they_say(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## (\d)\.", text, re.MULTILINE) == list("12345678")
    blocks = blocks_of(text, "docs/tutorial/play.md")
    lay_out("playing", examples_of(blocks)["playing"], tmp_path)
    steps = [block for block in blocks if not block.examples]
    consoles = [command for block in steps if block.language == "console" for command in block.commands]
    assert consoles[0] == SERVER
    with PlayPage(tmp_path) as page:
        names: dict[str, Any] = {}
        for block, following in zip(steps, [*steps[1:], None], strict=True):
            if block.language == "python":
                _run(block, following, names, page.url)
        names["page"].close()
    for command in consoles[1:]:
        program, *arguments = shlex.split(command)
        assert program == "pytest"
        assert "1 passed" in run_tests(tmp_path, *arguments).stdout


def _run(block: Block, following: Block | None, names: dict[str, Any], address: str) -> None:
    """Run a Python block and compare its output with the text block below it."""
    code = re.sub(r'ADDRESS = ".*"', f'ADDRESS = "{address}"', block.text)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, block.where, "exec"), names)  # noqa: S102 - our own code
    if following is not None and following.language == "text":
        assert printed.getvalue() == following.text, block.where
