"""Results of ordinary programs in a sandbox, for every installed backend."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.processes import process_table
from support.processes.sandboxes import BACKENDS, opened

from pytest_rageval.errors import CaseError
from pytest_rageval.sandbox.protocol import Limits, Sandbox

PIECES = (
    *("def ", "class ", "if ", "for x in ", "while ", "try:\n", "except:", "lambda x", "yield ", "await ", "match "),
    *("case ", "del ", "import os", "print(", "x", "1", "=", "*", "**", "@", ":", ",", ".", "\n", "  ", "\t", "\\"),
    *("(", ")", "[", "]", "{", "}", '"', "'", 'f"{', "#", "\x00", "\ud800", "\u202e", "\u6f22", "\U0001f600"),
)


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    sandbox = opened(request.param)
    yield sandbox
    sandbox.close()


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("6 * 7", 42),
        ("x = 1", None),
        ("'\u6f22\u5b57 \\x00'", "\u6f22\u5b57 \x00"),
        ("(1, [2.5, None], {'a': True, 3: 'b'})", [1, [2.5, None], {"a": True, "3": "b"}]),
        ("{'b', 'a'}", ["a", "b"]),
        ("import datetime\ndatetime.date(2020, 2, 29)", "2020-02-29"),
        ("sorted(n * n for n in range(4) if n % 2)", [1, 9]),
        ("import json, re, math, collections, itertools, functools\nmath.floor(math.pi)", 3),
    ],
)
def test_the_value_is_the_last_expression_as_json(sandbox: Sandbox, code: str, value: Any) -> None:
    result = sandbox.run(code)
    assert (result.value, result.error, result.printed, result.tool_calls) == (value, "", "", ())
    assert 0 < result.seconds < 10


@pytest.mark.parametrize(
    ("code", "value"),
    [("answer = 3\n7", 3), ("7", 7), ("answer = None\n7", None), ("def f():\n    answer = 1\nf()\n7", 7)],
)
def test_a_named_variable_wins_over_the_last_expression(sandbox: Sandbox, code: str, value: object) -> None:
    result = sandbox.run(code, variable="answer")
    assert (result.value, result.is_set) == (value, code.startswith("answer"))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero (line 2)"),
        ("raise KeyError('a')", "KeyError: a (line 1)"),
        ("float('nan')", "the value holds nan, which is not JSON"),
        ("b'bytes'", "the value is not JSON but of the type bytes"),
        ("{(1, 2): 3}", "the value has a key that is not text but of the type tuple"),
        ("2 ** 20000", "the value has an integer of more than 4,000 digits"),
        ("'a' * 70_000", "the value is larger than 64 KiB"),
    ],
)
def test_a_program_that_fails_has_an_error_and_no_value(sandbox: Sandbox, code: str, error: str) -> None:
    result = sandbox.run(code)
    assert (result.error, result.value) == (error, None)


@pytest.mark.parametrize("code", ["x = (", "\ud800", "1\x00", "'\\ud800'", "", "\n", "```"])
def test_a_malformed_program_does_not_stop_the_sandbox(sandbox: Sandbox, code: str) -> None:
    sandbox.run(code)
    assert sandbox.run("1").value == 1


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text())
def test_no_text_breaks_the_sandbox(sandbox: Sandbox, code: str) -> None:
    result = sandbox.run(code, limits=Limits(seconds=0.3))
    assert "the sandbox ended" not in result.error
    assert "\n" not in result.error


def test_output_is_kept_also_before_an_error(sandbox: Sandbox) -> None:
    result = sandbox.run("print('one', 2)\nprint('\\x1b[31mred\\u202e', end='')\n1 / 0")
    assert result.printed == "one 2\n\x1b[31mred\u202e"
    assert result.error.startswith("ZeroDivisionError")


def test_output_is_kept_up_to_its_limit(sandbox: Sandbox) -> None:
    result = sandbox.run("print('a' * 70_000)\n7")
    assert result.printed == "a" * (64 << 10)
    assert (result.value, result.error) == (None, "output limit: the program printed more than 64 KiB")


def test_each_call_of_a_tool_is_recorded(sandbox: Sandbox) -> None:
    result = sandbox.run(
        "hits = look('x', k=2)\nlook('y')\nhits[0]['id']", {"look": lambda query, k=1: [{"id": query * k}]}
    )
    assert result.value == "xx"
    assert [(call.name, call.args, dict(call.kwargs), call.result) for call in result.tool_calls] == [
        ("look", ("x",), {"k": 2}, [{"id": "xx"}]),
        ("look", ("y",), {}, [{"id": "y"}]),
    ]


@pytest.mark.parametrize(
    ("raised", "caught", "message"),
    [
        (KeyError("a"), "KeyError", "a"),
        (ValueError("bad"), "ValueError", "bad"),
        (ZeroDivisionError("zero"), "ZeroDivisionError", "zero"),
        (UnicodeError("code"), "RuntimeError", "UnicodeError: code"),
    ],
)
def test_the_error_of_a_tool_is_an_exception_in_the_program(
    sandbox: Sandbox, raised: Exception, caught: str, message: str
) -> None:
    def tool() -> None:
        raise raised

    result = sandbox.run(
        f"try:\n    tool()\nexcept {caught} as error:\n    message = error.args[0]\nmessage", {"tool": tool}
    )
    assert (result.value, result.error) == (message, "")
    assert result.tool_calls[0].error == f"{type(raised).__name__}: {raised.args[0]}"


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), SystemExit(3), CaseError("tool_unavailable", "no route")])
def test_an_error_that_a_program_may_not_handle_ends_the_run(sandbox: Sandbox, raised: BaseException) -> None:
    def tool() -> None:
        raise raised

    with pytest.raises(type(raised)) as caught:
        sandbox.run("try:\n    tool()\nexcept BaseException:\n    pass\n'went on'", {"tool": tool})
    assert caught.value is raised
    assert sandbox.run("1").value == 1


def test_a_program_reads_values_by_name_and_cannot_change_ours(sandbox: Sandbox) -> None:
    values = {"question": "who?", "response": ["one", "two"]}
    assert sandbox.run("response.append('three')\nquestion + response[2]", values=values).value == "who?three"
    assert values["response"] == ["one", "two"]


def test_the_next_program_sees_no_names_of_the_last_one(sandbox: Sandbox) -> None:
    sandbox.run("kept = 1\nimport json\njson.kept = 1", {"tool": int}, values={"given": 1})
    for name in ("kept", "tool", "given"):
        assert sandbox.run(name).error.startswith("NameError")
    assert sandbox.run("import json\njson.kept").error.startswith("AttributeError")


CLOCK_AND_CHANCE = """
import datetime, random, time
[str(datetime.datetime.now()), time.time(), random.random(), random.randint(0, 10**9), str({"a", "b", "c"})]
"""


def test_a_program_repeats_itself_under_its_seed(sandbox: Sandbox) -> None:
    first = sandbox.run(CLOCK_AND_CHANCE, seed="case-1").value
    assert first[:2] == ["2000-01-01 00:00:00", 946_684_800.0]
    again = opened(sandbox.name)
    try:
        assert again.run(CLOCK_AND_CHANCE, seed="case-1").value == first
    finally:
        again.close()
    assert sandbox.run(CLOCK_AND_CHANCE, seed="case-2").value[2:4] != first[2:4]
    assert sandbox.run(CLOCK_AND_CHANCE, seed="case-1", real_clock=True).value[1] > 1.7e9


def test_the_program_and_its_tools_have_a_common_time_limit(sandbox: Sandbox) -> None:
    never = threading.Event()
    result = sandbox.run("wait()\nwait()\nwait()", {"wait": lambda: never.wait(0.4)}, Limits(total_seconds=0.5))
    assert result.error == "time limit: the program and its tools took more than 0.5 s"
    assert len(result.tool_calls) == 2


def test_threads_run_programs_at_the_same_time(sandbox: Sandbox) -> None:
    meet = threading.Barrier(3, timeout=30)
    values: list[object] = []

    def run(number: int) -> None:
        values.append(sandbox.run(f"meet()\n{number}", {"meet": lambda: meet.wait() * 0}).value)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, values)) == ["0", "1", "2"]


@pytest.mark.skipif(not process_table.is_listed(), reason="finds processes as Linux lists them")
@pytest.mark.parametrize("which", ["all", "oldest", "youngest"])
def test_a_killed_process_is_replaced(sandbox: Sandbox, which: str) -> None:
    private_sandbox = opened(sandbox.name)
    calls: list[int] = []
    before = process_table.descendants()
    for number in range(5):
        result = private_sandbox.run(f"note({number})\n{number}", {"note": calls.append})
        assert (result.value, result.error) == (number, "")
        pids = sorted(process_table.descendants().keys() - before)
        for pid in {"all": pids, "oldest": pids[:1], "youngest": pids[-1:]}[which]:
            os.kill(pid, signal.SIGKILL)
    assert calls == [0, 1, 2, 3, 4]
    private_sandbox.close()


@pytest.mark.skipif(not process_table.is_listed(), reason="finds processes as Linux lists them")
def test_a_program_whose_process_was_killed_is_not_run_again(sandbox: Sandbox) -> None:
    private_sandbox = opened(sandbox.name)
    calls: list[int] = []
    before = process_table.descendants()
    private_sandbox.run("1")

    def end_it() -> None:
        calls.append(1)
        for pid in process_table.descendants().keys() - before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    result = private_sandbox.run("end_it()", {"end_it": end_it})
    assert result.error == "the sandbox ended while the program ran, as it used too much memory or was killed"
    assert calls == [1]
    assert private_sandbox.run("2").value == 2
    private_sandbox.close()


def test_closing_the_sandbox_ends_a_running_program(sandbox: Sandbox) -> None:
    private_sandbox = opened(sandbox.name)
    reached = threading.Event()
    ends: list[str] = []
    code = "reached()\nwhile True: pass"
    thread = threading.Thread(target=lambda: ends.append(private_sandbox.run(code, {"reached": reached.set}).error))
    thread.start()
    assert reached.wait(30)
    private_sandbox.close()
    thread.join(2)
    assert ends == ["the sandbox ended while the program ran, as it used too much memory or was killed"]
    with pytest.raises(RuntimeError, match="is closed"):
        private_sandbox.run("1")
