"""Calls of tools: observations, errors, outages, time limits and steps in the trace."""

from __future__ import annotations

import asyncio
import http.server
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator
from email.message import Message
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_rageval.environments.environment import Environment, OpenEnvironment
from pytest_rageval.environments.functions import environment_of
from pytest_rageval.environments.outages import ToolUnavailableError, is_outage
from pytest_rageval.environments.tool import Observation, Tool, ToolResult
from pytest_rageval.errors import CaseError, SettingError
from pytest_rageval.model.plain import plain_json
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.trace.collector import CURRENT_STEP, Event, collecting, current_collector

Details = list[dict[str, Any]]


def run(value: object, tool: str, arguments: Any = "", **options: Any) -> tuple[Observation, dict[str, Any]]:
    """Call a tool of an environment of functions; return its observation and its step."""
    with collecting() as collector:
        observation = asyncio.run(
            call(environment_of("desk", value, "here", options.pop("timeout", None)), tool, arguments, **options)
        )
    (step,) = collector.steps()
    assert step.kind == "tool"
    return observation, dict(step.detail)


async def call(environment: Environment, tool: str, arguments: Any, **options: Any) -> Observation:
    with environment.open(**options) as tools:
        return await tools.run(tool, arguments)


def double(number: int) -> int:
    return 2 * number


def fails(message: str) -> str:
    raise KeyError(f"{message}\nsecond line")


def test_a_call_gives_an_observation_and_a_step() -> None:
    observation, step = run(double, "double", {"number": "21"})
    assert (observation.text, observation.result, observation.error, observation.invalid) == ("42", 42, None, False)
    assert observation.seconds > 0
    assert step.pop("seconds") == pytest.approx(observation.seconds, abs=0.05)
    assert step == {"name": "double", "arguments": {"number": "21"}, "result": 42}


def test_async_tools_and_functions_that_return_an_awaitable_are_awaited() -> None:
    async def later(word: str) -> str:
        await asyncio.sleep(0)
        return word.upper()

    async def broken(word: str) -> str:
        raise ValueError(word)

    def lazily(word: str) -> Any:
        return later(word)

    assert run(later, "later", {"word": "a"})[0].text == "A"
    assert run(lazily, "lazily", {"word": "a"})[0].text == "A"
    assert run(broken, "broken", {"word": "a"})[0].text == "Error: ValueError: a"


def test_an_exception_of_a_tool_is_an_observation() -> None:
    observation, step = run(fails, "fails", {"message": "no such page"})
    assert observation.text == "Error: KeyError: 'no such page\\nsecond line'"
    assert step["error"] == observation.error == "KeyError: 'no such page\\nsecond line'"
    assert "result" not in step


def test_unknown_tools_and_invalid_arguments_are_observations_without_a_call() -> None:
    tools = [double, fails]
    for tool, arguments, text in [
        ("jump", {}, "There is no tool jump; there are double and fails."),
        ("dou\nble", {}, "There is no tool 'dou\\nble'; there are double and fails."),
        ("double", {"number": "x"}, 'number is "x"; write a whole number.'),
        ("double", "[1]", "The arguments are not a JSON object."),
        ("double", "", "The call needs number."),
    ]:
        observation, step = run(tools, tool, arguments)
        assert (observation.text, observation.invalid, observation.error) == (text, True, None)
        assert (step["name"], step["invalid"], step["result"]) == (tool, True, text)
    assert run(double, "jump")[0].text == "There is no tool jump; there is only double."


def test_documents_become_passages() -> None:
    rows = [{"id": "a", "text": "first", "price": 3}]

    def documents() -> list[dict[str, Any]]:
        return rows

    def ranking() -> Ranking:
        return Ranking((ScoredPassage("b", 0.5, "second", "B"),))

    def search() -> ToolResult:
        return ToolResult("nothing", found=False)

    observation, step = run(documents, "documents")
    assert observation.text == '[{"id": "a", "text": "first", "price": 3}]'
    assert (step["passages"], step["result"]) == ([{"id": "a", "text": "first"}], rows)
    observation, step = run(ranking, "ranking")
    assert observation.text == '[{"id": "b", "title": "B", "text": "second", "score": 0.5}]'
    assert observation.passages == ranking().items
    observation, step = run(search, "search")
    assert (observation.text, observation.found, step["found"]) == ("nothing", False, False)


def test_a_long_observation_ends_after_a_sentence_and_the_step_has_the_full_text() -> None:
    text = "One sentence is here. Another one follows. " + "x" * 5_000

    def read() -> str:
        return text

    observation, step = run(read, "read", max_observation=30)
    assert observation.text == f"One sentence is here.... ({len(text) - 21} more characters)"
    assert observation.result == step["result"] == text
    assert run(read, "read")[0].text.endswith(" more characters)")
    assert len(run(reader_of("y" * 100), "read", max_observation=10)[0].text) == 10 + len("... (90 more characters)")


