"""Status line of a session: on which terminals it is drawn, where, and how often."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from pytest_rageval.hooks.reporting import status_line
from pytest_rageval.hooks.reporting.keys import RECORDER
from pytest_rageval.hooks.reporting.status_line import Screen, StatusLine, is_watched
from pytest_rageval.report.terminal.status_line import PendingWork


class Terminal:
    """A stream with a file descriptor, because the line is written to the descriptor."""

    def __init__(self) -> None:
        self.encoding = "utf-8"
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with this
        self.fileno = self._file.fileno
        weakref.finalize(self, self._file.close)

    def write(self, text: str) -> int:
        return self._file.write(text.encode())

    def flush(self) -> None:
        """Do nothing: the file is not buffered."""

    def getvalue(self) -> str:
        self._file.seek(0)
        return self._file.read().decode()


@dataclass
class Writer:
    """The part of pytest's terminal writer that the line needs."""

    _file: Any = field(default_factory=Terminal)
    _current_line: str = ""
    fullwidth: int = 80

    def write(self, text: str) -> None:
        self._current_line = text.rpartition("\n")[2] if "\n" in text else self._current_line + text
        self._file.write(text)


class Capture:
    """Stands in for pytest's capture manager; captures nothing."""

    def __init__(self) -> None:
        self.suspended = 0

    @contextmanager
    def global_and_fixture_disabled(self) -> Iterator[None]:
        self.suspended += 1
        yield


def config(
    *, tty: bool = True, verbose: int = 0, kind: type[TerminalReporter] = TerminalReporter, **option: Any
) -> Any:
    reporter: Any = kind.__new__(kind)
    reporter.isatty, reporter._tw = tty, Writer()
    options = {"usepdb": False, "trace": False, "capture": "fd", **option}
    plugins = {"terminalreporter": reporter, "capturemanager": Capture()}
    manager = SimpleNamespace(getplugin=plugins.get)
    return SimpleNamespace(pluginmanager=manager, option=SimpleNamespace(**options), get_verbosity=lambda: verbose,
                           stash={})  # fmt: skip


class Sugar(TerminalReporter):  # type: ignore[misc]
    """The reporter of another plugin, which draws differently."""


@pytest.mark.parametrize(
    ("options", "env", "is_drawn"),
    [
        ({}, {}, True),
        ({"verbose": 1}, {}, True),
        ({"capture": "sys"}, {}, False),
        ({"tty": False}, {}, False),
        ({"verbose": -1}, {}, False),
        ({"capture": "no"}, {}, False),
        ({"capture": "tee-sys"}, {}, False),
        ({"usepdb": True}, {}, False),
        ({"trace": True}, {}, False),
        ({"kind": Sugar}, {}, False),
        ({}, {"CI": "true"}, False),
        ({}, {"BUILD_NUMBER": "7"}, False),
        ({}, {"TERM": "dumb"}, False),
    ],
)
def test_the_line_is_drawn_only_on_a_watched_terminal_that_pytest_alone_writes_to(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], env: dict[str, str], is_drawn: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("WT_SESSION", "1")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("BUILD_NUMBER", raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert is_watched(config(**options)) is is_drawn


@pytest.mark.parametrize(("env", "is_drawn"), [({}, False), ({"WT_SESSION": "1"}, True)])
def test_on_windows_only_a_modern_terminal_has_the_line(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], is_drawn: bool
) -> None:
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(status_line, "os", SimpleNamespace(name="nt", environ=env))
    assert is_watched(config()) is is_drawn


def test_a_worker_has_no_status_line() -> None:
    worker = config()
    worker.workerinput = {}
    assert not is_watched(worker)


LINE = "\x1bD\x1b[A\x1b7\x1b[B\r{}\x1b8"
"""The line as it is written: make room below, store the position, write the line, restore the position."""


def test_the_status_line_moves_down_when_the_line_above_ends_or_wraps() -> None:
    writer = Writer(fullwidth=20)
    screen = Screen(writer, Capture())
    stream = screen._stream
    line = LINE.format("the progress, in fu")
    writer.write("test.py .")
    screen.show(["the progress, in full"])
    assert stream.getvalue() == f"test.py .{line}"
    writer.write(".")
    assert stream.getvalue().endswith("\x1b8.")
    writer.write("x" * 11)
    assert stream.getvalue().endswith(f".\x1b[J{'x' * 11}{line}")
    writer.write("x" * 19)
    before = stream.getvalue()
    assert before.endswith("x" * 19), "the next character of a full line would overwrite the status line"
    writer.write("\n")
    screen.show(["now"])
    writer.write("\n")
    assert stream.getvalue() == f"{before}\n{LINE.format('now')}\x1b[J\n{LINE.format('now')}"
    screen.close()
    assert writer._file is stream


