"""Output of answers that are asked ahead: captured in other threads and replayed in their test."""

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

from pytest_rageval.hooks.run.captured_output import AheadOutput, Routing, show_directly


@pytest.fixture
def routing(pytestconfig: pytest.Config) -> Iterator[Routing]:
    routing = Routing(pytestconfig)
    routing.start()
    yield routing
    routing.stop()


def print_ahead(output: AheadOutput, *texts: str) -> None:
    """Print and log in a separate thread, like an answer that is asked ahead."""

    async def print_and_log() -> None:
        for text in texts:
            print(text)
            print(text.upper(), file=sys.stderr)
            logging.getLogger("texts").warning(text)

    thread = threading.Thread(target=lambda: asyncio.run(output.capture(print_and_log)))
    thread.start()
    thread.join()


def test_output_written_ahead_is_shown_at_replay(
    routing: Routing, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    output = AheadOutput()
    print("mine")
    print_ahead(output, "one", "two")
    assert capsys.readouterr() == ("mine\n", "")
    assert caplog.messages == []
    output.replay()
    assert capsys.readouterr() == ("one\ntwo\n", "ONE\nTWO\n")
    assert caplog.messages == ["one", "two"]
    output.replay()
    assert capsys.readouterr() == ("", "")


def test_foreign_handlers_receive_each_record_once(routing: Routing, caplog: pytest.LogCaptureFixture) -> None:
    handler = logging.StreamHandler(io.StringIO())
    logging.getLogger("texts").addHandler(handler)
    try:
        output = AheadOutput()
        print_ahead(output, "one")
        output.replay()
    finally:
        logging.getLogger("texts").removeHandler(handler)
    assert handler.stream.getvalue() == "one\n"
    assert caplog.messages == ["one"]


def test_replayed_log_records_respect_the_level_of_their_test(
    routing: Routing, caplog: pytest.LogCaptureFixture
) -> None:
    output = AheadOutput()
    with caplog.at_level(logging.WARNING, logger="texts"):
        print_ahead(output, "one")
    with caplog.at_level(logging.ERROR, logger="texts"):
        output.replay()
    assert caplog.messages == []


def test_the_output_of_a_debugger_is_shown_directly(routing: Routing, capsys: pytest.CaptureFixture[str]) -> None:
    output = AheadOutput()

    async def answer() -> None:
        print("before")
        show_directly()
        print("prompt")

    contextvars.copy_context().run(lambda: asyncio.run(output.capture(answer)))
    assert capsys.readouterr().out == "before\nprompt\n"
    assert output.parts == []
    show_directly()  # does nothing without stored output


def test_stop_restores_streams_and_handlers(pytestconfig: pytest.Config) -> None:
    streams, handlers = (sys.stdout, sys.stderr), logging.getLogger().handlers[:]
    filters = [handler.filters[:] for handler in handlers]
    routing = Routing(pytestconfig)
    routing.stop()  # does nothing before the start
    routing.start()
    routing.start()
    assert "write" in vars(CaptureIO)
    assert [handler.filters for handler in handlers] != filters
    routing.stop()
    assert "write" not in vars(CaptureIO)
    assert (sys.stdout, sys.stderr) == streams
    assert logging.getLogger().handlers == handlers
    assert [handler.filters for handler in handlers] == filters
