from __future__ import annotations

import asyncio
import contextvars
import io
import logging
import sys
import threading
from collections.abc import Iterator

import pytest
from _pytest.capture import CaptureIO

from pytest_rageval.hooks.run.captured_output import Kept, Routing, let_through


@pytest.fixture
def routing(pytestconfig: pytest.Config) -> Iterator[Routing]:
    made = Routing(pytestconfig)
    made.start()
    yield made
    made.stop()


def ahead(kept: Kept, *said: str) -> None:
    """Print and log as an answer that is asked ahead does, on a thread of its own."""

    async def say() -> None:
        for text in said:
            print(text)
            print(text.upper(), file=sys.stderr)
            logging.getLogger("said").warning(text)

    thread = threading.Thread(target=lambda: asyncio.run(kept.keeping(say)))
    thread.start()
    thread.join()


def test_what_is_said_ahead_is_shown_when_it_is_told(
    routing: Routing, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept()
    print("mine")
    ahead(kept, "one", "two")
    assert capsys.readouterr() == ("mine\n", "")
    assert caplog.messages == []
    kept.replay()
    assert capsys.readouterr() == ("one\ntwo\n", "ONE\nTWO\n")
    assert caplog.messages == ["one", "two"]
    kept.replay()
    assert capsys.readouterr() == ("", "")


def test_handlers_of_others_have_each_record_once(routing: Routing, caplog: pytest.LogCaptureFixture) -> None:
    theirs = logging.StreamHandler(io.StringIO())
    logging.getLogger("said").addHandler(theirs)
    try:
        kept = Kept()
        ahead(kept, "one")
        kept.replay()
    finally:
        logging.getLogger("said").removeHandler(theirs)
    assert theirs.stream.getvalue() == "one\n"
    assert caplog.messages == ["one"]


def test_a_record_below_the_level_of_its_own_test_is_not_shown(
    routing: Routing, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept()
    with caplog.at_level(logging.WARNING, logger="said"):
        ahead(kept, "one")
    with caplog.at_level(logging.ERROR, logger="said"):
        kept.replay()
    assert caplog.messages == []


def test_a_debugger_is_let_through(routing: Routing, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept()

    async def breaks() -> None:
        print("before")
        let_through()
        print("prompt")

    contextvars.copy_context().run(lambda: asyncio.run(kept.keeping(breaks)))
    assert capsys.readouterr().out == "before\nprompt\n"
    assert kept.parts == []
    let_through()  # where nothing is kept, nothing happens


def test_stopping_puts_everything_back(pytestconfig: pytest.Config) -> None:
    streams, handlers = (sys.stdout, sys.stderr), logging.getLogger().handlers[:]
    filters = [handler.filters[:] for handler in handlers]
    routing = Routing(pytestconfig)
    routing.stop()  # nothing was routed yet
    routing.start()
    routing.start()
    assert "write" in vars(CaptureIO)
    assert [handler.filters for handler in handlers] != filters
    routing.stop()
    assert "write" not in vars(CaptureIO)
    assert (sys.stdout, sys.stderr) == streams
    assert logging.getLogger().handlers == handlers
    assert [handler.filters for handler in handlers] == filters
