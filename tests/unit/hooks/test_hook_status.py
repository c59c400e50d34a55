"""Who is shown how a session stands, and how often it is drawn."""

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
    """A stream of a file, as what is drawn goes by its descriptor."""

    def __init__(self) -> None:
        self.encoding = "utf-8"
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - closed with this
        self.fileno = self._file.fileno
        weakref.finalize(self, self._file.close)

    def write(self, text: str) -> int:
        return self._file.write(text.encode())

    def flush(self) -> None:
        """Nothing is kept."""

    def getvalue(self) -> str:
        self._file.seek(0)
        return self._file.read().decode()


@dataclass
class Writer:
    """Pytest's, as far as the line needs it."""

    _file: Any = field(default_factory=Terminal)
    _current_line: str = ""
    fullwidth: int = 80

    def write(self, text: str) -> None:
        self._current_line = text.rpartition("\n")[2] if "\n" in text else self._current_line + text
        self._file.write(text)


class Capture:
    """Pytest's manager, which captures nothing."""

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
    """Another plugin's, which draws in its own way."""


@pytest.mark.parametrize(
    ("given", "env", "watched"),
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
def test_it_is_drawn_where_somebody_watches_and_nothing_mixes_with_it(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], env: dict[str, str], watched: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("WT_SESSION", "1")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("BUILD_NUMBER", raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert is_watched(config(**given)) is watched


@pytest.mark.parametrize(("env", "watched"), [({}, False), ({"WT_SESSION": "1"}, True)])
def test_on_windows_only_a_terminal_that_draws_has_it(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], watched: bool
) -> None:
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(status_line, "os", SimpleNamespace(name="nt", environ=env))
    assert is_watched(config()) is watched


def test_a_worker_has_none() -> None:
    worker = config()
    worker.workerinput = {}
    assert not is_watched(worker)


DRAWN = "\x1bD\x1b[A\x1b7\x1b[B\r{}\x1b8"
"""Room below, the place above kept, the line, back."""


def test_it_goes_with_the_line_above_as_that_ends_or_wraps() -> None:
    writer = Writer(fullwidth=20)
    screen = Screen(writer, Capture())
    stream = screen._stream
    line = DRAWN.format("how it stands, at l")
    writer.write("test.py .")
    screen.show(["how it stands, at length"])
    assert stream.getvalue() == f"test.py .{line}"
    writer.write(".")
    assert stream.getvalue().endswith("\x1b8.")
    writer.write("x" * 11)
    assert stream.getvalue().endswith(f".\x1b[J{'x' * 11}{line}")
    writer.write("x" * 19)
    before = stream.getvalue()
    assert before.endswith("x" * 19), "on a line that is full it would be written over"
    writer.write("\n")
    screen.show(["now"])
    writer.write("\n")
    assert stream.getvalue() == f"{before}\n{DRAWN.format('now')}\x1b[J\n{DRAWN.format('now')}"
    screen.close()
    assert writer._file is stream


def test_it_is_away_while_others_write_and_back_when_they_have() -> None:
    writer, capture = Writer(), Capture()
    screen = Screen(writer, capture)
    screen.show(["one"])
    with capture.global_and_fixture_disabled():
        with capture.global_and_fixture_disabled():
            writer.write("theirs\n")
        screen.show(["two"])
        writer.write("theirs")
    assert screen._stream.getvalue() == f"{DRAWN.format('one')}\x1b[Jtheirs\ntheirs{DRAWN.format('two')}"
    screen.close()
    assert "global_and_fixture_disabled" not in vars(capture)


def test_it_is_back_once_the_last_of_those_who_write_at_once_has_written() -> None:
    writer, capture = Writer(), Capture()
    screen = Screen(writer, capture)
    screen.show(["one"])
    with ExitStack() as second:
        with capture.global_and_fixture_disabled():
            second.enter_context(capture.global_and_fixture_disabled())
        screen.show(["two"])
        assert screen._stream.getvalue() == f"{DRAWN.format('one')}\x1b[J"
    assert screen._stream.getvalue().endswith(f"\x1b[J{DRAWN.format('two')}")
    screen.show(["three"])
    assert screen._stream.getvalue().endswith(DRAWN.format("three"))
    screen.close()


def test_of_a_worker_that_is_down_the_cost_counts_alone() -> None:
    line = StatusLine(config())
    for worker in ("gw0", "gw1"):
        line._note(worker, {"under_way": (3, 2, 0.5)})
    line.pytest_testnodedown(SimpleNamespace(gateway=SimpleNamespace(id="gw1")))
    assert line._under_way == {"gw0": PendingWork(3, 2, 0.5), "gw1": PendingWork(0, 0, 0.5)}


def test_what_a_code_page_lacks_makes_it_no_wider() -> None:
    writer = Writer(fullwidth=20)
    writer._file.encoding = "ascii"
    screen = Screen(writer, Capture())
    screen.show(["系统系统系统系统"])
    screen.close()
    assert writer._file.getvalue() == DRAWN.format("\\u7cfb\\u7edf\\u7cfb\\")


def drawn(monkeypatch: pytest.MonkeyPatch, times: list[float]) -> list[float]:
    """Return at which of the times the line is drawn."""
    line = StatusLine(config())
    found: list[float] = []
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(status_line, "time", SimpleNamespace(monotonic=lambda: clock.now))
    line._screen = SimpleNamespace(show=lambda text: found.append(clock.now), is_shown=True)  # type: ignore[assignment]
    line._progress = SimpleNamespace(parts=lambda *_: [""])  # type: ignore[assignment]
    line._began = 0.0
    for clock.now in times:
        line._draw()
    return found


def test_it_is_drawn_ten_times_a_second_and_where_answers_come_together_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert drawn(monkeypatch, [0.1, 0.9]) == []
    together = [5 + at / 1000 for at in range(40)]
    assert drawn(monkeypatch, together) == together
    steady = drawn(monkeypatch, [1 + at / 1000 for at in range(20_000)])
    assert len(steady) <= 20 * 10 + 51
    assert len([at for at in steady if at > 15]) in range(55, 62)


@pytest.mark.parametrize(
    ("fault", "told"),
    [(OSError("gone"), []), (KeyError("in_flight"), ["the status line has ended: "
                                                     "KeyError: 'in_flight'"])],
)  # fmt: skip
def test_what_cannot_be_drawn_ends_the_line_alone(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, told: list[str]
) -> None:
    here = config()
    line = StatusLine(here)
    closed: list[bool] = []
    found: list[str] = []

    def fails(*_: object) -> None:
        raise fault

    here.stash[RECORDER] = SimpleNamespace(take_fault=found.append)
    line._screen = SimpleNamespace(show=fails, erase=lambda: None, close=lambda: closed.append(True))  # type: ignore[assignment]
    line._progress = SimpleNamespace(parts=lambda *_: [""])  # type: ignore[assignment]
    line._began = 0.0
    line.tick()
    line.tick()
    assert closed == [True]
    assert found == told


def test_only_the_thread_of_the_tests_draws() -> None:
    line = StatusLine(config())
    shown: list[object] = []
    line._screen = SimpleNamespace(show=shown.append)  # type: ignore[assignment]
    line._progress = SimpleNamespace(parts=lambda *_: [""])  # type: ignore[assignment]
    line._began = 0.0
    other = threading.Thread(target=line.tick)
    other.start()
    other.join()
    assert shown == []
    line.tick()
    assert len(shown) == 1


def test_without_a_case_nothing_is_drawn() -> None:
    here = config()
    line = StatusLine(here)
    report: Any = SimpleNamespace(nodeid="t.py::t", when="call")
    wrapped = line.pytest_runtest_logreport(report)
    next(wrapped)
    with pytest.raises(StopIteration):
        next(wrapped)
    assert line._progress is None
    assert RECORDER not in here.stash
