"""The status line below pytest's progress, in a real terminal; no other output is lost."""

from __future__ import annotations

import os
import re
import signal
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from select import select
from struct import pack

import pyte
import pytest
from support.projects.rag_project import RUNS, Project, case

pty = pytest.importorskip("pty", reason="there is no terminal to open")

HASTY = """
    import time
    import pytest
    import pytest_rageval.hooks.reporting.status_line
    pytest_rageval.hooks.reporting.status_line.DELAY_S = 0

    def say(query):
        word, _, rest = query.question.partition(" ")
        if word == "raise":
            raise ValueError(rest)
        {slow}
        return rest

    @pytest.fixture(scope="session")
    def rag_system():
        return say
"""
"""A conftest that shows the status line without a delay."""


def is_status(line: str) -> bool:
    """Return whether a line is a status line; the line of the account has a verdict after ``rag: ``."""
    return re.match(r"rag: [\d+]+(/|$)", line) is not None


REST = 3
"""Further reads that belong to the same screen if they follow within two milliseconds."""


class TerminalOutput:
    """The output of a command in a terminal: each screen that differs from the one before, and all text sent."""

    def __init__(self, screens: list[list[str]], sent: str, status: int) -> None:
        self.screens = screens
        self.sent = sent
        self.status = status

    @property
    def last(self) -> list[str]:
        return self.screens[-1]

    @property
    def status_lines(self) -> list[str]:
        """The distinct status lines of all screens."""
        return list(dict.fromkeys(line for screen in self.screens for line in screen if is_status(line)))


def run_in_terminal(
    project: Project, *args: str, rows: int = 24, columns: int = 80, env: Mapping[str, str] | None = None,
    interrupt: str = "", has_size: bool = True,
) -> TerminalOutput:  # fmt: skip
    """Run pytest in a terminal of that size; with ``interrupt``, interrupt it once that text appears.

    Without ``has_size`` the terminal does not know its size; this happens with `docker run -t`.
    """
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, pack("HHHH", rows if has_size else 0, columns if has_size else 0, 0, 0))
    inherited = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    screens: list[list[str]] = []
    sent = b""
    child = project.process(args, (theirs, theirs, theirs), {**inherited, "TERM": "xterm-256color", **(env or {})})
    os.close(theirs)
    while True:
        try:
            part = os.read(ours, 65_536)
        except OSError:  # the other end is closed
            break
        with suppress(OSError):  # a read may split a drawing; the next read notices a closed end
            for _ in range(REST):
                part += os.read(ours, 65_536) if select([ours], [], [], 0.002)[0] else b""
        sent += part
        for piece in re.split(rb"(?=\x1b\[J)", part):
            stream.feed(piece)
            lines = [line.rstrip() for line in screen.display]
            if not screens or lines != screens[-1]:
                screens.append(lines)
        if interrupt and any(interrupt in line for line in screens[-1]):
            child.send_signal(signal.SIGINT)
            interrupt = ""
    os.close(ours)
    return TerminalOutput(screens, sent.decode(), child.wait(30))


def slow(project: Project, questions: Sequence[str], seconds: float = 0.0) -> Project:
    project.says([case(f"q{at}", question) for at, question in enumerate(questions, 1)],
                 conftest=HASTY.replace("{slow}", f"time.sleep({seconds})"))  # fmt: skip
    return project


RIGHT, WRONG, RAISES = "say Paris", "say Rome", "raise no such model"
QUESTIONS = [RIGHT, WRONG, RAISES, RIGHT] * 3


def fixed_lines(screen: Sequence[str]) -> list[str]:
    """Return the lines of a screen without times and without the name of the run."""
    text = re.sub(r"(?<=rag-resume=)\d+T[\d\s]+(-\d+)?\s*", "", "\n".join(screen))  # a line may end within the name
    lines = text.split("\n")
    varying = r" in [\d.]+s( \([\d:]+\))?|\b[\d.]+ s\b|=+|\d+T\d+(-\d+)?"
    return [re.sub(varying, "", line).strip() for line in lines if line]


