"""Spans of a system call are collected; late, unsampled and caseless spans are counted."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_rageval.model.answer import Step
from pytest_rageval.trace.collector import Collector
from pytest_rageval.trace.otel import live
from pytest_rageval.trace.otel.live import LiveTraces, begin_case, case_span, close_traces, late_spans, open_traces

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="the extra otel is not installed")

from opentelemetry import context, trace  # noqa: E402 - where it is installed
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF  # noqa: E402

CHAT = {"gen_ai.operation.name": "chat"}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> TracerProvider:
    provider = TracerProvider()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return provider


@pytest.fixture
def traces() -> Iterator[LiveTraces]:
    traces = open_traces("auto")
    yield traces
    close_traces(traces)


def kinds(collector: Collector) -> list[str]:
    return [step.kind for step in collector.steps()]


def test_a_case_gets_its_model_spans_with_their_source(provider: TracerProvider, traces: LiveTraces) -> None:
    tracer, collector = provider.get_tracer("app"), Collector()
    with case_span("q1", "mine", collector):
        with tracer.start_as_current_span("chat", attributes={**CHAT, "gen_ai.response.finish_reasons": ["stop"]}):
            pass
        with tracer.start_as_current_span("GET /"):
            pass
        with tracer.start_as_current_span("a trace of its own", context=context.Context(), attributes=CHAT):
            pass
    assert [event.source for event in collector.events] == ["otel", "otel"]
    assert collector.steps()[0].detail["finish_reason"] == "stop"
    assert close_traces(traces) == []


def test_sessions_of_one_process_share_a_processor(provider: TracerProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook may call `pytest.main` many times, and a provider never removes a span processor."""
    processors: list[object] = []
    add = provider.add_span_processor

    def count_and_add(processor: Any) -> None:
        processors.append(processor)
        add(processor)

    monkeypatch.setattr(provider, "add_span_processor", count_and_add)
    for _ in range(3):
        traces, collector = open_traces("auto"), Collector()
        with (
            case_span("q1", "mine", collector),
            provider.get_tracer("app").start_as_current_span("chat", attributes=CHAT),
        ):
            pass
        assert len(collector.steps()) == 1, "the session gets each of its spans once"
        close_traces(traces)
    assert len(processors) == 1


def test_an_exception_of_the_system_keeps_the_steps_before_it(provider: TracerProvider, traces: LiveTraces) -> None:
    tracer, collector = provider.get_tracer("app"), Collector()
    attributes = {"gen_ai.operation.name": "execute_tool"}
    with (
        pytest.raises(ValueError, match="boom"),
        case_span("q1", "mine", collector),
        tracer.start_as_current_span("search", attributes=attributes),
    ):
        raise ValueError("boom")
    (step,) = collector.steps()
    assert step.detail["error"] == "ValueError: boom"


def test_a_span_that_ends_soon_after_the_answer_counts(provider: TracerProvider, traces: LiveTraces) -> None:
    tracer, collector = provider.get_tracer("app"), Collector()
    with case_span("q1", "mine", collector):
        span = tracer.start_span("chat", attributes=CHAT)
        threading.Timer(0.1, span.end).start()
    assert kinds(collector) == ["completion"]


def test_waiting_for_a_late_span_does_not_block_the_event_loop(provider: TracerProvider, traces: LiveTraces) -> None:
    tracer = provider.get_tracer("app")

    async def case(number: int) -> tuple[Step, ...]:
        collector = Collector()
        with case_span(str(number), "mine", collector):
            span = tracer.start_span("chat", attributes=CHAT)
            asyncio.get_running_loop().call_later(0.2, span.end)
            await late_spans()
        return collector.steps()

    async def cases() -> list[tuple[Step, ...]]:
        return await asyncio.gather(*map(case, range(16)))

    start = time.monotonic()
    assert [len(steps) for steps in asyncio.run(cases())] == [1] * 16
    assert time.monotonic() - start < 1


def test_late_spans_and_spans_outside_a_case_are_counted_once(
    provider: TracerProvider, traces: LiveTraces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LATE_S", 0.02)
    tracer, collector = provider.get_tracer("app"), Collector()
    with case_span("q1", "mine", collector):
        late = [tracer.start_span("chat", attributes=CHAT) for _ in range(3)]
        elsewhere = threading.Thread(target=lambda: tracer.start_span("chat", attributes=CHAT).end())
        elsewhere.start()
        elsewhere.join()
        tracer.start_span("no step", context=context.Context()).end()
    for span in late:
        span.end()
    assert collector.events == []
    assert close_traces(traces) == [
        "trace: 3 spans ended more than 1 s after their answer and are in no trace",
        "trace: 1 spans of model, tool or search calls began outside of a case and are in no trace",
    ]


def test_spans_of_judges_and_of_the_setup_are_not_counted(provider: TracerProvider, traces: LiveTraces) -> None:
    tracer = provider.get_tracer("app")

    def ask() -> None:
        begin_case("q1", "test_it.py::test_it")
        with case_span("q1", "mine", Collector()):
            pass
        tracer.start_span("a judge's call", attributes=CHAT).end()

    contextvars.copy_context().run(ask)
    tracer.start_span("an index", attributes={"gen_ai.operation.name": "embeddings"}).end()
    assert close_traces(traces) == []


def test_cases_that_are_not_sampled_are_counted(monkeypatch: pytest.MonkeyPatch, traces: LiveTraces) -> None:
    unsampled = TracerProvider(sampler=ALWAYS_OFF)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: unsampled)
    for number in range(2):
        with case_span(str(number), "mine", Collector()):
            unsampled.get_tracer("app").start_span("chat", attributes=CHAT).end()
    (note,) = close_traces(traces)
    assert note.startswith("trace: 2 cases were not sampled by your TracerProvider")


def test_a_provider_without_processors_is_reported(monkeypatch: pytest.MonkeyPatch, traces: LiveTraces) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    with case_span("q1", "mine", Collector()):
        pass
    assert close_traces(traces) == ["trace: your TracerProvider takes no span processor, so no span is collected"]


def test_the_first_call_of_the_case_itself_gives_its_context(provider: TracerProvider, traces: LiveTraces) -> None:
    case = begin_case("q1", "test_it.py::test_it")
    with case_span("q0", "mine", Collector()):  # an earlier turn
        assert case.context is None
    with case_span("q1", "mine", Collector()):
        first = case.context
    with case_span("q1", "mine", Collector()):  # a document alone
        pass
    assert first is not None
    assert case.context is first


def test_after_the_session_nothing_is_collected_or_counted(provider: TracerProvider) -> None:
    traces = open_traces("auto")
    with case_span("q1", "mine", Collector()):
        pass
    assert close_traces(traces) == []
    collector = Collector()
    with case_span("q1", "mine", collector):
        provider.get_tracer("app").start_span("chat", attributes=CHAT).end()
    assert collector.events == []
    assert traces.notes.sentences() == []
