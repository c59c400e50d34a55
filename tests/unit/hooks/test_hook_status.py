"""Who is shown how a session stands, and how often it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.terminal import TerminalReporter

from pytest_rageval.hooks import status
from pytest_rageval.hooks.keys import RECORDER
from pytest_rageval.hooks.status import Screen, StatusLine, is_watched


class Terminal(StringIO):
    encoding = "utf-8"


@dataclass
class Writer:
    """Pytest's, as far as the line needs it."""

    _file: Any = field(default_factory=Terminal)
    _current_line: str = ""
    fullwidth: int = 80

    def write(self, text: str) -> None:
        self._current_line = text.rpartition("\n")[2] if "\n" in text else self._current_line + text
        self._file.write(text)


def config(
    *, tty: bool = True, verbose: int = 0, kind: type[TerminalReporter] = TerminalReporter, **option: Any
) -> Any:
    reporter: Any = kind.__new__(kind)
    reporter.isatty, reporter._tw = tty, Writer()
    options = {"usepdb": False, "trace": False, "capture": "fd", **option}
    manager = SimpleNamespace(getplugin=lambda name: reporter)
    return SimpleNamespace(pluginmanager=manager, option=SimpleNamespace(**options), get_verbosity=lambda: verbose,
                           stash={})  # fmt: skip


class Sugar(TerminalReporter):  # type: ignore[misc]
    """Another plugin's, which draws in its own way."""


@pytest.mark.parametrize(
    ("given", "env", "watched"),
    [
        ({}, {}, True),
        ({"verbose": 1, "capture": "sys"}, {}, True),
        ({"tty": False}, {}, False),
        ({"verbose": -1}, {}, False),
        ({"capture": "no"}, {}, False),
        ({"capture": "tee-sys"}, {}, False),
        ({"usepdb": True}, {}, False),
        ({"trace": True}, {}, False),
        ({"kind": Sugar}, {}, False),
        ({}, {"CI": "true"}, False),
        ({}, {"TERM": "dumb"}, False),
    ],
)
def test_it_is_drawn_where_somebody_watches_and_nothing_mixes_with_it(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], env: dict[str, str], watched: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert is_watched(config(**given)) is watched


def test_a_worker_has_none() -> None:
    worker = config()
    worker.workerinput = {}
    assert not is_watched(worker)


def test_it_goes_before_the_line_above_it_ends_or_wraps() -> None:
    writer = Writer(fullwidth=20)
    screen = Screen(writer)
    stream = screen._stream
    writer.write("test.py .")
    screen.show("how it stands, at length")
    assert stream.getvalue() == "test.py .\x1b[J\n\rhow it stands, at l\x1b[A\r\x1b[9C"
    writer.write(".")
    assert stream.getvalue().endswith("\x1b[9C.")
    writer.write("x" * 10)
    assert stream.getvalue().endswith(".\x1b[J" + "x" * 10)
    before = stream.getvalue()
    screen.show("on a line that is full it would be written over")
    assert stream.getvalue() == before
    writer.write("\n")
    screen.show("now")
    writer.write("\n")
    assert stream.getvalue() == f"{before}\n\x1b[J\n\rnow\x1b[A\r\x1b[J\n"
    screen.close()
    assert writer._file is stream


def test_what_a_code_page_lacks_makes_it_no_wider() -> None:
    writer = Writer(fullwidth=20)
    writer._file.encoding = "ascii"
    Screen(writer).show("系统系统系统系统")
    assert writer._file.getvalue() == "\x1b[J\n\r\\u7cfb\\u7edf\\u7cfb\\\x1b[A\r"


def drawn(monkeypatch: pytest.MonkeyPatch, times: list[float]) -> list[float]:
    """Return at which of the times the line is drawn."""
    line = StatusLine(config())
    found: list[float] = []
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(status, "time", SimpleNamespace(monotonic=lambda: clock.now))
    line._screen = SimpleNamespace(show=lambda text: found.append(clock.now), is_shown=True)  # type: ignore[assignment]
    line._standing = SimpleNamespace(text=lambda elapsed, in_flight: "")  # type: ignore[assignment]
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


@pytest.mark.parametrize("fault", [OSError("gone"), ValueError("closed")])
def test_a_terminal_that_is_gone_ends_it_and_no_more(fault: Exception) -> None:
    line = StatusLine(config())
    closed: list[bool] = []

    def fails(*_: object) -> None:
        raise fault

    line._screen = SimpleNamespace(show=fails, erase=fails, close=lambda: closed.append(True))  # type: ignore[assignment]
    line._standing = SimpleNamespace(text=lambda elapsed, in_flight: "")  # type: ignore[assignment]
    line._began = 0.0
    line._draw()
    assert closed == [True]
    line._draw()


def test_without_a_case_nothing_is_drawn() -> None:
    here = config()
    line = StatusLine(here)
    report: Any = SimpleNamespace(nodeid="t.py::t")
    wrapped = line.pytest_runtest_logreport(report)
    next(wrapped)
    with pytest.raises(StopIteration):
        next(wrapped)
    assert line._standing is None
    assert RECORDER not in here.stash