@pytest.mark.parametrize("args", [(), ("-v",), ("-n2",)], ids=str)
def test_the_status_line_shows_progress_and_disappears(project: Project, args: tuple[str, ...]) -> None:
    output = run_in_terminal(slow(project, QUESTIONS, 0.02), "--no-summary", *args, rows=40, columns=200)
    assert output.status_lines
    assert re.fullmatch(r"rag: \d+(\+\d+)?/12( · \d errors?)?( · \d+ \w+ left)?( · accuracy \d\.\d\d)?",
                        output.status_lines[-1])  # fmt: skip
    assert any(re.match(r"rag: 12/12 · 3 errors .*accuracy 0.67", line) for line in output.status_lines), (
        output.status_lines
    )
    assert not any("/12 ·" in line for line in output.last)
    for screen in output.screens:
        assert sum(is_status(line) for line in screen) <= 1
    assert any("[100%]" in line for line in output.last)
    if "-n2" not in args:
        plain = run_in_terminal(project, "--no-summary", *args, rows=40, columns=200, env={"CI": "1"})
        assert not re.search(r"rag: [\d+]+/", plain.sent)
        assert "\x1b[J" not in plain.sent
        assert fixed_lines(output.last) == fixed_lines(plain.last)


def test_the_status_line_is_below_the_dots_and_scrolls_with_them(project: Project) -> None:
    output = run_in_terminal(slow(project, QUESTIONS * 15), "--no-summary", rows=8)
    below = [screen.index(line) for screen in output.screens for line in screen if is_status(line)]
    assert max(below) == 7
    for screen in output.screens:
        for at, line in enumerate(screen):
            if is_status(line):
                assert all(not rest for rest in screen[at + 1 :])
                assert re.search(r"[.mE]", screen[at - 2] + screen[at - 1])
    assert any("[100%]" in line for screen in output.screens for line in screen)


@pytest.mark.parametrize("args", [("-q",), ("-s",)], ids=str)
def test_no_status_line_appears_with_quiet_or_uncaptured_output(project: Project, args: tuple[str, ...]) -> None:
    output = run_in_terminal(slow(project, [RIGHT, RIGHT]), *args)
    assert not re.search(r"rag: [\d+]+/", output.sent)
    assert "\x1b[J" not in output.sent


def test_the_status_line_fits_the_terminal(project: Project) -> None:
    output = run_in_terminal(slow(project, QUESTIONS), "--no-summary", columns=30)
    assert output.status_lines
    assert max(map(len, output.status_lines)) <= 29
    assert "rag: 12/12 · 3 errors …" in output.status_lines


def test_a_terminal_of_unknown_size_works(project: Project) -> None:
    output = run_in_terminal(slow(project, QUESTIONS), has_size=False)
    assert output.status == 1  # because some answers are errors
    assert "INTERNALERROR" not in output.sent
    assert any(line.startswith("rag: 12/12") for line in output.status_lines)


def test_an_interrupt_removes_the_status_line(project: Project) -> None:
    output = run_in_terminal(slow(project, [RIGHT] * 20, 0.1), interrupt="rag: 2/20")
    assert output.status == 2
    assert any("Interrupted" in line or "KeyboardInterrupt" in line for line in output.last)
    assert not any(is_status(line) for line in output.last)


def test_the_status_line_works_without_unicode_and_colour(project: Project) -> None:
    output = run_in_terminal(slow(project, QUESTIONS), env={"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"})
    assert output.sent.isascii()
    assert any(line.startswith("rag: 12/12 - 3 errors - accuracy 0.67") for line in output.status_lines)
    assert "\x1b[3" not in output.sent


def test_the_status_line_works_in_a_resumed_run(project: Project) -> None:
    run_in_terminal(slow(project, [RIGHT] * 12, 0.05), interrupt="rag: 8/12")
    output = run_in_terminal(project, "--rag-resume", rows=60)
    assert "INTERNALERROR" not in output.sent
    assert output.status == 0
    assert any(line.startswith("rag: 12/12") for line in output.status_lines), output.status_lines
    assert "has ended" not in output.sent


