"""The trace processor of the OpenAI Agents SDK assigns spans to cases.

The live tests run the SDK itself.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_rageval.trace.collector import Collector
from pytest_rageval.trace.otel.live import case_span, close_traces, open_traces

PROCESSORS: list[Any] = []


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the processor that a session adds to the user's processor."""
    PROCESSORS[:] = ["the user's"]
    monkeypatch.setitem(sys.modules, "agents", SimpleNamespace(add_trace_processor=PROCESSORS.append))
    monkeypatch.delitem(sys.modules, "opentelemetry.sdk.trace", raising=False)
    live = open_traces("auto")
    with case_span("q0", "mine", Collector()):
        pass
    yield PROCESSORS[-1]
    close_traces(live)


def span(trace: str, data: dict[str, Any], response: Any = None) -> Any:
    exported = {
        "object": "trace.span", "id": "s1", "trace_id": trace, "parent_id": None, "error": None, "span_data": data,
        "started_at": "2026-11-22T07:31:48+00:00", "ended_at": "2026-11-22T07:31:49+00:00",
    }  # fmt: skip
    return SimpleNamespace(trace_id=trace, export=lambda: exported, span_data=SimpleNamespace(response=response))


def test_a_trace_belongs_to_the_case_in_which_it_starts_and_the_users_processor_stays(processor: Any) -> None:
    assert ["the user's", processor] == PROCESSORS
    collector, function = Collector(), span("t1", {"type": "function", "name": "f", "input": "{}", "output": "1"})
    with case_span("q1", "mine", collector):
        processor.on_trace_start(SimpleNamespace(trace_id="t1"))
        processor.on_span_start(function)
        processor.on_span_end(function)
        processor.on_trace_end(SimpleNamespace(trace_id="t1"))
    (step,) = collector.steps()
    assert (step.kind, step.detail["name"], step.detail["result"]) == ("tool", "f", "1")
    assert [event.source for event in collector.events] == ["agents"]


def test_fields_that_the_sdk_omits_from_a_response_are_added(processor: Any) -> None:
    values = {"model": "m", "usage": {"input_tokens": 3, "output_tokens": 2}, "output": [], "tools": ["x"]}
    response = SimpleNamespace(model_dump=lambda mode: values)
    collector, call = Collector(), span("t1", {"type": "response", "response_id": "r"}, response)
    with case_span("q1", "mine", collector):
        processor.on_span_start(call)
        processor.on_span_end(call)
    (step,) = collector.steps()
    assert (step.detail["model"], step.detail["prompt_tokens"]) == ("m", 3)


def test_late_spans_are_counted_and_spans_without_a_case_are_ignored(processor: Any) -> None:
    collector = Collector()
    live = open_traces("auto")
    with case_span("q1", "mine", collector):
        PROCESSORS[-1].on_trace_start(SimpleNamespace(trace_id="t1"))
    late = span("t1", {"type": "function", "name": "f"})
    PROCESSORS[-1].on_span_start(late)
    PROCESSORS[-1].on_span_end(late)
    PROCESSORS[-1].on_span_end(span("t2", {"type": "function", "name": "f"}))
    assert collector.events == []
    assert close_traces(live) == ["trace: 1 spans ended more than 1 s after their answer and are in no trace"]
