"""What `rageval` shows in a terminal while it works, and what Ctrl-C leaves of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from support.projects.rag_project import Project

pty = pytest.importorskip("pty", reason="there is no terminal to open")

RAGEVAL = [sys.executable, "-c", "import sys; from pytest_rageval.cli import main; sys.exit(main())"]

SLOW = """
    import time
    from pytest_rageval import Instance

    def load(path):
        time.sleep({seconds})
        return [Instance("q1", "Where?", (("Paris",),), origin=f"{path.name}:1")]

    def pytest_rageval_register(registry):
        registry.datasets.register("slow", load)
"""
LINT = [*RAGEVAL, "lint", "slow:data.txt"]
STAGE = b"\rreading slow:data.txt \xc2\xb7 "


def slow(project: Project, seconds: float) -> None:
    project.file("conftest.py", SLOW.replace("{seconds}", str(seconds)))
    project.file("data.txt", "x")


def watched(project: Project, seen: Callable[[subprocess.Popen[bytes], bytes], object]) -> tuple[int, str, str]:
    """Run the linter with standard error on a terminal, and return its status, its output and what the terminal got.

    ``seen`` is called with the process and all that the terminal has, each time that there is more of it.
    """
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "PYTHONUTF8": "1"}
    with subprocess.Popen(LINT, cwd=project.path, env=env, stdout=subprocess.PIPE, stderr=theirs) as child:
        os.close(theirs)
        text = b""
        while True:
            try:
                text += os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            seen(child, text)
        os.close(ours)
        assert child.stdout is not None
        out = child.stdout.read().decode()
    return child.returncode, out, text.decode().replace("\r\n", "\n")


def screen(text: str) -> str:
    """Return what stands on a terminal in the end."""
    rows = []
    for row in text.split("\n"):
        cells: list[str] = []
        for part in row.split("\r"):
            cells[: len(part)] = part
        rows.append("".join(cells).rstrip())
    return "\n".join(rows).strip()


def test_a_command_shows_what_it_does_and_leaves_nothing_of_it(project: Project) -> None:
    slow(project, 2)
    status, out, text = watched(project, lambda *_: None)
    assert STAGE.decode() in text
    assert (status, screen(text)) == (0, "")
    assert out == "Nothing found. Gold answers were matched by accuracy.\n"


def test_an_interrupt_erases_the_line_and_says_so(project: Project) -> None:
    slow(project, 60)
    sent: list[float] = []

    def interrupt(child: subprocess.Popen[bytes], text: bytes) -> None:
        if STAGE in text and not sent:
            sent.append(time.monotonic())
            child.send_signal(signal.SIGINT)

    status, out, text = watched(project, interrupt)
    assert time.monotonic() - sent[0] < 20
    assert (status, out, screen(text)) == (130, "", "rageval: interrupted")


def test_off_a_terminal_a_stage_is_a_line(project: Project) -> None:
    slow(project, 2)
    run = subprocess.run([*LINT, "--json"], cwd=project.path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "rageval: reading slow:data.txt\n")
    assert run.stdout.startswith("{")
