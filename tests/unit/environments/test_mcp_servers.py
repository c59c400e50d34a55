"""The environment ``mcp`` against a real server: over stdio, over HTTP and within this process."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_rageval.environments.environment import Environment
from pytest_rageval.environments.functions import environment_of
from pytest_rageval.environments.mcp import kind
from pytest_rageval.environments.outages import ToolUnavailableError
from pytest_rageval.environments.tool import Observation
from pytest_rageval.errors import CaseError, MissingDependencyError, SettingError

pytest.importorskip("mcp.server.mcpserver", reason="the package mcp 2 is not installed")

from support.servers.mcp_desk import desk
from support.servers.mcp_processes import COMMAND, alive, environment, noted, served

MakeEnvironment = Callable[..., Environment]


@pytest.fixture
def pid_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file to which each server process appends its id."""
    monkeypatch.setenv("RAGEVAL_DESK", str(tmp_path / "pids"))
    return tmp_path / "pids"


@pytest.fixture
def crm(pid_file: Path) -> Iterator[MakeEnvironment]:
    """Return a function that makes environments for one test; the default is the command with all its tools."""
    environments: list[Environment] = []

    def make(**options: str) -> Environment:
        server = {} if "url" in options or "command" in options else {"command": COMMAND}
        environments.append(environment({"allow": "*", **server, **options}))
        return environments[-1]

    yield make
    for each in environments:
        each.close()


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Environment, Path]]:
    """Return an environment over HTTP, and a file with the status that its server returns if the file exists."""
    folder = tmp_path_factory.mktemp("served")
    with served(folder) as (url, _):
        remote_crm = environment({"url": url, "allow": "*"})
        yield remote_crm, folder / "status"
        remote_crm.close()


@pytest.fixture(scope="module", params=["stdio", "http", "in process"])
def any_crm(request: pytest.FixtureRequest) -> Iterator[Environment]:
    if request.param == "http":
        yield request.getfixturevalue("remote")[0]
        return
    in_process = request.param == "in process"
    crm_environment = (
        environment_of("crm", desk(), "here") if in_process else environment({"command": COMMAND, "allow": "*"})
    )
    yield crm_environment
    crm_environment.close()


def call(crm: Environment, tool: str, arguments: Any = "") -> Observation:
    async def run_tool() -> Observation:
        with crm.open() as tools:
            return await tools.run(tool, arguments)

    return asyncio.run(run_tool())


def test_tools_are_those_of_the_server(any_crm: Environment) -> None:
    with any_crm.open() as tools:
        first = tools.tools[0]
        assert [tool.name for tool in tools.tools][:3] == ["opening", "pages", "facts"]
    assert (first.name, first.description) == ("opening", "Return when a place opens.")
    assert first.parameters["required"] == ["place"]
    assert first.parameters["properties"]["day"]["type"] == "integer"
    assert call(any_crm, "opening", {"place": "museum", "day": "3"}).text == "museum opens at 11:00"


def test_results_are_text_json_documents_and_errors(any_crm: Environment) -> None:
    assert call(any_crm, "facts").result == {"open": True, "seats": 12}
    assert call(any_crm, "count").result == call(any_crm, "count").result - 1
    pages = call(any_crm, "pages")
    assert [(page.doc_id, page.title, page.text) for page in pages.passages] == [
        ("d1", "Algiers", "Algiers is a film."), ("d2", "", "Rome is old."),
    ]  # fmt: skip
    for text, result in [("plain", "plain"), ('{"a": [1]}', {"a": [1]}), ("[not json", "[not json"), ("", "")]:
        assert call(any_crm, "as_text", {"text": text}).result == result
    observation = call(any_crm, "refuse", {"why": "no such\ncustomer"})
    assert (observation.text, observation.error) == (
        "Error: ToolError: no such customer",
        "ToolError: no such customer",
    )
    assert call(any_crm, "fail").error == "ToolError: Error executing tool fail"


def test_only_allowed_tools_are_shown_and_called(crm: MakeEnvironment) -> None:
    limited = crm(allow="facts, opening")
    with limited.open() as tools:
        assert [tool.name for tool in tools.tools] == ["opening", "facts"]
    observation = call(limited, "count")
    assert (observation.text, observation.invalid) == ("There is no tool count; there are opening and facts.", True)
    assert call(limited, "opening", {"day": 1}).text == "The call needs place."
    assert call(limited, "opening", {"plaze": "x"}).text == 'There is no parameter "plaze"; there are: place, day.'


