"""Suspects: tests that ran when a worker died, shared between processes, and how the worker's process ended."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import execnet
import pytest

from pytest_rageval.hooks.prepare.suspects import Suspects
from pytest_rageval.hooks.reporting.suspect_reruns import describe_exit
from pytest_rageval.llm.client.earlier_calls import SYSTEM, EarlierCalls
from pytest_rageval.llm.client.journal import Journal
from pytest_rageval.model.calls import Calls
from pytest_rageval.report.files.journals import cases_in_flight, journal_path
from pytest_rageval.report.files.paid_calls import paid_by_process

ROW = {"nodeid": "t.py::test[q2]", "kind": SYSTEM, "key": "", "value": {"text": "Paris"}, "calls": asdict(Calls(1))}


def test_only_the_worker_for_suspects_runs_a_suspect(tmp_path: Path) -> None:
    earlier = EarlierCalls()
    other, alone = Suspects(tmp_path), Suspects(tmp_path, earlier, alone=True)
    assert "t.py::test[q1]" not in other
    Suspects(tmp_path).add(["t.py::test[q1]"], [ROW])
    assert "t.py::test[q1]" in other
    assert "t.py::test[q1]" not in alone
    assert "t.py::test[q2]" not in other
    earlier_call = earlier.take("t.py::test[q2]", SYSTEM, "")
    assert earlier_call is not None
    assert (earlier_call.value, earlier_call.calls.calls) == ({"text": "Paris"}, 1)
    Suspects(tmp_path).add(["t.py::test[q3]"], [])
    assert "t.py::test[q3]" in other
    assert "t.py::test[q3]" not in alone
    assert earlier.take("t.py::test[q2]", SYSTEM, "") is None  # each reply is taken once


def test_an_incomplete_line_is_read_again_later(tmp_path: Path) -> None:
    suspects, path = Suspects(tmp_path), tmp_path / "suspects.jsonl"
    path.write_text('{"suspect": "t.py::te', encoding="utf-8")
    assert "t.py::test[q1]" not in suspects
    path.write_text('{"suspect": "t.py::test[q1]"}\n', encoding="utf-8")
    assert "t.py::test[q1]" in suspects


def test_the_last_test_and_unfinished_calls_count_as_in_flight(tmp_path: Path) -> None:
    path = journal_path(tmp_path, "gw0")
    assert cases_in_flight(path) == ()
    journal = Journal(path)
    journal.mark_running("t.py::test[q1]")
    first_call, _, _ = (journal.start(f"t.py::test[q{number}]", SYSTEM) for number in (1, 2, 3))
    journal.end(first_call, {"text": "Paris"}, Calls(1))
    journal.mark_running("t.py::test[é]")
    journal.close()
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"runs": "t.py::te')  # truncated
    assert cases_in_flight(path) == ("t.py::test[é]", "t.py::test[q2]", "t.py::test[q3]")
    assert [row["nodeid"] for row in paid_by_process("gw0", tmp_path, ()).rows] == ["t.py::test[q1]"]


@pytest.mark.parametrize(
    ("code", "exit_text"),
    [
        ("os._exit(3)", " with exit code 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", " with signal SIGKILL"),
    ],
)
def test_the_end_of_a_process_is_reported_by_exit_code_or_signal(code: str, exit_text: str) -> None:
    group = execnet.Group()
    try:
        gateway = group.makegateway("popen")
        channel = gateway.remote_exec(f"import os, signal; {code}")
        with pytest.raises(EOFError):
            channel.receive()
        assert describe_exit(SimpleNamespace(gateway=gateway)) == exit_text
    finally:
        group.terminate(1)


def test_the_exit_of_a_process_on_another_machine_is_unknown() -> None:
    assert (
        describe_exit(SimpleNamespace(gateway=SimpleNamespace(_io=object(), spec=SimpleNamespace(popen=False)))) == ""
    )