SPEAKS = """
    import logging
    from pytest_rageval import rag_case

    @rag_case("jsonl:cases.jsonl", metrics=["accuracy"])
    def test_it(rag, capsys):
        if rag.case.id in ("q5", "q7"):
            with capsys.disabled():
                print("a\\nwhole")
                print("part", end="")
        if rag.case.id == "q9":
            logging.getLogger().warning("a record")
"""
"""A test that writes past pytest to the terminal."""


@pytest.mark.parametrize("args", [(), ("-o", "log_cli=true")], ids=str)
def test_output_of_others_is_unchanged(project: Project, args: tuple[str, ...]) -> None:
    project.says([case(f"q{at}", RIGHT) for at in range(1, 13)], conftest=HASTY.replace("{slow}", ""), test=SPEAKS)
    output = run_in_terminal(project, "--no-summary", *args, rows=60)
    plain = run_in_terminal(project, "--no-summary", *args, rows=60, env={"BUILD_NUMBER": "1"})
    assert output.status_lines
    assert not re.search(r"rag: [\d+]+/", plain.sent)
    assert any("whole" in line for line in output.last)
    assert fixed_lines(output.last) == fixed_lines(plain.last)


def test_the_status_line_stays_with_one_line_per_test(project: Project) -> None:
    output = run_in_terminal(slow(project, [RIGHT] * 120), "-v", rows=140)
    has = [any(is_status(line) for line in screen) for screen in output.screens]
    first, last = has.index(True), len(has) - has[::-1].index(True)
    assert has[first:last].count(False) <= 2


MODEL = (
    HASTY.replace("{slow}", "")
    + """
    import asyncio

    class Slow:
        async def complete(self, messages, **params):
            from pytest_rageval import Completion, Usage
            number = int(messages[-1]["content"].rpartition("say ")[2])
            await asyncio.sleep({1: 1.5, 4: 0.7}.get(number, 0.1))
            return Completion("Paris", Usage(cost_usd=0.01))

    @pytest.fixture(scope="session")
    def rag_llm():
        return Slow()

    rag_system = None
"""
)
"""A conftest whose model is slow for the first case, and less slow for the fourth."""


PATTERNS = {
    (): [r"rag: 0\+11/12 · 1 in flight · \$0\.1100"],
    ("-n2",): [r"rag: \d+/12 · \d in flight · \$0\.\d+00.*", r"rag: \d\+\d/12.* · \$0\.\d+00.*"],
}
"""Status lines while the first answer is missing; with workers, after some of their reports."""


@pytest.mark.parametrize("args", PATTERNS, ids=str)
def test_answers_count_as_they_arrive(project: Project, args: tuple[str, ...]) -> None:
    passages = [{"id": "p", "text": "It is Paris.", "role": "positive"}]
    project.says([case(f"q{at}", f"say {at}", passages=passages) for at in range(1, 13)], conftest=MODEL)
    output = run_in_terminal(project, *args)
    assert output.status == 0, output.sent
    for pattern in PATTERNS[args]:
        assert any(re.fullmatch(pattern, line) for line in output.status_lines), output.status_lines
    assert any(re.match(r"rag: 12/12 · \$0\.1200 .*accuracy 1\.00", line) for line in output.status_lines), (
        output.status_lines
    )


LOUD = (
    HASTY.replace("{slow}", "")
    + """
    import asyncio
    import os

    async def say(query):
        for _ in range(600):
            os.write(1, b"x\\n")
            await asyncio.sleep(0.002)
        return "Rome"
"""
)
"""A conftest whose system writes while its test waits."""


def test_what_a_system_writes_while_its_test_waits_is_captured(project: Project) -> None:
    project.says([case("q1", RIGHT)], conftest=LOUD, test=RUNS.replace("...", "assert rag.answer.text == 'Paris'"))
    output = run_in_terminal(project)
    before, _, captured = output.sent.partition("Captured stdout")
    assert before.count("rag: 0/1") > 1, "drawn while it waits"
    assert "x\r\n" not in before
    assert captured.count("x\r\n") == 600
