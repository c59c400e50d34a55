"""Functions for your system: record its tool calls, searches, model calls and how it ended.

The recorded steps become the trace of the case's answer; the package `trace` collects them. Outside a case, each
function does nothing and takes about a microsecond.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from pytest_rageval.model.plain import plain_json
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.trace.collector import Event, current_collector, drop_step
from pytest_rageval.trace.passages import passage_detail
from pytest_rageval.trace.recording import SOURCE, RecordedStep
from pytest_rageval.trace.steps import END, END_REASONS, RETRIEVE, TOOL

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler

__all__ = ["Retrieval", "end", "langchain", "retrieve", "step", "tool"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(*, name: str) -> Callable[[F], F]: ...


def tool(function: F | None = None, /, *, name: str = "") -> F | Callable[[F], F]:
    """Record each call of a function as a step "tool": its arguments, its result or error, and its seconds.

    If the function returns documents (of LangChain or LlamaIndex, dicts with a text, `ScoredPassage`, a `Ranking`),
    they become the step's passages. The items that a generator yields are not recorded.

    Args:
        function: a sync or async function.
        name: the tool's name; the function's by default.
    """
    if function is None:
        return lambda decorated: _record_calls(decorated, name)
    return _record_calls(function, name)


def step(kind: str, /, **detail: Any) -> RecordedStep:
    """Record a ``with`` block as a step; the block may add values to the ``detail`` of the step.

    ::

        with tracing.step("completion", model="gpt-4o-mini") as call:
            reply = client.chat.completions.create(...)
            call.detail["prompt_tokens"] = reply.usage.prompt_tokens
            call.detail["completion_tokens"] = reply.usage.completion_tokens

    Args:
        kind: "completion" for a call of a model, "thought", or a name of your own.
        detail: values that JSON can hold.
    """
    return RecordedStep(kind, detail)


def retrieve(query: str, *, retriever: str = "") -> Retrieval:
    """Record a ``with`` block as a search; the block sets ``passages`` to the found passages.

    Args:
        query: the text that is searched for.
        retriever: the name of the retriever.
    """
    return Retrieval(query, retriever)


def end(reason: str, detail: str | None = None) -> None:
    """Record why the system ends its work on the case, for instance "gave_up" or "tool_unavailable".

    Args:
        reason: one of `END_REASONS`.
        detail: one sentence for people.

    Raises:
        ValueError: the reason is unknown.
    """
    if reason not in END_REASONS:
        raise ValueError(f"tracing.end got the reason {reason!r}; known: {', '.join(END_REASONS)}")
    collector = current_collector()
    if collector is None:
        drop_step()
        return
    values: dict[str, Any] = {"reason": reason}
    if detail is not None:
        values["detail"] = plain_json(detail)
    collector.add(Event(END, values, source=SOURCE))


def langchain() -> BaseCallbackHandler:
    """Return a callback handler that records the steps of LangChain and LangGraph.

    Pass it as ``config={"callbacks": [tracing.langchain()]}``. Use it without other instrumentation.
    """
    from pytest_rageval.trace.langchain import langchain_handler

    return langchain_handler()


class Retrieval(AbstractContextManager["Retrieval", None]):
    """A search that is recorded while its ``with`` block runs.

    Attributes:
        passages: the found passages, best first: `ScoredPassage`, dicts, texts, or LangChain or LlamaIndex documents.
    """

    __slots__ = ("_step", "passages")

    def __init__(self, query: str, retriever: str = "") -> None:
        self._step = RecordedStep(RETRIEVE, {"query": query} | ({"retriever": retriever} if retriever else {}))
        self.passages: Any = None

    def __enter__(self) -> Retrieval:
        self._step.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._step.__exit__(kind, error, trace)
        if self._step.is_recorded and error is None and self.passages is not None:
            self._step.detail["passages"] = _passages(self.passages, "found.passages")


def _record_calls(function: F, name: str) -> F:
    """Return a function that calls ``function`` and records each call as a step."""
    name = name or getattr(function, "__name__", type(function).__name__)
    arguments_of = _arguments_reader(function)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            if current_collector() is None:
                drop_step()
                return await function(*args, **kwargs)
            with RecordedStep(TOOL, {"name": name, "arguments": arguments_of(args, kwargs)}) as recorded:
                result = await function(*args, **kwargs)
            _set_result(recorded, result, name)
            return result

        return cast("F", call_async)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if current_collector() is None:
            drop_step()
            return function(*args, **kwargs)
        with RecordedStep(TOOL, {"name": name, "arguments": arguments_of(args, kwargs)}) as recorded:
            result = function(*args, **kwargs)
        _set_result(recorded, result, name)
        return result

    return cast("F", call)


def _arguments_reader(function: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]:
    """Return the function that maps parameter names to the arguments of a call.

    `inspect.Signature.bind` does the same, but takes as long as recording ten steps.
    """
    names, rest = _positional_names(function)

    def read(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for name, value in zip(names, args):  # noqa: B905 - there may be fewer or more, and strict= is slow
            if name:
                arguments[name] = plain_json(value)
        if len(args) > len(names):
            arguments[rest] = plain_json(args[len(names) :])
        for name, value in kwargs.items():
            arguments[name] = plain_json(value)
        return arguments

    return read


def _positional_names(function: Callable[..., Any]) -> tuple[tuple[str, ...], str]:
    """Return the names of the positional parameters, with "" for self and cls, and the name of ``*args``."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions written in C have no signature
        return (), "args"
    positional = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if positional[:1] in (["self"], ["cls"]):
        positional[0] = ""
    return tuple(positional), next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "args")


def _set_result(recorded: RecordedStep, result: object, name: str) -> None:
    """Add a tool's result to its step: as passages if it is a list of documents, else as JSON."""
    if _are_documents(result):
        with suppress(Exception):  # a recording must not break the tool
            recorded.detail["passages"] = _passages(result, name)
            return
    if isinstance(result, Awaitable | Iterator | AsyncIterator):  # only the caller may consume it
        return
    recorded.detail["result"] = plain_json(result)


def _are_documents(result: object) -> bool:
    """Return whether a tool returned passages: a `Ranking`, or a list of documents that each have a text."""
    if isinstance(result, Ranking):
        return True
    return isinstance(result, list | tuple) and len(result) > 0 and all(map(_is_document, result))


def _is_document(item: object) -> bool:
    if isinstance(item, dict):
        return any(isinstance(item.get(key), str) for key in ("text", "content", "page_content"))
    return any(hasattr(getattr(item, "node", item), name) for name in ("page_content", "get_content", "doc_id"))


def _passages(results: Any, name: str) -> list[dict[str, Any]]:
    """Convert the results of a search or tool to the passages of a step; ``name`` is for messages."""
    import sys

    from pytest_rageval.retrieval.adapt_results import ranking_of

    return [passage_detail(each) for each in ranking_of(results, sys.maxsize, name, part="tracing")]