def test_the_line_is_hidden_while_others_write() -> None:
    writer, capture = Writer(), Capture()
    screen = Screen(writer, capture)
    screen.show(["one"])
    with capture.global_and_fixture_disabled():
        with capture.global_and_fixture_disabled():
            writer.write("theirs\n")
        screen.show(["two"])
        writer.write("theirs")
    assert screen._stream.getvalue() == f"{LINE.format('one')}\x1b[Jtheirs\ntheirs{LINE.format('two')}"
    screen.close()
    assert "global_and_fixture_disabled" not in vars(capture)


def test_the_line_returns_after_the_last_of_several_writers() -> None:
    writer, capture = Writer(), Capture()
    screen = Screen(writer, capture)
    screen.show(["one"])
    with ExitStack() as second:
        with capture.global_and_fixture_disabled():
            second.enter_context(capture.global_and_fixture_disabled())
        screen.show(["two"])
        assert screen._stream.getvalue() == f"{LINE.format('one')}\x1b[J"
    assert screen._stream.getvalue().endswith(f"\x1b[J{LINE.format('two')}")
    screen.show(["three"])
    assert screen._stream.getvalue().endswith(LINE.format("three"))
    screen.close()


def test_only_the_cost_of_a_lost_worker_still_counts() -> None:
    line = StatusLine(config())
    for worker in ("gw0", "gw1"):
        line._note(worker, {"under_way": (3, 2, 0.5)})
    line.pytest_testnodedown(SimpleNamespace(gateway=SimpleNamespace(id="gw1")))
    assert line._under_way == {"gw0": PendingWork(3, 2, 0.5), "gw1": PendingWork(0, 0, 0.5)}


def test_escaped_characters_do_not_make_the_line_wider() -> None:
    writer = Writer(fullwidth=20)
    writer._file.encoding = "ascii"
    screen = Screen(writer, Capture())
    screen.show(["系统系统系统系统"])
    screen.close()
    assert writer._file.getvalue() == LINE.format("\\u7cfb\\u7edf\\u7cfb\\")


def redraw_times(monkeypatch: pytest.MonkeyPatch, times: list[float]) -> list[float]:
    """Return the times at which the line is drawn."""
    line = StatusLine(config())
    redraws: list[float] = []
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(status_line, "time", SimpleNamespace(monotonic=lambda: clock.now))
    line._screen = SimpleNamespace(show=lambda text: redraws.append(clock.now), is_shown=True)  # type: ignore[assignment]
    line._progress = SimpleNamespace(parts=lambda *_: [""])  # type: ignore[assignment]
    line._began = 0.0
    for clock.now in times:
        line._draw()
    return redraws


def test_the_line_is_drawn_ten_times_a_second_and_for_each_answer_of_a_burst(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert redraw_times(monkeypatch, [0.1, 0.9]) == []
    burst = [5 + at / 1000 for at in range(40)]
    assert redraw_times(monkeypatch, burst) == burst
    steady = redraw_times(monkeypatch, [1 + at / 1000 for at in range(20_000)])
    assert len(steady) <= 20 * 10 + 51
    assert len([at for at in steady if at > 15]) in range(55, 62)


@pytest.mark.parametrize(
    ("fault", "warnings"),
    [(OSError("gone"), []), (KeyError("in_flight"), ["the status line has ended: "
                                                     "KeyError: 'in_flight'"])],
)  # fmt: skip
def test_a_failure_to_draw_ends_only_the_status_line(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, warnings: list[str]
) -> None:
    session_config = config()
    line = StatusLine(session_config)
    close_calls: list[bool] = []
    faults: list[str] = []

    def fail(*_: object) -> None:
        raise fault

    session_config.stash[RECORDER] = SimpleNamespace(take_fault=faults.append)
    line._screen = SimpleNamespace(show=fail, erase=lambda: None, close=lambda: close_calls.append(True))  # type: ignore[assignment]
    line._progress = SimpleNamespace(parts=lambda *_: [""])  # type: ignore[assignment]
    line._began = 0.0
    line.tick()
    line.tick()
    assert close_calls == [True]
    assert faults == warnings


def test_only_the_thread_of_the_tests_draws() -> None:
    line = StatusLine(config())
    frames: list[object] = []
    line._screen = SimpleNamespace(show=frames.append)  # type: ignore[assignment]
    line._progress = SimpleNamespace(parts=lambda *_: [""])  # type: ignore[assignment]
    line._began = 0.0
    other = threading.Thread(target=line.tick)
    other.start()
    other.join()
    assert frames == []
    line.tick()
    assert len(frames) == 1


def test_without_a_case_nothing_is_drawn() -> None:
    session_config = config()
    line = StatusLine(session_config)
    report: Any = SimpleNamespace(nodeid="t.py::t", when="call")
    hook = line.pytest_runtest_logreport(report)
    next(hook)
    with pytest.raises(StopIteration):
        next(hook)
    assert line._progress is None
    assert RECORDER not in session_config.stash