def reader_of(text: str) -> dict[str, Callable[[], str]]:
    def read() -> str:
        return text

    return {"read": read}


class HTTPStatusError(Exception):
    def __init__(self, status: int) -> None:
        self.response = SimpleNamespace(status_code=status)


class TransportError(Exception):
    __module__ = "httpx._exceptions"


class Timeout(OSError):  # noqa: N818
    __module__ = "requests.exceptions"


class ErrorGroup(Exception):  # noqa: N818
    exceptions = (ValueError(), ConnectionResetError())


@pytest.mark.parametrize(
    ("error", "outage"),
    [
        (ConnectionRefusedError("x"), True),
        (BrokenPipeError("x"), True),
        (TimeoutError("x"), True),
        (asyncio.TimeoutError(), True),
        (TransportError("x"), True),
        (type("ReadTimeout", (Timeout,), {})("x"), True),
        (HTTPStatusError(503), True),
        (HTTPStatusError(404), False),
        (urllib.error.HTTPError("http://x", 500, "", Message(), None), True),
        (urllib.error.HTTPError("http://x", 404, "", Message(), None), False),
        (urllib.error.URLError(ConnectionRefusedError(111, "refused")), True),
        (urllib.error.URLError("unknown url type"), False),
        (ErrorGroup(), True),
        (type("TransportError", (Exception,), {})("of another library"), False),
        (FileNotFoundError("x"), False),
        (KeyError("x"), False),
        (SystemExit(500), False),
    ],
)  # fmt: skip
def test_an_outage_is_distinguished_from_an_error_by_class_name(error: BaseException, outage: bool) -> None:
    assert is_outage(error) is outage


@pytest.mark.parametrize("library", ["httpx", "requests"])
def test_an_unreachable_server_and_http_status_503_are_outages(library: str, failing_server: str) -> None:
    client = pytest.importorskip(library)

    def ask(address: str) -> str:
        reply = client.get(address, timeout=5)
        reply.raise_for_status()
        return str(reply.text)

    for address in (failing_server, "http://127.0.0.1:1/"):
        with pytest.raises(
            ToolUnavailableError, match="the tool ask of environment 'desk' cannot be reached: "
        ) as error:
            run(ask, "ask", {"address": address})
        assert error.value.kind == "tool_unavailable"


