"""Convert the spans of one answer to steps, a ranking and a usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_rageval.model.answer import Step, Usage
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.trace.collector import Collector, Event
from pytest_rageval.trace.completing import usage_of_trace
from pytest_rageval.trace.otel.dialect import CALL_ID, Dialect, SpanStep
from pytest_rageval.trace.otel.genai import GENAI
from pytest_rageval.trace.otel.openai_agents import OPENAI_AGENTS
from pytest_rageval.trace.otel.openinference import OPENINFERENCE
from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.traceloop import TRACELOOP
from pytest_rageval.trace.passages import ranking_of_trace
from pytest_rageval.trace.steps import COMPLETION, TOOL

__all__ = ["DIALECTS", "AnswerTrace", "convert", "dialect_of", "events_of", "nesting", "step_spans"]

DIALECTS = (OPENAI_AGENTS, TRACELOOP, OPENINFERENCE, GENAI)
"""All dialects. The first one in a trace counts, because Traceloop's spans also have ``gen_ai.*``."""


@dataclass(frozen=True, slots=True)
class AnswerTrace:
    """The steps, ranking and usage of one answer.

    Attributes:
        steps: the trace.
        ranking: the passages that its steps returned, in order of first appearance; None if there are none.
        usage: the tokens of its model calls, and the time from the first span's start to the last one's end.
    """

    steps: tuple[Step, ...]
    ranking: Ranking | None
    usage: Usage | None


def convert(spans: Sequence[Span]) -> AnswerTrace:
    """Return the steps, the ranking and the usage of one answer."""
    steps = Collector(events_of(spans)).steps()
    ends = [span.end for span in spans if span.end is not None]
    seconds = max(ends) - min(span.start for span in spans) if ends else None
    usage = replace(usage_of_trace(steps), latency_s=seconds)
    return AnswerTrace(steps, ranking_of_trace(steps), None if usage == Usage() else usage)


def dialect_of(spans: Iterable[Span]) -> Dialect | None:
    """Return the dialect of a trace; None if no span has a known mark."""
    spans = list(spans)
    return next((dialect for dialect in DIALECTS if any(map(dialect.speaks, spans))), None)


def events_of(spans: Sequence[Span]) -> list[Event]:
    """Return the steps among the spans of one answer, in the order of their start; a parent precedes its children."""
    dialect = dialect_of(spans)
    if dialect is None:
        return []
    by_id = {span.span_id: span for span in spans}
    events: dict[str, Event] = {}
    for span in sorted(by_id.values(), key=lambda span: (span.start, len(_ancestors(span, by_id)))):
        step = dialect.read(span)
        if step is None:
            continue
        outer = next((events[each] for each in _ancestors(span, by_id) if each in events), None)
        if outer is not None and _is_same_call(outer, step):
            events[span.span_id] = _merge(outer, step)
        else:
            events[span.span_id] = Event(*step, start=span.start, end=span.end, parent=outer)
    unique = list({id(event): event for event in events.values()}.values())
    _complete_arguments(unique)
    return unique


def nesting(spans: Sequence[Span]) -> dict[str, int]:
    """Return span id -> number of spans around that span."""
    by_id = {span.span_id: span for span in spans}
    return {name: len(_ancestors(span, by_id)) for name, span in by_id.items()}


def step_spans(spans: Sequence[Span]) -> list[Span]:
    """Return the spans that are steps; the parent of each is the nearest step around it."""
    dialect = dialect_of(spans)
    if dialect is None:
        return []
    by_id = {span.span_id: span for span in spans}
    steps = {name for name, span in by_id.items() if dialect.read(span) is not None}
    parents = {name: next((each for each in _ancestors(by_id[name], by_id) if each in steps), "") for name in steps}
    return [replace(span, parent_id=parents[name]) for name, span in by_id.items() if name in steps]


def _ancestors(span: Span, by_id: Mapping[str, Span]) -> list[str]:
    """Return the ids of the spans around a span, the nearest first."""
    ids: list[str] = []
    parent = span.parent_id
    while parent in by_id and parent not in ids and parent != span.span_id:
        ids.append(parent)
        parent = by_id[parent].parent_id
    return ids


def _is_same_call(outer: Event, step: SpanStep) -> bool:
    """Return whether a step and the step around it are one call that two instrumentations recorded."""
    kind, detail = step
    return outer.kind == kind and (
        kind == COMPLETION or (kind == TOOL and outer.detail.get("name") == detail.get("name"))
    )


def _merge(outer: Event, step: SpanStep) -> Event:
    for key, value in step[1].items():
        outer.detail.setdefault(key, value)
    return outer


def _complete_arguments(events: Sequence[Event]) -> None:
    """Take the arguments of a tool call from the model's reply if the tool's span has only their text."""
    tool_calls = [call for event in events if event.kind == COMPLETION for call in event.detail.get("tool_calls") or ()]
    for event in events:
        arguments = event.detail.get("arguments")
        if event.kind != TOOL or isinstance(arguments, Mapping):
            continue
        call = next((call for call in tool_calls if _requests(call, event.detail)), None)
        if call is not None and isinstance(call.get("arguments"), Mapping):
            event.detail["arguments"] = call["arguments"]


def _requests(call: Mapping[str, Any], tool: Mapping[str, Any]) -> bool:
    """Return whether a model's tool call requests a tool step: same id, else same name and same only argument."""
    if tool.get(CALL_ID) is not None:
        return bool(call.get("id") == tool[CALL_ID])
    arguments = call.get("arguments")
    values = list(arguments.values()) if isinstance(arguments, Mapping) else []
    return call.get("name") == tool.get("name") and [str(value) for value in values] == [str(tool.get("arguments"))]
