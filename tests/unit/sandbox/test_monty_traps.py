"""Limits of Monty that its users have to know, and how the sandbox reports them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.processes import process_table
from support.processes.sandboxes import BACKENDS, opened

from pytest_rageval.errors import SettingError
from pytest_rageval.sandbox import open_sandbox
from pytest_rageval.sandbox.protocol import Limits, Sandbox

linux = pytest.mark.skipif(not process_table.is_listed(), reason="finds processes as Linux lists them")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    sandbox = opened("monty")
    yield sandbox
    sandbox.close()


MODULES = ("json", "re", "math", "datetime", "collections", "itertools", "functools")
SUPPORTED = {
    "generator expression": ("sum(n for n in range(4))", 6),
    "comprehension": ("{n: n * n for n in range(2)}", {"0": 0, "1": 1}),
    "lambda": ("(lambda n: n + 1)(1)", 2),
    "dataclass": ("import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\nP(2).x", 2),
    "match": ("match [1, 2]:\n    case [a, b]:\n        c = a + b\nc", 3),
    "f-string": ("f'{1.5:.2f}'", "1.50"),
    "finally": ("done = 0\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\nfinally:\n    done = 1\ndone", 1),
    **{name: (f"import {name}", None) for name in MODULES},
}


@pytest.mark.parametrize(("code", "value"), SUPPORTED.values(), ids=SUPPORTED)
def test_monty_supports_this_python(sandbox: Sandbox, code: str, value: object) -> None:
    result = sandbox.run(code)
    assert (result.value, result.error) == (value, "")


UNSUPPORTED = {
    "yield": ("def f():\n    yield 1\nlist(f())", [1]),
    "del": ("x = {'a': 1}\ndel x['a']\nx", {}),
    "inheritance": ("class A:\n    pass\nclass B(A):\n    pass\nissubclass(B, A)", True),
    "statistics": ("import statistics\nstatistics.mean([1, 3])", 2),
    "string": ("import string\nstring.digits", "0123456789"),
    "operator": ("import operator\noperator.add(1, 2)", 3),
    "exit": ("import sys\nsys.exit(3)", None),
}


@pytest.mark.parametrize(("code", "value"), UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_unsupported_python_is_an_error_that_names_the_line(sandbox: Sandbox, code: str, value: object) -> None:
    result = sandbox.run(code)
    supported_by_a_later_version = not result.error and result.value == value
    assert supported_by_a_later_version or result.error.endswith(")"), result
    assert supported_by_a_later_version or "(line " in result.error, result


def test_an_instance_of_a_class_cannot_leave_the_sandbox(sandbox: Sandbox) -> None:
    result = sandbox.run("class A:\n    pass\nA()")
    assert result.error == "the value is not JSON but of the type MontyClassProxy"
    result = sandbox.run("class A:\n    pass\ntake(A())", {"take": str})
    assert result.error.startswith("ValueError: an argument of take is not JSON")
    assert result.tool_calls == ()


def test_a_worker_killed_for_its_memory_writes_nothing_to_our_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    sandbox = opened("monty")
    try:
        assert sandbox.run("'a' * (2 * 10**8)").error == "memory limit: the program used more than 256 MiB"
        assert sandbox.run("10**10**8", limits=Limits(seconds=0.2)).error.startswith("time limit: ")
    finally:
        sandbox.close()
    assert capfd.readouterr() == ("", "")


def test_a_missing_package_is_reported_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_rageval.sandbox.monty.find_spec", lambda name: None)
    with pytest.raises(SettingError) as caught:
        open_sandbox("monty", "pal")
    assert str(caught.value) == 'pal needs a sandbox: pip install "pytest-rageval[agents]", or set rag_sandbox'
    assert caught.value.code == "RAG106"


def test_an_interpreter_that_does_not_start_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MONTY_BIN", str(tmp_path / "missing"))
    sandbox = opened("monty")
    with pytest.raises(SettingError, match=r"^rag_sandbox monty does not start: \w+: .*missing"):
        sandbox.run("1")
    sandbox.close()


def test_an_unknown_sandbox_is_refused() -> None:
    with pytest.raises(SettingError, match=r"^rag_sandbox: unknown sandbox 'mony'; did you mean 'monty'\?$"):
        open_sandbox("mony", "pal")


RUNS_FOR_EVER = """
import sys
from pytest_rageval.sandbox import open_sandbox
sandbox = open_sandbox(sys.argv[1], "pal")
sandbox.run("started()\\nwhile True: pass", {"started": lambda: print("started", flush=True)})
"""


@linux
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_a_program_ends_with_the_process_that_runs_it(number: signal.Signals, backend: str) -> None:
    opened(backend).close()
    before = set(process_table.descendants())
    script = [sys.executable, "-c", RUNS_FOR_EVER, backend]
    with (
        process_table.adopting_orphans(),
        subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as popen,
    ):
        assert popen.stdout is not None
        assert popen.stdout.readline() == "started\n"
        pids = set(process_table.descendants()) - before
        assert len(pids) >= 3  # the script, the sandbox's process and the interpreter
        os.kill(popen.pid, number)
        popen.wait(5)
        assert process_table.wait_until_ended(pids) == set()
