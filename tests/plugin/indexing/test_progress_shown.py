"""Progress of reading and indexing a large corpus is shown in a terminal."""

from __future__ import annotations

import os
from contextlib import suppress

import pytest
from support.projects.index_projects import COUNTING_CONFTEST, shop
from support.projects.rag_project import Project

pty = pytest.importorskip("pty", reason="there is no terminal to open")

HASTY = f"""{COUNTING_CONFTEST}
    import pytest_rageval.hooks.config.progress_bar
    pytest_rageval.hooks.config.progress_bar.DELAY_S = 0
"""
"""A conftest that shows progress without a delay."""

STEPS = ("rag: reading", "rag: indexing")


def terminal_output(project: Project, *args: str, program: str = "pytest") -> str:
    """Run a program in a pseudo-terminal, and return its output."""
    ours, theirs = pty.openpty()
    child = project.process(args, (theirs,) * 3, {**os.environ, "TERM": "xterm", "COLUMNS": "80"}, program)
    os.close(theirs)
    parts = []
    with suppress(OSError):  # the other end is closed
        while part := os.read(ours, 65_536):
            parts.append(part)
    os.close(ours)
    assert child.wait(60) == 0, b"".join(parts).decode()
    return b"".join(parts).decode()


@pytest.mark.parametrize("args", [(), ("-v",), ("-s",)], ids=str)
def test_a_terminal_shows_reading_and_indexing_and_keeps_other_output(project: Project, args: tuple[str, ...]) -> None:
    text = terminal_output(shop(project, conftest=HASTY), *args)
    assert "\rrag: reading the corpus ... 0 passages" in text
    assert "\rrag: indexing ... 0 passages" in text
    lines = [line.rpartition("\r")[2].rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    assert [line for line in lines if any(step in line for step in STEPS)] == []  # it is written over
    assert any("collected 9 items" in line for line in lines)
    assert sum(line.count("PASSED") for line in lines) >= 8 if "-v" in args else any("....." in line for line in lines)


@pytest.mark.parametrize("args", [("-q",), ("-n2",)], ids=str)
def test_quiet_runs_and_workers_show_no_progress(project: Project, args: tuple[str, ...]) -> None:
    text = terminal_output(shop(project, conftest=HASTY), *args)
    assert not any(step in text for step in STEPS)


def test_no_progress_is_shown_without_a_terminal(project: Project) -> None:
    shop(project, conftest=HASTY)
    text = project.run(forked=True).text
    assert not any(step in text for step in STEPS)


def test_the_command_shows_progress(project: Project) -> None:
    text = terminal_output(shop(project, conftest=HASTY), "index", "build", program="rageval")
    assert "rag: reading the corpus ... 0 passages" in text
    assert "rag: indexing ... 0 passages\r\x1b[K" in text or "rag: indexing ... 1," in text
    assert "\r\x1b[Kbm25 over 2,000 passages" in text
