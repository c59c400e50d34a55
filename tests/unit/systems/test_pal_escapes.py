"""Replies to ``pal`` whose programs try to escape from the sandbox."""

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
    """Yield a sandbox with a secret in our environment; check afterwards that none of its processes is left."""
    others = set(process_table.descendants())
    with process_table.adopting_orphans(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED_API_KEY", SECRET)
        sandbox = opened(request.param)
        yield sandbox
        sandbox_pids = process_table.descendants().keys() - others
        sandbox.close()
        assert process_table.wait_until_ended(sandbox_pids) == set()


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
        run = pal_runs.play(sandbox, reply, reply, tools=[*row.tools.values(), note], repairs="1", max_time="2")
        assert time.monotonic() - start < 3
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert run.end["reason"] in OUTCOMES
    assert SECRET not in repr((run.answer, run.steps, run.model.requests))
    assert [path.read_text() for path in planted] == [SECRET] * 2
    assert sorted(tmp_path.rglob("*")) == sorted([*planted, tmp_path / ".ssh"])
    assert pal_runs.play(sandbox, "6 * 7", tools=note).answer.text == "42"


def test_an_endless_program_is_ended_with_its_case(sandbox: Sandbox) -> None:
    private_sandbox = opened(sandbox.name)
    before = process_table.descendants().keys()
    run = pal_runs.play(private_sandbox, "while True: pass", tools=note, max_time="1")
    assert (run.answer.text, run.end["reason"]) == ("", "time_limit")
    assert process_table.wait_until_ended(process_table.descendants().keys() - before) == set()
    private_sandbox.close()
