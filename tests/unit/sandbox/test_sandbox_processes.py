"""A sandbox process that breaks the protocol ends its program and is replaced."""

from __future__ import annotations

import pytest
from support.processes import process_table, rogue_sandboxes

from pytest_rageval.errors import SettingError
from pytest_rageval.sandbox.process import LONGEST_LINE
from pytest_rageval.sandbox.processes import ProcessSandbox, python_command
from pytest_rageval.sandbox.protocol import Limits

MODULE = rogue_sandboxes.__name__
ENDED_ERROR = "the sandbox ended while the program ran, as it used too much memory or was killed"


@pytest.mark.parametrize(
    "name",
    [
        *("ends", "accepts_nothing", "writes_no_json", "writes_no_object", "writes_without_end"),
        *("calls_with_no_arguments", "gives_too_much"),
    ],
)
def test_a_process_that_breaks_the_protocol_ends_its_program(name: str) -> None:
    linux = process_table.is_listed()
    before = set(process_table.descendants()) if linux else set()
    if linux:
        process_table.reset_peak_memory()
        memory = process_table.peak_memory()
    sandbox = ProcessSandbox(name, python_command(f"{MODULE}:{name}"))
    for _ in range(2):
        result = sandbox.run("1 + 1")
        assert (result.value, result.error) == (None, ENDED_ERROR)
    if linux:
        assert process_table.wait_until_ended(set(process_table.descendants()) - before) == set()
        assert process_table.peak_memory() - memory < 4 * LONGEST_LINE
    sandbox.close()


def test_a_process_that_ends_before_it_accepts_a_program_is_replaced() -> None:
    sandbox = ProcessSandbox("ends_when_idle", python_command(f"{MODULE}:ends_when_idle"))
    pids = [sandbox.run("1 + 1").value for _ in range(3)]
    assert len(set(pids)) == 3
    sandbox.close()


def test_texts_of_a_process_are_cut_to_their_limits() -> None:
    sandbox = ProcessSandbox("prints_too_much", python_command(f"{MODULE}:prints_too_much"))
    result = sandbox.run("1 + 1")
    assert (len(result.printed), len(result.error)) == (64 << 10, 4_000)
    sandbox.close()


def test_a_process_without_output_is_killed() -> None:
    sandbox = ProcessSandbox("silent", python_command(f"{MODULE}:says_nothing"))
    result = sandbox.run("1 + 1", limits=Limits(seconds=0.1, total_seconds=0.3))
    assert result.error == "time limit: the program and its tools took more than 0.3 s"
    sandbox.close()


def test_a_process_can_call_the_given_tools_only() -> None:
    sandbox = ProcessSandbox("caller", python_command(f"{MODULE}:calls_what_is_no_tool"))
    result = sandbox.run("1 + 1", {"look": int}, Limits(tool_calls=3))
    assert "tool call limit" in result.error
    assert [(call.name, call.error) for call in result.tool_calls] == [("secret", "KeyError: secret")] * 3
    sandbox.close()


def test_a_process_that_does_not_start_is_reported_in_one_sentence() -> None:
    sandbox = ProcessSandbox("absent", python_command("absent_module:main"))
    with pytest.raises(SettingError, match=r"^rag_sandbox absent does not start: its process ended$"):
        sandbox.run("1 + 1")
    sandbox.close()
