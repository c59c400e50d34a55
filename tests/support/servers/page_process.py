"""A local page in a separate process, as a user starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import httpx
from typing_extensions import Self

from support.processes.forked_workers import PipedProcess, shared_server

__all__ = ["MAIN", "PLAY", "REVIEW", "PageProcess", "start_page"]

TESTS = Path(__file__).parents[2]


SAMPLE = ("-m", "support.local_page")
MAIN = ("-c", "from pytest_rageval.cli import main; raise SystemExit(main())")
REVIEW, PLAY = (*MAIN, "review", "--no-browser"), (*MAIN, "play", "--no-browser")
"""Arguments of Python for the sample page, `rageval review`, and `rageval play`."""


def start_page(
    project: Path,
    *arguments: str,
    program: Sequence[str] = SAMPLE,
    anew: bool = False,
    environment: Mapping[str, str] = {},
) -> subprocess.Popen[str] | PipedProcess:
    """Start a program with its output in pipes; `rageval play` starts in the project, others are given its path.

    On Linux, `rageval` is forked from a process that has imported it, unless ``anew``, which imports all of it again.
    """
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    display = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"), "")
    inside = program == PLAY
    words = [*program, *(() if inside else (str(project),)), *arguments]
    pipe = subprocess.PIPE
    settings = {**os.environ, **display, "PYTHONPATH": paths, **environment}
    folder = project if inside else Path.cwd()
    if sys.platform == "linux" and words[:2] == [*MAIN] and not anew:
        return shared_server().piped(words[2:], settings, program="rageval", folder=str(folder))
    return subprocess.Popen([sys.executable, *words], stdout=pipe, stderr=pipe, text=True, env=settings, cwd=folder)


class PageProcess:
    """A running server: its process, the address that it printed, and a client with its cookie.

    Attributes:
        project: the project's folder.
        url: the printed address, with the token.
        base: the address of the page, without the token.
        origin: the origin of the page.
        client: an HTTP client with the cookie, and the ``Origin`` of the page.
    """

    def __init__(self, project: Path, *arguments: str, program: Sequence[str] = SAMPLE, anew: bool = False) -> None:
        self.project = project
        self.process = start_page(project, *arguments, program=program, anew=anew)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        match = re.search(r"http://\S+", line)
        assert match, line + self.process.communicate()[1]
        self.url = match[0]
        address = httpx.URL(self.url)
        self.base, self.token = str(address.copy_with(path="/", query=None)), address.params["token"]
        self.origin = self.base.rstrip("/")
        self.port = httpx.URL(self.base).port or 0
        self.client = httpx.Client(base_url=self.base, headers={"Origin": self.origin}, timeout=10)
        assert self.client.get(f"/?token={self.token}").status_code == 303

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(signal.SIGKILL)

    def end(self, sign: signal.Signals) -> float:
        """Send a signal and return the seconds until the process has ended."""
        self.client.close()
        start = time.monotonic()
        self.process.send_signal(sign)
        self.process.wait(20)
        seconds = time.monotonic() - start
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return seconds
