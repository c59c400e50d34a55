"""Progress line of long work, shown after two seconds."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_rageval.hooks.config import progress_bar
from pytest_rageval.hooks.config.progress_bar import Progress, in_terminal
from pytest_rageval.retrieval.retriever_parts import unwatched


class Clock:
    """A clock that advances one second every ``per_second`` items."""

    def __init__(self, per_second: int) -> None:
        self.now = 0.0
        self._per_second = per_second

    def monotonic(self) -> float:
        return self.now

    def items(self, count: int) -> Iterator[int]:
        for item in range(count):
            yield item
            self.now += 1 / self._per_second


def progress_lines(monkeypatch: pytest.MonkeyPatch, count: int, per_second: int) -> list[str]:
    clock, lines = Clock(per_second), list[str]()
    monkeypatch.setattr(progress_bar, "time", clock)
    assert list(Progress(lines.append)(clock.items(count), "indexing")) == list(range(count))
    return lines


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress_lines(monkeypatch, 1_990, 1_000) == []


def test_long_work_updates_a_line_and_erases_it_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress_lines(monkeypatch, 20_000, 8_192) == [
        "rag: indexing ... 16,384 passages",
        "rag: indexing ... 18,048 passages",
        "rag: indexing ... 19,712 passages",
        "",
    ]


def test_the_line_is_erased_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, lines = Clock(1_000), list[str]()
    monkeypatch.setattr(progress_bar, "time", clock)

    def failing() -> Iterator[int]:
        yield from clock.items(3_000)
        raise ValueError("line 3001")

    with pytest.raises(ValueError, match="line 3001"):
        list(Progress(lines.append)(failing(), "reading the corpus"))
    assert lines[0].startswith("rag: reading the corpus ... 2,")
    assert lines[-1] == ""


@pytest.mark.parametrize("env", [{}, {"CI": "true"}, {"BUILD_NUMBER": "7"}, {"TERM": "dumb"}], ids=str)
def test_the_line_is_shown_if_a_user_watches_the_terminal(monkeypatch: pytest.MonkeyPatch, env: dict[str, str]) -> None:
    for name, value in {"CI": "", "BUILD_NUMBER": "", "TERM": "xterm", **env}.items():
        monkeypatch.setenv(name, value)
    plugins = {"terminalreporter": SimpleNamespace(isatty=True)}
    config: Any = SimpleNamespace(pluginmanager=SimpleNamespace(getplugin=plugins.get), get_verbosity=lambda: 0)
    assert (in_terminal(config) is unwatched) == bool(env)