@pytest.fixture
def failing_server() -> Iterator[str]:
    class Failing(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(503)
            self.end_headers()

        def log_message(self, *args: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Failing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_an_outage_leaves_a_failed_step() -> None:
    def ask() -> str:
        raise ConnectionResetError("gone")

    with collecting() as collector, pytest.raises(ToolUnavailableError):
        asyncio.run(call(environment_of("desk", ask, "here"), "ask", ""))
    (step,) = collector.steps()
    assert step.detail["name"] == "ask"
    assert "cannot be reached: ConnectionResetError: gone" in step.detail["error"]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_does_not_end_is_an_outage_after_the_timeout(is_async: bool) -> None:
    release = threading.Event()

    def slow() -> None:
        release.wait(30)

    async def slow_async() -> None:
        await asyncio.sleep(30)

    value: object = {"slow": slow_async if is_async else slow}
    start = time.perf_counter()
    with pytest.raises(ToolUnavailableError, match=r"the tool slow of environment 'desk' did not answer within 0\.1 s"):
        run(value, "slow", timeout=0.1)
    assert time.perf_counter() - start < 5
    release.set()


@pytest.mark.parametrize("error", [CaseError("budget", "used up"), KeyboardInterrupt(), SystemExit(3)])
@pytest.mark.parametrize("is_async", [False, True])
def test_errors_of_the_case_and_of_the_process_are_passed_on(error: BaseException, is_async: bool) -> None:
    def stop() -> None:
        raise error

    async def stop_async() -> None:
        raise error

    async def agent() -> BaseException | None:
        with environment_of("desk", {"stop": stop_async if is_async else stop}, "here").open() as tools:
            try:
                await tools.run("stop", {})
            except BaseException as stop_error:
                return stop_error
        return None

    assert asyncio.run(agent()) is error


def test_a_cancelled_agent_does_not_wait_for_its_tools() -> None:
    release, events = threading.Event(), []

    async def slow() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            events.append(True)

    def blocking() -> None:
        release.wait(30)

    async def cancel_call(tools: OpenEnvironment, name: str) -> None:
        task = asyncio.ensure_future(tools.run(name, {}))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def agent() -> None:
        with environment_of("desk", [slow, blocking], "here").open() as tools:
            await cancel_call(tools, "slow")
            await cancel_call(tools, "blocking")
        assert len(asyncio.all_tasks()) == 1

    start = time.perf_counter()
    asyncio.run(agent())
    assert time.perf_counter() - start < 5
    assert events == [True]
    release.set()


def test_steps_inside_a_tool_call_have_the_call_as_parent() -> None:
    def search(query: str) -> str:
        collector = current_collector()
        assert collector is not None
        collector.add(Event("retrieve", {"query": query}))
        return "found"

    with collecting() as collector:
        asyncio.run(call(environment_of("desk", search, "here"), "search", {"query": "x"}))
        assert CURRENT_STEP.get() is None
    tool, retrieve = collector.steps()
    assert (tool.kind, retrieve.kind, retrieve.detail["parent"]) == ("tool", "retrieve", 0)


def test_each_case_has_one_instance_of_a_class_and_one_thread() -> None:
    class Basket:
        def __init__(self) -> None:
            self.thread = threading.get_ident()
            self.items: list[str] = []

        def add(self, item: str) -> list[str]:
            """Add an item."""
            assert threading.get_ident() == self.thread
            self.items.append(item)
            return self.items

        @staticmethod
        def clear(reason: str = "") -> str:
            return "cleared"

        def _hidden(self) -> None: ...

    environment = environment_of("desk", Basket, "here")

    async def agent(tools: OpenEnvironment, *items: str) -> list[Any]:
        return [(await tools.run("add", {"item": item})).result for item in items]

    async def run_two_agents() -> list[list[Any]]:
        with environment.open() as one, environment.open() as other:
            assert [tool.name for tool in one.tools] == ["add", "clear"]
            return list(await asyncio.gather(agent(one, "a", "b"), agent(other, "c", "d")))

    assert asyncio.run(run_two_agents()) == [[["a"], ["a", "b"]], [["c"], ["c", "d"]]]


def test_a_class_whose_constructor_fails_is_an_error_of_the_case() -> None:
    class Broken:
        def __init__(self) -> None:
            raise RuntimeError("no database")

        def read(self) -> str:
            return ""

    class Unreachable(Broken):
        def __init__(self) -> None:
            raise ConnectionRefusedError

    with pytest.raises(CaseError, match=r"here: the class cannot be instantiated \(RuntimeError: no database\)"):
        run(Broken, "read")
    with pytest.raises(ToolUnavailableError):
        run(Unreachable, "read")


def test_objects_lists_mappings_and_tools_are_environments() -> None:
    class Desk:
        hours = "9:00"

        def opening(self) -> str:
            return self.hours

    custom = Tool("custom", "Return it.", {"type": "object", "properties": {}}, lambda: "custom")
    for value, names in [
        (Desk(), ["opening"]),
        ([double, custom], ["double", "custom"]),
        ({"twice": double, "open": Desk().opening}, ["twice", "open"]),
        (custom, ["custom"]),
        (Desk().opening, ["opening"]),
    ]:
        assert [tool.name for tool in environment_of("desk", value, "here").open().tools] == names


class NeedsName:
    def __init__(self, name: str) -> None: ...

    def read(self) -> str:
        return ""


class Empty: ...


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (3, "here: 3 has no tools; give a function, a list of functions"),
        ([], r"here: \[\] has no tools"),
        (Empty, "here: the class has no public methods"),
        (Empty(), "here: .* has no tools"),
        (NeedsName, "here: each case instantiates the class, and it needs name; give it a default"),
        ([3], "here: 3 is not a function"),
        ({"a": 3}, "here: a: 3 cannot be called; give a function"),
        ([double, double], "here has two tools 'double'; rename one"),
        ({"1st": double}, "here: 1st: the tool '1st' needs another name: a letter or _, then at most 63 letters"),
        ({"a" * 65: double}, "needs another name"),
    ],
)
def test_a_value_without_tools_is_refused(value: object, problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        environment_of("desk", value, "here")


HOSTILE = st.one_of(
    st.text(),
    st.binary(),
    st.floats(),
    st.complex_numbers(),
    st.dictionaries(st.integers() | st.text(), st.text() | st.binary()),
    st.lists(
        st.dictionaries(st.sampled_from(["id", "text", "score", "metadata"]), st.text() | st.floats() | st.none())
    ),
    st.sampled_from(["\ud800", "a\0b", "x" * 1_000_000, [[]], object(), 10**5_000]),
)


@given(HOSTILE, st.dictionaries(st.text(), st.text()) | st.text())
@settings(deadline=None, max_examples=60)
def test_any_result_and_any_arguments_are_an_observation_and_a_plain_step(result: Any, arguments: Any) -> None:
    tools = [
        Tool("give", "", {"type": "object", "additionalProperties": True}, lambda **arguments: result),
        Tool("fail", "", {"type": "object", "additionalProperties": True}, failing_function(result)),
    ]
    for tool in tools:
        observation, step = run(tools, tool.name, arguments)
        observation.text.encode()
        assert len(observation.text) <= 4_000 + 40
        assert step == plain_json(step)


def failing_function(message: object) -> Callable[..., None]:
    def fail(**arguments: object) -> None:
        raise ValueError(message)

    return fail
