"""Progress of `rageval` in a terminal while it works, and the terminal after Ctrl-C."""

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


def write_project(project: Project, seconds: float) -> None:
    project.file("conftest.py", SLOW.replace("{seconds}", str(seconds)))
    project.file("data.txt", "x")


def run_in_terminal(
    project: Project, on_output: Callable[[subprocess.Popen[bytes], bytes], object]
) -> tuple[int, str, str]:
    """Run the linter with standard error on a terminal; return its status, its output and the terminal's text.

    ``on_output`` is called with the process and the text so far whenever the text grows.
    """
    parent_end, child_end = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "PYTHONUTF8": "1"}
    with subprocess.Popen(LINT, cwd=project.path, env=env, stdout=subprocess.PIPE, stderr=child_end) as child:
        os.close(child_end)
        text = b""
        while True:
            try:
                text += os.read(parent_end, 65_536)
            except OSError:  # the other end is closed
                break
            on_output(child, text)
        os.close(parent_end)
        assert child.stdout is not None
        out = child.stdout.read().decode()
    return child.returncode, out, text.decode().replace("\r\n", "\n")


def screen(text: str) -> str:
    """Return the final content of a terminal."""
    rows = []
    for row in text.split("\n"):
        cells: list[str] = []
        for part in row.split("\r"):
            cells[: len(part)] = part
        rows.append("".join(cells).rstrip())
    return "\n".join(rows).strip()


def test_a_command_shows_its_stage_and_erases_it_at_the_end(project: Project) -> None:
    write_project(project, 2)
    status, out, text = run_in_terminal(project, lambda *_: None)
    assert STAGE.decode() in text
    assert (status, screen(text)) == (0, "")
    assert out == "Nothing found. Gold answers were matched by accuracy.\n"


def test_an_interrupt_erases_the_stage_and_is_reported(project: Project) -> None:
    write_project(project, 60)
    sent_at: list[float] = []

    def interrupt(child: subprocess.Popen[bytes], text: bytes) -> None:
        if STAGE in text and not sent_at:
            sent_at.append(time.monotonic())
            child.send_signal(signal.SIGINT)

    status, out, text = run_in_terminal(project, interrupt)
    assert time.monotonic() - sent_at[0] < 20
    assert (status, out, screen(text)) == (130, "", "rageval: interrupted")


def test_without_a_terminal_a_stage_is_printed_as_a_line(project: Project) -> None:
    write_project(project, 2)
    run = subprocess.run([*LINT, "--json"], cwd=project.path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "rageval: reading slow:data.txt\n")
    assert run.stdout.startswith("{")