def test_one_process_starts_at_the_first_use_and_ends_with_the_environment(
    crm: MakeEnvironment, pid_file: Path
) -> None:
    one = crm()
    one.load()
    assert noted(pid_file) == []
    pids: list[Any] = []
    threads = [threading.Thread(target=lambda: pids.append(call(one, "process").result)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pids == noted(pid_file) * 4
    one.close()
    one.close()
    assert alive(noted(pid_file), 0) == []
    with pytest.raises(ToolUnavailableError, match=r"environment 'crm' cannot be reached: the session ends$"):
        one.open()


def test_a_busy_server_ends_within_two_seconds_and_its_call_fails(crm: MakeEnvironment, pid_file: Path) -> None:
    busy_crm, problems = crm(), []

    def waits() -> None:
        with pytest.raises(ToolUnavailableError) as info:
            call(busy_crm, "wait", {"seconds": 60})
        problems.append(str(info.value))

    thread = threading.Thread(target=waits)
    thread.start()
    while not noted(pid_file):
        time.sleep(0.02)
    with busy_crm.open():  # it is ready
        time.sleep(0.2)
    start = time.monotonic()
    busy_crm.close()
    assert time.monotonic() - start < 2
    thread.join(5)
    assert problems == ["the tool wait of environment 'crm' cannot be reached: ConnectionError: the session ends"]
    assert alive(noted(pid_file), 0) == []


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no process groups")
def test_processes_that_a_server_started_end_with_it(crm: MakeEnvironment, pid_file: Path) -> None:
    shell = f"sleep 60 & echo $! >> {pid_file}; exec {COMMAND}"
    parent = crm(command=shlex.join(["sh", "-c", shell]))
    assert call(parent, "facts").error is None
    assert len(noted(pid_file)) == 2
    parent.close()
    assert alive(noted(pid_file), 0.5) == []


def test_a_server_that_ends_is_an_outage_from_then_on(crm: MakeEnvironment, pid_file: Path) -> None:
    dying = crm()
    assert call(dying, "facts").error is None
    problem = "ConnectionError: the connection was closed; its last line is: the desk is on fire$"
    with pytest.raises(ToolUnavailableError, match=f"^the tool end of environment 'crm' cannot be reached: {problem}"):
        call(dying, "end")
    for _ in range(2):
        with pytest.raises(ToolUnavailableError, match=r"^the server of environment 'crm' cannot .* on fire$"):
            call(dying, "facts")
    assert len(noted(pid_file)) == 1


def test_a_server_at_an_address_may_be_restarted(crm: MakeEnvironment, tmp_path: Path) -> None:
    with served(tmp_path) as (url, popen):
        remote = crm(url=url, timeout="20")
        assert call(remote, "facts").error is None
        popen.kill()
        popen.wait()
        with pytest.raises(ToolUnavailableError, match=r"^the tool facts of .*: ConnectionError: "):
            call(remote, "facts")
    with served(tmp_path):
        assert call(remote, "facts").error is None
    problem = ""
    for _ in range(20):  # the first calls may still use the lost connection
        with pytest.raises(ToolUnavailableError, match="cannot be reached: ") as error:
            call(remote, "facts")
        problem = str(error.value)
        if problem.startswith("the server of environment"):
            break
        time.sleep(0.5)
    assert problem.startswith("the server of environment 'crm' cannot be reached: ")
    with served(tmp_path), pytest.raises(ToolUnavailableError):  # one attempt after the loss, not one for each case
        call(remote, "facts")


@pytest.mark.parametrize("status", [401, 404, 503])
def test_an_http_error_is_an_outage_and_not_an_observation(remote: tuple[Environment, Path], status: int) -> None:
    crm, answer = remote
    with crm.open() as tools:
        answer.write_text(str(status))
        with pytest.raises(ToolUnavailableError, match=f"ConnectionError: HTTP status {status}$"):
            asyncio.run(tools.run("facts", ""))
        answer.unlink()
    assert call(crm, "facts").error is None


def test_a_server_that_cannot_start_is_an_outage_with_its_last_line(crm: MakeEnvironment) -> None:
    broken = crm(command=f'{sys.executable} -c "import no_such_module"')
    with pytest.raises(ToolUnavailableError, match=r"its last line is: ModuleNotFoundError: No module named 'no_such"):
        broken.open()
    with pytest.raises(ToolUnavailableError, match=r"cannot be reached: ConnectError: "):
        crm(url="http://127.0.0.1:1/mcp").open()


def test_a_silent_server_is_an_outage_after_the_timeout(crm: MakeEnvironment) -> None:
    start = time.monotonic()
    with pytest.raises(ToolUnavailableError, match=r"the server was not ready within 0\.5 s$"):
        crm(command=f'{sys.executable} -c "import time; time.sleep(60)"', timeout="0.5").open()
    assert time.monotonic() - start < 5


def test_a_call_beyond_the_timeout_is_an_outage_and_the_server_stays_up(crm: MakeEnvironment) -> None:
    slow = crm()
    with slow.open():
        slow.timeout = 0.3
    with pytest.raises(ToolUnavailableError, match=r"did not answer within 0\.3 s"):
        call(slow, "wait", {"seconds": 1})
    slow.timeout = 20
    assert call(slow, "facts").error is None


@pytest.mark.parametrize(
    ("allow", "more", "problem"),
    [
        ("opening,cuont", (), "the server has no tool 'cuont'; did you mean 'count'?"),
        ("*", ("get-page",), "the tool 'get-page' needs another name: a letter or _, then at most 63 letters, digits"),
    ],
)
def test_a_missing_tool_or_an_invalid_name_is_one_sentence(
    allow: str, more: tuple[str, ...], problem: str, tmp_path: Path, crm: MakeEnvironment
) -> None:
    lines = ["from support.servers.mcp_desk import desk, facts", "server = desk()"]
    lines += [f"server.add_tool(facts, name={name!r})" for name in more]
    (tmp_path / "serve.py").write_text("\n".join([*lines, 'server.run("stdio")']))
    tests = Path(__file__).parents[2]
    code = f"import sys, runpy; sys.path.insert(0, {str(tests)!r}); runpy.run_path({str(tmp_path / 'serve.py')!r})"
    with pytest.raises(CaseError) as info:
        crm(command=f"{sys.executable} -c {json.dumps(code)}", allow=allow).open()
    assert info.value.kind == "environment_error"
    assert str(info.value).startswith(f"environment 'crm': {problem}")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"allow": "a"}, "crm has no server; write command=PROGRAM, which is started here, or url=ADDRESS"),
        ({"allow": "a", "command": "x", "url": "http://x"}, "crm has both command and url; write"),
        ({"command": COMMAND}, "crm names no tools that may be called; write allow=NAME,NAME, or allow=*"),
        ({"command": COMMAND, "allow": "a,get-b"}, "crm has allow=a,get-b: the tool 'get-b' needs another name"),
        ({"command": "'x", "allow": "a"}, 'crm has command="\'x": No closing quotation'),
        ({"command": "no-such-program -m x", "allow": "a"}, "no program 'no-such-program'; install it"),
        ({"url": "localhost:80", "allow": "a"}, "crm has url='localhost:80'; write an address such as http://"),
        ({"url": "http://x/mcp", "allow": "a", "timeout": "0"}, "crm has timeout=0; write a number of seconds"),
        ({"url": "http://x/mcp", "allow": "a", "record": "yes"}, "crm has record=yes; write true or false"),
        ({"url": "http://x/mcp", "allow": "a", "alow": "b"}, "crm has the unknown option 'alow'; did you mean 'allow'"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingError) as info:
        environment(options)
    assert problem in str(info.value)


