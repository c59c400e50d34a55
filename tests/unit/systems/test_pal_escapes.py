"""Programs that try to get out of the sandbox, as replies of the model to ``pal``."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes import process_table
from support.processes.sandboxes import BACKENDS, opened
from support.samples import pal_runs
from support.samples.escape_programs import ONE_OF_EACH, SECRET, Row

from pytest_rageval.sandbox.protocol import Sandbox

OUTCOMES = ("finished", "program_error", "time_limit")


def note(word: str) -> str:
    """Repeat a word."""
    return word


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Return a sandbox, with a secret in our environment; after it none of its processes may be left."""
    others = set(process_table.descendants())
    with process_table.adopting_orphans(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED_API_KEY", SECRET)
        sandbox = opened(request.param)
        yield sandbox
        last = process_table.descendants().keys() - others
        sandbox.close()
        assert process_table.wait_until_ended(last) == set()


@pytest.mark.parametrize("row", ONE_OF_EACH, ids=lambda row: row.name)
def test_a_program_of_a_model_stays_inside(sandbox: Sandbox, tmp_path: Path, row: Row) -> None:
    (tmp_path / ".ssh").mkdir()
    planted = (tmp_path / "planted.txt", tmp_path / ".ssh" / "id_rsa")
    for path in planted:
        path.write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        code = row.code_for(tmp_path, listener.getsockname()[1])
        start = time.monotonic()
        reply = pal_runs.block(code)
        played = pal_runs.play(sandbox, reply, reply, tools=[*row.tools.values(), note], repairs="1", max_time="2")
        assert time.monotonic() - start < 3
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert played.end["reason"] in OUTCOMES
    assert SECRET not in repr((played.answer, played.steps, played.model.requests))
    assert [path.read_text() for path in planted] == [SECRET] * 2
    assert sorted(tmp_path.rglob("*")) == sorted([*planted, tmp_path / ".ssh"])
    assert pal_runs.play(sandbox, "6 * 7", tools=note).answer.text == "42"


def test_a_program_that_never_ends_ends_with_its_case(sandbox: Sandbox) -> None:
    mine = opened(sandbox.name)
    before = process_table.descendants().keys()
    played = pal_runs.play(mine, "while True: pass", tools=note, max_time="1")
    assert (played.answer.text, played.end["reason"]) == ("", "time_limit")
    assert process_table.wait_until_ended(process_table.descendants().keys() - before) == set()
    mine.close()
