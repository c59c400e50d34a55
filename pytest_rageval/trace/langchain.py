"""Record the steps of LangChain and LangGraph with a callback, without OpenTelemetry."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_rageval.errors import SettingError
from pytest_rageval.trace.collector import Event, current_collector
from pytest_rageval.trace.otel.dialect import add_result
from pytest_rageval.trace.otel.values import arguments_in, passage_of
from pytest_rageval.trace.steps import COMPLETION, RETRIEVE, TOOL

if TYPE_CHECKING:
    from langchain_core.callbacks import BaseCallbackHandler

__all__ = ["CallbackSteps", "langchain_handler"]


class CallbackSteps:
    """Turns callbacks into steps of the case that runs in their context.

    The methods are those of LangChain's ``BaseCallbackHandler``; ``run`` has ``run_id`` and ``parent_run_id``.
    """

    run_inline = True
    """Makes LangChain call the handler in the context of the caller, which knows the case."""

    def __init__(self) -> None:
        self._events: dict[Any, Event] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, **run: Any) -> None:
        """Store the step around a chain; the chain itself is not a step."""
        around = self._events.get(run.get("parent_run_id"))
        if around is not None:
            self._events[run["run_id"]] = around

    def on_chain_end(self, outputs: Any, **run: Any) -> None:
        """Forget a chain."""
        self._events.pop(run["run_id"], None)

    def on_chain_error(self, error: BaseException, **run: Any) -> None:
        """Forget a chain that failed."""
        self._events.pop(run["run_id"], None)

    def on_chat_model_start(self, serialized: Any, messages: Any, **run: Any) -> None:
        """Begin a model call."""
        prompt = [{"role": each.type, "content": each.content} for batch in messages[:1] for each in batch]
        self._begin(COMPLETION, {"prompt": prompt}, run)

    def on_llm_start(self, serialized: Any, prompts: Any, **run: Any) -> None:
        """Begin a call of a model that is not a chat model."""
        self._begin(COMPLETION, {"prompt": [{"role": "user", "content": each} for each in prompts[:1]]}, run)

    def on_llm_end(self, response: Any, **run: Any) -> None:
        """End a model call."""
        self._end(run, _completion(response))

    def on_llm_error(self, error: BaseException, **run: Any) -> None:
        """End a model call that failed."""
        self._end(run, _error_detail(error))

    def on_tool_start(self, serialized: Any, input_str: str, **run: Any) -> None:
        """Begin a tool call."""
        inputs = run.get("inputs")
        arguments = inputs if isinstance(inputs, Mapping) else arguments_in(input_str)
        self._begin(TOOL, {"name": str((serialized or {}).get("name") or ""), "arguments": arguments}, run)

    def on_tool_end(self, output: Any, **run: Any) -> None:
        """End a tool call."""
        event = self._end(run, {})
        if event is not None:
            add_result(event.detail, _tool_output(output))

    def on_tool_error(self, error: BaseException, **run: Any) -> None:
        """End a tool call that failed."""
        self._end(run, _error_detail(error))

    def on_retriever_start(self, serialized: Any, query: str, **run: Any) -> None:
        """Begin a search."""
        self._begin(RETRIEVE, {"query": query}, run)

    def on_retriever_end(self, documents: Any, **run: Any) -> None:
        """End a search."""
        self._end(run, {"passages": _passages(documents)})

    def on_retriever_error(self, error: BaseException, **run: Any) -> None:
        """End a search that failed."""
        self._end(run, _error_detail(error))

    def _begin(self, kind: str, detail: dict[str, Any], run: Mapping[str, Any]) -> None:
        collector = current_collector()
        if collector is not None:
            event = Event(kind, detail, parent=self._events.get(run.get("parent_run_id")), source="langchain")
            self._events[run["run_id"]] = collector.add(event)

    def _end(self, run: Mapping[str, Any], detail: Mapping[str, Any]) -> Event | None:
        """End the step of a run, and return it; None if the run has no step."""
        event = self._events.pop(run["run_id"], None)
        if event is not None:
            event.end = time.time()
            values = {key: value for key, value in detail.items() if value is not None}
            event.detail.update(values, seconds=round(event.end - event.start, 6))
        return event


def langchain_handler() -> BaseCallbackHandler:
    """Return a handler for ``config={"callbacks": [...]}``.

    Raises:
        SettingError: langchain-core is not installed.
    """
    handler: BaseCallbackHandler = _handler_class()()
    return handler


@cache
def _handler_class() -> Any:
    try:
        from langchain_core.callbacks import BaseCallbackHandler
    except ImportError:
        raise SettingError(
            "tracing.langchain() needs langchain-core: pip install langchain-core", code="RAG106"
        ) from None
    return type("RagevalHandler", (CallbackSteps, BaseCallbackHandler), {})


def _error_detail(error: BaseException) -> dict[str, Any]:
    return {"error": f"{type(error).__name__}: {error}"}


def _completion(response: Any) -> dict[str, Any]:
    """Return the reply of a model, its tool calls and its tokens."""
    generation = next((each for batch in response.generations for each in batch), None)
    message = getattr(generation, "message", None)
    usage = getattr(message, "usage_metadata", None) or {}
    legacy_usage = (response.llm_output or {}).get("token_usage") or {}
    calls = [
        {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
        for call in getattr(message, "tool_calls", None) or ()
    ]
    return {
        "text": getattr(generation, "text", None) or None,
        "tool_calls": calls or None,
        "model": (getattr(message, "response_metadata", None) or {}).get("model_name"),
        "prompt_tokens": usage.get("input_tokens", legacy_usage.get("prompt_tokens")),
        "completion_tokens": usage.get("output_tokens", legacy_usage.get("completion_tokens")),
    }


def _tool_output(output: Any) -> Any:
    """Return a tool's output as JSON: messages with their fields, documents as passages."""
    if hasattr(output, "content") and hasattr(output, "tool_call_id"):
        fields = ("content", "tool_call_id", "status", "artifact")
        message = {name: getattr(output, name, None) for name in fields}
        return {**message, "artifact": _passages(message["artifact"]) or message["artifact"]}
    return _passages(output) or output


def _passages(documents: Any) -> list[dict[str, Any]]:
    """Return documents of LangChain as passages; empty if the value is not a list of documents."""
    if not isinstance(documents, Sequence) or not all(hasattr(each, "page_content") for each in documents):
        return []
    fields = ("id", "page_content", "metadata")
    passages = (passage_of({name: getattr(each, name, None) for name in fields}) for each in documents)
    return [passage for passage in passages if passage]