def test_a_program_in_the_folder_needs_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder, name in ((tmp_path, "no-program"), (elsewhere, "other")):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.chdir(elsewhere)
    assert environment({"command": "./no-program", "allow": "a"}, folder=tmp_path).record
    for command, hint in (("no-program", "write ./no-program"), ("./other", "install it")):
        with pytest.raises(SettingError, match=f"no program '{command}'; {hint}"):
            environment({"command": command, "allow": "a"}, folder=tmp_path)


@pytest.mark.parametrize("installed", [None, "1.28.0"])
def test_the_error_without_the_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, installed: str | None) -> None:
    def version(name: str) -> str:
        if installed is None:
            raise PackageNotFoundError(name)
        return installed

    monkeypatch.setattr(kind, "version", version)
    with pytest.raises(MissingDependencyError, match=r"crm needs an optional .*: pip install 'pytest-rageval\[mcp\]'"):
        environment({"url": "http://x/mcp", "allow": "a"})
    assert environment({"command": "no-such-program", "allow": "a"}, replays=True).record


@pytest.fixture(scope="module")
def shared_crm() -> Iterator[Environment]:
    crm_environment = environment({"command": COMMAND, "allow": "as_text,refuse"})
    yield crm_environment
    crm_environment.close()


HOSTILE = st.text(st.characters(codec=None)) | st.sampled_from(["\ud800", "a\0b", "x" * 1_000_000, "{" * 9_999, "NaN"])


@given(HOSTILE, st.sampled_from(["as_text", "refuse"]))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_an_observation_and_leaves_the_server_alive(shared_crm: Environment, text: str, tool: str) -> None:
    observation = call(shared_crm, tool, {"text" if tool == "as_text" else "why": text})
    observation.text.encode()
    if tool == "as_text" and text.isascii() and text[:1] not in ("{", "["):
        assert observation.result == text


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_server_ends_if_its_parent_process_is_killed(pid_file: Path, tmp_path: Path) -> None:
    import subprocess

    tests = Path(__file__).parents[2]
    script = (
        f"import sys; sys.path.insert(0, {str(tests)!r})\n"
        "from support.servers.mcp_processes import COMMAND, environment\n"
        "environment({'command': COMMAND, 'allow': '*'}).open(); print('open', flush=True); input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as popen:
        assert popen.stdout is not None
        assert popen.stdout.readline() == b"open\n"
        popen.kill()
    assert alive(noted(pid_file), 5) == []
