"""Progress of a command on standard error: one line that is erased at the end."""

from __future__ import annotations

from io import StringIO

import pytest

from pytest_rageval import activity
from pytest_rageval.activity import Activity, doing, progress


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Stream(StringIO):
    """A stream, optionally a terminal, whose screen shows the effect of carriage returns."""

    encoding = "utf-8"

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def screen(self) -> list[str]:
        rows = []
        for row in self.getvalue().split("\n"):
            cells: list[str] = []
            for part in row.split("\r"):
                cells[: len(part)] = part
            rows.append("".join(cells).rstrip())
        return rows


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def work(clock: Clock, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> tuple[Activity, Stream]:
    monkeypatch.setenv("COLUMNS", "60")
    stream = Stream(terminal=getattr(request, "param", True))
    current = Activity(stream, clock)
    monkeypatch.setattr(activity, "_current", current)
    monkeypatch.setattr(activity, "DELAY", 1.0)
    return current, stream


def test_nothing_is_shown_within_a_second(work: tuple[Activity, Stream], clock: Clock) -> None:
    current, stream = work
    with doing("reading the run"):
        clock.now += 0.9
        current.tick()
    current.erase()
    assert stream.getvalue() == ""


def test_a_terminal_has_one_line_that_is_rewritten_and_erased(work: tuple[Activity, Stream], clock: Clock) -> None:
    current, stream = work
    with doing("reading the run"):
        clock.now += 1.0
        current.tick()
        assert stream.screen() == ["reading the run · 1 s"]
        for _ in progress("gate", range(1_200)):
            clock.now += 0.01
        current.tick()
        assert stream.screen() == ["reading the run · 13 s"]
    with doing("comparing"):
        current.tick()
        assert stream.screen() == ["comparing · 13 s"]
        current.erase()
        assert stream.screen() == [""]
    assert "\n" not in stream.getvalue()


def test_a_loop_shows_its_progress(work: tuple[Activity, Stream], clock: Clock) -> None:
    current, stream = work
    clock.now += 2
    for at in progress("checking dataset", ["a", "b", "c"]):
        current.tick()
        if at == "b":
            assert stream.screen() == ["checking dataset 2 of 3 · 2 s"]
    current.tick()
    assert stream.screen() == [""]  # no activity is running


def test_output_erases_the_line_for_a_second(work: tuple[Activity, Stream], clock: Clock) -> None:
    current, stream = work
    with doing("summarizing"):
        clock.now += 5
        current.tick()
        activity.hide()
        clock.now += 0.9
        current.tick()
        assert stream.screen() == [""]
        clock.now += 0.1
        current.tick()
        assert stream.screen() == ["summarizing · 6 s"]


@pytest.mark.parametrize("what", ["x" * 200, "读" * 200, "a\nb" * 50])
def test_long_or_multiline_text_is_cut_to_one_line(work: tuple[Activity, Stream], clock: Clock, what: str) -> None:
    current, stream = work
    with doing(what):
        clock.now += 1
        current.tick()
    (row,) = stream.screen()
    assert 50 < activity._width(row) <= 56


@pytest.mark.parametrize("work", [False], indirect=True)
def test_without_a_terminal_a_stage_is_printed_every_few_seconds(work: tuple[Activity, Stream], clock: Clock) -> None:
    current, stream = work
    for what in ("reading", "decoding", "drawing", "drawing"):
        with doing(what):
            for _ in range(6):  # 1.5 s each, with a quiet second at first
                clock.now += 0.25
                current.tick()
    current.erase()
    assert stream.getvalue().splitlines() == ["rageval: reading", "rageval: drawing"]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_stream_that_cannot_be_written_does_not_end_the_command(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    stream = Stream(terminal=terminal)
    current = Activity(stream, clock)
    monkeypatch.setattr(activity, "_current", current)
    monkeypatch.setattr(activity, "DELAY", 1.0)
    stream.close()
    with doing("reading"):
        clock.now += 2
        current.tick()
        current.erase()


def test_outside_a_command_no_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress("reading", [1, 2])) == [1, 2]
    with doing("reading"):
        activity.hide()
    assert capsys.readouterr() == ("", "")
