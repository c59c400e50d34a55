"""Spans of other libraries are converted to steps; each test covers a trap in real spans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_rageval.model.answer import Step
from pytest_rageval.model.digests import content_id
from pytest_rageval.trace.otel.convert import convert, dialect_of
from pytest_rageval.trace.otel.spans import Span, spans_in


def otlp(
    name: str, number: int, parent: int = 0, *, error: str = "", more: dict[str, Any] | None = None, **attributes: Any
) -> dict[str, Any]:
    """Return a span in OTLP/JSON; ``__`` in the name of an attribute becomes a dot."""

    def typed_value(value: Any) -> dict[str, Any]:
        if isinstance(value, bool):
            return {"boolValue": value}
        if isinstance(value, int):
            return {"intValue": str(value)}
        if isinstance(value, list):
            return {"arrayValue": {"values": [typed_value(each) for each in value]}}
        return {"stringValue": value if isinstance(value, str) else json.dumps(value)}

    pairs = [
        {"key": key.replace("__", "."), "value": typed_value(value)}
        for key, value in {**attributes, **(more or {})}.items()
    ]
    event = {"name": "exception", "attributes": [{"key": "exception.message", "value": {"stringValue": error}}]}
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": name,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number * 1_000_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + number * 1_000_000 + 500_000),
        "attributes": [*pairs, *([{"key": "error.type", "value": {"stringValue": "ValueError"}}] if error else [])],
        "status": {"code": 2} if error else {},
        "events": [event] if error else [],
    }


def steps_of(*spans: dict[str, Any]) -> tuple[Step, ...]:
    return convert(spans_in({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})).steps


def genai(number: int, operation: str, parent: int = 0, *, error: str = "", **attributes: Any) -> dict[str, Any]:
    return otlp(operation, number, parent, error=error, gen_ai__operation__name=operation, **attributes)


def test_tokens_are_summed_over_model_calls_only_and_not_over_agents() -> None:
    agent = genai(1, "invoke_agent", gen_ai__usage__input_tokens=50, gen_ai__usage__output_tokens=9)
    chats = [
        genai(number, "chat", 1, gen_ai__usage__input_tokens=25, gen_ai__usage__output_tokens=4) for number in (2, 3)
    ]
    usage = convert(spans_in([agent, *chats])).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (50, 8)


def test_tokens_are_unknown_if_one_call_has_none() -> None:
    chat_with_tokens = genai(1, "chat", gen_ai__usage__prompt_tokens=25, gen_ai__usage__completion_tokens=4)
    usage = convert(spans_in([chat_with_tokens, genai(2, "chat")])).usage
    assert usage is not None
    assert usage.prompt_tokens is usage.completion_tokens is None


def test_a_model_call_inside_a_retrieval_is_a_completion_with_a_parent() -> None:
    steps = steps_of(
        genai(1, "retrieval", gen_ai__retrieval__query__text="q"), genai(2, "invoke_agent", 1), genai(3, "chat", 2)
    )
    assert [(step.kind, step.detail.get("parent")) for step in steps] == [("retrieve", None), ("completion", 0)]


def test_a_call_recorded_by_two_instrumentations_is_one_step_with_the_details_of_both() -> None:
    outer = genai(1, "chat", gen_ai__request__model="m")
    (step,) = steps_of(outer, genai(2, "chat", 1, gen_ai__usage__input_tokens=7, gen_ai__response__model="m-2"))
    assert (step.detail["model"], step.detail["prompt_tokens"]) == ("m", 7)


def test_a_result_that_was_not_recorded_is_missing() -> None:
    (step,) = steps_of(genai(1, "execute_tool", gen_ai__tool__name="search"))
    assert "result" not in step.detail
    (step,) = steps_of(genai(1, "execute_tool", gen_ai__tool__name="search", gen_ai__tool__call__result=""))
    assert step.detail["result"] == ""


def test_a_failed_span_is_an_error_that_begins_with_its_class() -> None:
    (step,) = steps_of(genai(1, "execute_tool", gen_ai__tool__name="search", error="no index"))
    assert step.detail["error"] == "ValueError: no index"


def test_a_retrieval_lists_its_documents_even_without_texts() -> None:
    documents = [{"id": "d1", "score": 0.5}, {"id": "d2", "content": "two", "metadata": {"source": "a.md"}}]
    trace = convert(spans_in([genai(1, "retrieval", gen_ai__retrieval__documents=documents)]))
    assert trace.ranking is not None
    assert [(each.doc_id, each.text, each.page) for each in trace.ranking] == [
        ("d1", "", ""),
        ("d2", "two", "a.md"),
    ]
    assert trace.steps[0].detail["passages"][0] == {"id": "d1", "score": 0.5}


@pytest.mark.parametrize(
    ("result", "ids"),
    [
        ([{"id": "a", "text": "x"}, {"doc_id": 7, "content": "y"}], ("a", "7")),
        ({"documents": [{"page_content": "x", "metadata": {"source": "s.md"}}]}, ("s.md",)),
        ([{"text": "no id"}], (content_id("no id"),)),
        ([{"type": "text", "text": "a block of a message"}], None),
        ([{"role": "user", "content": "a message"}], None),
        ([1, 2], None),
        ("plain text", None),
        ("[not JSON", None),
    ],
)
def test_passages_are_read_from_the_result_of_a_tool(result: Any, ids: tuple[str, ...] | None) -> None:
    span = genai(1, "execute_tool", gen_ai__tool__name="t", gen_ai__tool__call__result=result)
    ranking = convert(spans_in([span])).ranking
    assert (ranking and ranking.doc_ids) == ids


def test_passages_of_a_failed_call_are_not_ranked() -> None:
    span = genai(
        1, "execute_tool", error="late", gen_ai__tool__name="t", gen_ai__tool__call__result=[{"id": "a", "text": "x"}]
    )
    ranking = convert(spans_in([span])).ranking
    assert ranking is None or ranking.items == ()


def test_the_dialect_is_detected_per_trace_and_traceloop_wins_over_gen_ai() -> None:
    chat = genai(2, "chat", 1)
    task = otlp("task", 1, traceloop__span__kind="workflow", gen_ai__operation__name="invoke_agent")
    traceloop = dialect_of(spans_in([chat, task]))
    assert traceloop is not None
    assert traceloop.name == "traceloop"
    genai_only = dialect_of(spans_in([chat]))
    assert genai_only is not None
    assert genai_only.name == "gen_ai"
    assert dialect_of(spans_in([otlp("GET /", 1)])) is None
    assert steps_of(otlp("GET /", 1)) == ()


def test_traceloops_tool_input_is_read_as_a_literal_and_never_evaluated() -> None:
    def arguments(text: str) -> Any:
        tool_input = {"input_str": text, "tags": []}
        span = otlp("t", 1, traceloop__span__kind="tool", gen_ai__operation__name="execute_tool",
                    gen_ai__tool__name="t", gen_ai__tool__call__arguments=tool_input)  # fmt: skip
        (step,) = steps_of(span)
        return step.detail["arguments"]

    assert arguments("{'title': \"it's\", 'k': None}") == {"title": "it's", "k": None}
    assert arguments("{'a': __import__('os').getcwd()}") == "{'a': __import__('os').getcwd()}"
    assert arguments("museum") == "museum"


def test_openinference_arguments_come_from_the_tool_calls_of_the_model() -> None:
    def tool(number: int, text: str, call_id: str) -> dict[str, Any]:
        output = {"type": "tool", "data": {"content": "found", "tool_call_id": call_id, "status": "success"}}
        return otlp("search", number, openinference__span__kind="TOOL", tool__name="search",
                    more={"input.value": text, "output.value": output})  # fmt: skip

    model = otlp("M", 1, openinference__span__kind="LLM", more={
        "llm.output_messages.0.message.content": "",
        **{
            f"llm.output_messages.0.message.tool_calls.{at}.tool_call.{key}": value
            for at in (0, 1)
            for key, value in (("id", f"c{at}"), ("function.name", "search"), ("function.arguments", {"q": f"x{at}"}))
        },
    })  # fmt: skip
    _, first, second = steps_of(model, tool(2, "x1", "c1"), tool(3, "x0", "c0"))
    assert (first.detail["arguments"], second.detail["arguments"]) == ({"q": "x1"}, {"q": "x0"})
    assert first.detail["result"] == "found"


def test_an_error_caught_by_the_framework_is_an_error_of_the_tool() -> None:
    output = {"type": "tool", "data": {"content": "Error: no such page", "tool_call_id": "c1", "status": "error"}}
    span = otlp("search", 1, openinference__span__kind="TOOL", more={"output.value": output})
    (step,) = steps_of(span)
    assert step.detail["error"] == "Error: no such page"


def test_indexed_messages_of_older_versions_are_read() -> None:
    span = otlp("openai.chat", 1, more={
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "When?",
        "gen_ai.completion.0.content": "At 9:00.",
        "gen_ai.usage.prompt_tokens": 3,
        "gen_ai.usage.completion_tokens": 2,
    })  # fmt: skip
    (step,) = steps_of(span)
    assert step.detail["prompt"] == [{"role": "user", "content": "When?"}]
    assert (step.detail["text"], step.detail["prompt_tokens"]) == ("At 9:00.", 3)


def test_agents_sdk_spans_give_calls_and_errors_but_no_totals() -> None:
    def span(number: int, data: dict[str, Any], error: Any = None) -> dict[str, Any]:
        return {"object": "trace.span", "id": f"s{number}", "trace_id": "t", "parent_id": None, "error": error,
                "started_at": f"2026-11-22T07:00:0{number}+00:00", "ended_at": None, "span_data": data}  # fmt: skip

    usage = {"input_tokens": 3, "output_tokens": 1}
    reply = [{"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'}]
    failed = {"message": "Error running tool", "data": {"tool_name": "f", "error": "boom"}}
    spans = [
        span(1, {"type": "response", "response_id": "r", "usage": usage, "output": reply}),
        span(2, {"type": "function", "name": "f", "input": '{"a": 1}', "output": None}, failed),
        span(3, {"type": "custom", "name": "turn", "data": {"usage": usage}}),
    ]
    completion, tool = convert(spans_in({"trace": {}, "spans": spans})).steps
    assert completion.detail["tool_calls"] == [{"id": "c", "name": "f", "arguments": {"a": 1}}]
    assert (tool.detail["error"], "result" in tool.detail) == ("Error running tool: boom", False)


def test_anything_but_a_span_is_ignored() -> None:
    assert spans_in([{}, 3, None, {"object": "trace"}, {"spans": []}]) == []
    assert convert([]).steps == ()
    assert convert([Span("x", "t", "a", "a")]).usage is None  # the span is its own parent
