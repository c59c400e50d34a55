"""`pytest_rageval.tracing` records steps inside a case and nothing outside."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from collections.abc import Awaitable, Iterator
from typing import Any

import pytest

from pytest_rageval import tracing
from pytest_rageval.errors import SystemContractError
from pytest_rageval.model.ranking import Ranking, ScoredPassage
from pytest_rageval.trace.collector import Collector, collecting


def only_detail(collector: Collector) -> dict[str, Any]:
    """Return the detail of the only step without its seconds."""
    (step,) = collector.steps()
    assert step.detail["seconds"] >= 0
    return {key: value for key, value in step.detail.items() if key != "seconds"}


def test_a_tool_keeps_its_name_signature_and_result() -> None:
    @tracing.tool
    def add(a: int, b: int = 2, *rest: int, scale: int = 1) -> int:
        """Add."""
        return (a + b + sum(rest)) * scale

    assert (add.__name__, add.__doc__, list(inspect.signature(add).parameters)) == (
        "add", "Add.", ["a", "b", "rest", "scale"],
    )  # fmt: skip
    assert add(1) == 3
    with collecting() as collector:
        assert add(1, 2, 3, 4, scale=2) == 20
    arguments = {"a": 1, "b": 2, "rest": [3, 4], "scale": 2}
    assert only_detail(collector) == {"name": "add", "arguments": arguments, "result": 20}


def test_a_method_is_recorded_without_self() -> None:
    class Shop:
        @tracing.tool(name="find")
        def search(self, title: str) -> str:
            return title

    with collecting() as collector:
        Shop().search("x")
    assert only_detail(collector) == {"name": "find", "arguments": {"title": "x"}, "result": "x"}


def test_an_error_is_recorded_and_raised() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

    @tracing.tool
    def fail(error: Exception) -> None:
        raise error

    for error, text in ((KeyError("x"), "KeyError: 'x'"), (MuteError(), "MuteError"), (OSError(), "OSError")):
        with collecting() as collector, pytest.raises(type(error)):
            fail(error)
        assert only_detail(collector)["error"] == text


def test_arguments_are_recorded_before_the_call_changes_them() -> None:
    @tracing.tool
    def clear(titles: list[str]) -> list[str]:
        titles.clear()
        return titles

    with collecting() as collector:
        result = clear(["x"])
        result.append("later")
    assert only_detail(collector) == {"name": "clear", "arguments": {"titles": ["x"]}, "result": []}


class Document:
    """A document with the attributes of a LangChain document."""

    def __init__(self, text: str, **metadata: str) -> None:
        self.page_content = text
        self.metadata = metadata


@pytest.mark.parametrize(
    ("result", "passages"),
    [
        ([Document("A.", id="a", title="T")], [{"id": "a", "title": "T", "text": "A."}]),
        ([{"id": "a", "text": "A.", "score": 0.5}], [{"id": "a", "text": "A.", "score": 0.5}]),
        (Ranking((ScoredPassage("a", 1.0),)), [{"id": "a", "score": 1.0}]),
        (Ranking(()), []),
    ],
)
def test_documents_that_a_tool_returns_are_passages(result: object, passages: list[dict[str, Any]]) -> None:
    @tracing.tool
    def search() -> object:
        return result

    with collecting() as collector:
        assert search() is result
    assert only_detail(collector) == {"name": "search", "arguments": {}, "passages": passages}


@pytest.mark.parametrize(
    "result", [None, "text", 3, [], ["a"], [{"price": 3}], {"a": [1]}, [{"text": "x", "score": "?"}]]
)
def test_other_results_are_returned_unchanged(result: object) -> None:
    @tracing.tool
    def search() -> object:
        return result

    with collecting() as collector:
        search()
    assert only_detail(collector)["result"] == result


def test_an_iterator_or_awaitable_result_is_not_recorded() -> None:
    @tracing.tool
    def stream() -> Iterator[str]:
        yield "The museum opens at 9:00."

    async def read() -> str:
        return "The museum opens at 9:00."

    @tracing.tool
    def later() -> Awaitable[str]:
        return read()

    with collecting() as collector:
        assert list(stream()) == ["The museum opens at 9:00."]
    assert only_detail(collector) == {"name": "stream", "arguments": {}}
    with collecting() as collector:
        assert asyncio.run(await_value(later())) == "The museum opens at 9:00."
    assert only_detail(collector) == {"name": "later", "arguments": {}}


async def await_value(value: Awaitable[str]) -> str:
    return await value


def test_steps_nest_even_in_tasks_and_after_errors() -> None:
    @tracing.tool
    async def inner(n: int) -> None:
        await asyncio.sleep(0)
        if n:
            raise ValueError

    async def agent() -> None:
        with tracing.step("plan"):
            await asyncio.gather(inner(0), inner(1), return_exceptions=True)
        with tracing.retrieve("q", retriever="shelf") as search:
            search.passages = ["text"]
        tracing.end("gave_up", "no hope")

    with collecting() as collector:
        asyncio.run(agent())
    assert [(step.kind, step.detail.get("parent")) for step in collector.steps()] == [
        ("plan", None), ("tool", 0), ("tool", 0), ("retrieve", None), ("end", None),
    ]  # fmt: skip
    assert collector.steps()[-1].detail == {"reason": "gave_up", "detail": "no hope"}


def test_malformed_passages_are_refused_only_inside_a_case() -> None:
    def search() -> None:
        with tracing.retrieve("q") as retrieval:
            retrieval.passages = "text"

    search()
    with collecting(), pytest.raises(SystemContractError, match=r"tracing 'found\.passages' returned a str; it must"):
        search()


def test_an_unknown_reason_names_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"tracing\.end got the reason 'tired'; known: finished, empty_answer, gave_up"
    ):
        tracing.end("tired")


def test_importing_tracing_imports_neither_pytest_nor_heavy_packages() -> None:
    code = "import sys, pytest_rageval.tracing; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "pytest_rageval.tracing" in modules
    assert not {"pytest", "_pytest", "pluggy", "asyncio", "numpy", "litellm", "opentelemetry"}.intersection(modules)
    assert not [name for name in modules if name.startswith("pytest_rageval.retrieval")]
