"""``rageval show`` on a terminal: colours, the pager, and escaped control characters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from contextlib import suppress
from fcntl import ioctl
from functools import partial
from pathlib import Path
from struct import pack

import pytest
from support.processes.forked_workers import ForkedProcess, WorkerServer

RunOnTerminal = Callable[..., str]

pty = pytest.importorskip("pty", reason="there is no terminal to open")

RUN = "import sys; from pytest_rageval.cli import main; raise SystemExit(main(sys.argv[1:]))"
SHOW = ("show", "museum.json", "--full")
PAGER = "import sys; text = sys.stdin.read(); print('PAGED', text.count(chr(10))); print(text[:200])"


@pytest.fixture
def project(tmp_path: Path, fixtures_dir: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    text = (fixtures_dir / "reports" / "museum.json").read_text(encoding="utf-8")
    (tmp_path / "museum.json").write_text(text, encoding="utf-8")
    (tmp_path / "pager.py").write_text(PAGER)
    return tmp_path


@pytest.fixture
def run_on_terminal(worker_server: WorkerServer) -> RunOnTerminal:
    """Return a function that runs `rageval` on a terminal with that number of rows and returns its output.

    The keys are sent when the pager prints that it waits.
    """

    def run(project: Path, rows: int = 300, command: Sequence[str] = SHOW, keys: str = "", **env: str) -> str:
        ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, pack("HHHH", rows, 100, 0, 0))
        inherited = {
            key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "PAGER", "LESS")
        }
        environment = {**inherited, "TERM": "xterm", **env}
        environment.pop("COLORTERM", None)
        child: ForkedProcess | subprocess.Popen[bytes]
        if keys or "PYTHONIOENCODING" in env or sys.platform != "linux":  # Python reads the encoding at its start
            child = subprocess.Popen(
                [sys.executable, "-c", RUN, *command], cwd=project, env=environment, stdin=theirs, stdout=theirs,
                stderr=theirs, start_new_session=True, preexec_fn=None if not keys else partial(take_control, theirs),
            )  # fmt: skip
        else:
            child = worker_server.fork((theirs,) * 3, command, environment, program="rageval", folder=str(project))
        os.close(theirs)
        text = b""
        with suppress(OSError):  # the other end is closed
            while part := os.read(ours, 65_536):
                text += part
                if keys and b"waits" in text:
                    os.write(ours, keys.encode())
                    keys = ""
        os.close(ours)
        assert child.wait(60) == 0, text.decode()
        return text.decode()

    return run


def take_control(terminal: int) -> None:
    """Make a terminal the controlling terminal of this process: its keys then send signals."""
    ioctl(terminal, termios.TIOCSCTTY, 0)


def test_a_short_output_is_printed_in_colour(project: Path, run_on_terminal: RunOnTerminal) -> None:
    text = run_on_terminal(project, PAGER=f"{sys.executable} pager.py")
    assert "PAGED" not in text
    assert "\x1b[33m0.25 (4)*\x1b[0m" in text
    assert "\x1b[31m    FAILED" in text


def test_a_long_output_goes_to_the_pager_in_colour(project: Path, run_on_terminal: RunOnTerminal) -> None:
    text = run_on_terminal(project, rows=30, PAGER=f"{sys.executable} pager.py")
    assert "PAGED" in text
    assert "\x1b[1m64 cases" in text
    assert text.count("64 cases") == 1


@pytest.mark.parametrize("pager", ["", " ", "no-such-pager -x", "cat 'x", f"{sys.executable} -c 'raise SystemExit(3)'"])
def test_a_failing_pager_is_ignored(project: Path, run_on_terminal: RunOnTerminal, pager: str) -> None:
    assert "64 cases: 63 scored" in run_on_terminal(project, rows=30, PAGER=pager)


@pytest.mark.parametrize("less", [None, "-S", "FR", "-P?m page %d"])
def test_less_always_shows_colours(project: Path, run_on_terminal: RunOnTerminal, less: str | None) -> None:
    env = {} if less is None else {"LESS": less}
    assert "LESS=-R " in run_on_terminal(project, rows=30, PAGER="echo LESS=$LESS", **env)


def test_the_shell_runs_the_pager(project: Path, run_on_terminal: RunOnTerminal) -> None:
    assert "there\r\n" in run_on_terminal(project, rows=30, PAGER="WORD=there eval 'echo $WORD'")


WAITING_PAGER = """import sys, time; sys.stdin.read()
try: print("waits", flush=True); time.sleep(30)
except KeyboardInterrupt: print("heard"){then}"""


@pytest.mark.parametrize("then", ["", "; raise"])
def test_an_interrupt_is_handled_by_the_pager(project: Path, run_on_terminal: RunOnTerminal, then: str) -> None:
    (project / "waits.py").write_text(WAITING_PAGER.format(then=then))
    text = run_on_terminal(project, rows=30, keys="\x03", PAGER=f"{sys.executable} waits.py")
    assert "heard" in text
    assert "cli.py" not in text
    assert "64 cases" not in text


@pytest.mark.parametrize(
    "command", [("compare", "museum.json", "museum.json"), ("history",), ("history", "--json")], ids=" ".join
)
def test_text_is_paged_and_json_is_not(project: Path, run_on_terminal: RunOnTerminal, command: tuple[str, ...]) -> None:
    run = project / ".rageval" / "runs" / "20260102T030405"
    run.mkdir(parents=True)
    (run / "results.json").write_text((project / "museum.json").read_text(encoding="utf-8"), encoding="utf-8")
    text = run_on_terminal(project, rows=3, command=command, PAGER=f"{sys.executable} pager.py")
    assert ("PAGED" in text) == ("--json" not in command)


def test_a_comparison_is_in_colour(project: Path, run_on_terminal: RunOnTerminal) -> None:
    results = json.loads((project / "museum.json").read_text(encoding="utf-8"))
    for outcome in results["outcomes"]:
        for score in outcome["scores"].values():
            score.update(value=0.0 if score.get("value") is not None else None)
    (project / "worse.json").write_text(json.dumps(results), encoding="utf-8")
    assert "\x1b[31m" in run_on_terminal(project, command=("compare", "museum.json", "worse.json"))


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_turned_off(project: Path, run_on_terminal: RunOnTerminal, env: dict[str, str]) -> None:
    assert "\x1b" not in run_on_terminal(project, 300, **env)


def test_a_terminal_without_unicode_gets_plain_signs(project: Path, run_on_terminal: RunOnTerminal) -> None:
    text = run_on_terminal(project, PYTHONIOENCODING="ascii")
    assert text.isascii()
    assert "63 scored, 1 error, 3 not selected - system careful, quick" in text
    assert "#+:" in text
    assert "\\u2013" not in text


def test_a_pipe_gets_no_colours_and_no_pager(project: Path) -> None:
    run = subprocess.run([sys.executable, "-c", RUN, *SHOW], cwd=project, capture_output=True, check=True,
                         env={**os.environ, "PAGER": f"{sys.executable} pager.py", "LINES": "10"})  # fmt: skip
    assert b"\x1b" not in run.stdout
    assert b"PAGED" not in run.stdout


def test_control_characters_of_data_never_reach_the_terminal(project: Path, run_on_terminal: RunOnTerminal) -> None:
    results = json.loads((project / "museum.json").read_text(encoding="utf-8"))
    escapes = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"
    for outcome in results["outcomes"]:
        outcome["facets"]["topic"] += escapes
        outcome["system"] += escapes
    results["plan"]["notes"].append(escapes)
    results["run"]["id"] += escapes
    for testbed in results["testbeds"].values():
        testbed["name"] += escapes
    (project / "museum.json").write_text(json.dumps(results), encoding="utf-8")
    text = run_on_terminal(project)
    assert not {"\x07", "\x9b", "\u202e"} & set(text)
    assert "\x1b]" not in text
    assert "\x1b[2J" not in text
    assert "\\x1b]0;owned" in text
