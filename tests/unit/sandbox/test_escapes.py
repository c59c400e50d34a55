"""Programs that try to escape from a sandbox, to stop it or to exhaust the machine.

They run on every installed backend. Each program ends within 15 s with the expected result or error. It leaves no
process, changes no file, reaches no listener and learns no secret.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes import process_table
from support.processes.sandboxes import BACKENDS, opened
from support.samples.escape_programs import ANY_VALUE, ROWS, SECRET, Row

from pytest_rageval.sandbox.protocol import Limits, ProgramResult, Sandbox

LIMITS = Limits(seconds=1)
MAX_SECONDS = 15
MAX_GROWTH_BYTES = 300 << 20


@pytest.fixture(scope="module")
def others() -> set[int]:
    """Return the processes of other tests."""
    return set(process_table.descendants())


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest, others: set[int]) -> Iterator[Sandbox]:
    """Yield a started sandbox with a secret in our environment; check afterwards that no process is left."""
    with process_table.adopting_orphans(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANTED_API_KEY", SECRET)
        sandbox = opened(request.param)
        assert sandbox.run("1 + 1").value == 2
        yield sandbox
        sandbox_pids = process_table.descendants().keys() - others
        sandbox.close()
        assert process_table.wait_until_ended(sandbox_pids) == set()
        assert process_table.descendants().keys() <= others


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").write_text(SECRET)
    (tmp_path / "planted.txt").write_text(SECRET)
    return tmp_path


def content(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def run_within_bounds(sandbox: Sandbox, others: set[int], row: Row, code: str) -> ProgramResult:
    """Run the row's program and check that it ends in time, needs little of our memory and leaves no process."""
    linux = process_table.is_listed()
    if linux:
        process_table.reset_peak_memory()
        before = process_table.peak_memory()
    start = time.monotonic()
    result = sandbox.run(code, row.tools, LIMITS)
    assert time.monotonic() - start < MAX_SECONDS
    if linux:
        assert process_table.peak_memory() - before - row.size < MAX_GROWTH_BYTES
        end = time.monotonic() + 2  # processes that were killed may still be ending
        while len(remaining := process_table.descendants().keys() - others) > 2 and time.monotonic() < end:
            time.sleep(0.02)
        assert len(remaining) <= 2, process_table.descendants()  # the sandbox's own two wait for the next program
    return result


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_program_stays_inside(
    sandbox: Sandbox, others: set[int], listener: socket.socket, home: Path, row: Row
) -> None:
    code = row.code_for(home, listener.getsockname()[1])
    before = content(home)

    result = run_within_bounds(sandbox, others, row, code)

    assert row.ends is None or re.search(row.ends, result.error), result.error
    assert "SyntaxError" not in result.error or row.name == "deep source"  # the program ran
    assert result.error or row.value in (result.value, ANY_VALUE)
    assert row.calls is None or len(result.tool_calls) == row.calls
    assert SECRET not in repr(result)
    assert content(home) == before
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert sandbox.run("6 * 7").value == 42  # the sandbox serves the next program


def test_the_time_of_a_tool_does_not_count_as_time_of_the_program(sandbox: Sandbox) -> None:
    result = sandbox.run("wait()", {"wait": lambda: time.sleep(1.2)}, LIMITS)
    assert result.error == ""
    assert result.seconds < 1
    assert result.tool_calls[0].seconds >= 1.2
