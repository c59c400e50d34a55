"""Find the question, the earlier turns and the answer of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.trace.otel.convert import dialect_of, nesting
from pytest_rageval.trace.otel.messages import indexed
from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import decoded
from pytest_rageval.trace.steps import RETRIEVE, TOOL

__all__ = ["Exchange", "exchange_of"]

INPUTS = ("input.value", "traceloop.entity.input", "gen_ai.input.messages", "pydantic_ai.all_messages", "input")
OUTPUTS = ("output.value", "traceloop.entity.output", "final_result", "gen_ai.output.messages", "output")
QUESTIONS = ("question", "query", "input", "user_input", "prompt", "text")
ANSWERS = ("answer", "result", "output", "output_text", "response", "text", "content")
USER, ASSISTANT = ("user", "human"), ("assistant", "ai", "model")

Said = tuple[str, str]
"""Who said something ("user" or "assistant"), and what."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a user asked and what the system answered.

    Attributes:
        question: the last question, "" if it was not recorded.
        history: the earlier turns: questions and their answers.
        answer: the answer; None if it was not recorded.
    """

    question: str
    history: tuple[tuple[str, str], ...]
    answer: str | None


def exchange_of(spans: Sequence[Span]) -> Exchange:
    """Return the exchange of a trace: of its outermost spans that recorded an input, and an output."""
    depth, dialect = nesting(spans), dialect_of(spans)
    reads = {span.span_id: None if dialect is None else dialect.read(span) for span in spans}
    kinds = {name: None if read is None else read[0] for name, read in reads.items()}
    asking = [span for span in spans if kinds[span.span_id] != TOOL]
    outward = sorted(asking, key=lambda span: (depth[span.span_id], span.start))
    question, history = next((found for span in outward if (found := _asked(span))), ("", ()))
    answering = [span for span in asking if kinds[span.span_id] != RETRIEVE]
    latest = sorted(answering, key=lambda span: (depth[span.span_id], -(span.end or span.start)))
    answers = map(_answered, latest)
    return Exchange(question, history, next((answer for answer in answers if answer is not None), None))


def _asked(span: Span) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Return the question of a span with the turns before it; None if it recorded none."""
    for value in (*(span.attributes.get(name) for name in INPUTS), indexed(span, "gen_ai.prompt.") or None):
        said = _said(value, QUESTIONS)
        places = [place for place, (who, _) in enumerate(said) if who == "user"]
        if places:
            return said[places[-1]][1], tuple(_turns(said[: places[-1]]))
    return None


def _answered(span: Span) -> str | None:
    """Return the answer of a span; None if it recorded none."""
    for value in (*(span.attributes.get(name) for name in OUTPUTS), indexed(span, "gen_ai.completion.") or None):
        said = _said(value, ANSWERS, speaker="assistant")
        if said and said[-1][0] == "assistant":
            return said[-1][1]
    return None


def _turns(said: Iterable[Said]) -> Iterable[tuple[str, str]]:
    """Yield pairs of a question and its answer."""
    question = None
    for who, text in said:
        if who == "user":
            question = text
        elif question is not None:
            yield question, text
            question = None


def _said(value: Any, keys: Sequence[str], speaker: str = "user") -> list[Said]:
    """Return what was said in an input or an output: a text, messages, or an object with one of ``keys``."""
    value = decoded(value)
    if isinstance(value, str):
        return [(speaker, value)] if value.strip() else []
    if isinstance(value, list):
        return _messages(value, keys, speaker)
    if not isinstance(value, Mapping):
        return []
    message = _message(value)
    if message is not None:
        return [message]
    for key in ("messages", "inputs", "outputs", "generations"):
        if key in value:
            return _said(value[key], keys, speaker)
    return next((said for key in keys if key in value and (said := _said(value[key], keys, speaker))), [])


def _messages(values: list[Any], keys: Sequence[str], speaker: str) -> list[Said]:
    if len(values) == 2 and all(isinstance(each, str) for each in values):  # LangChain's ("user", "text")
        message = _message({"role": values[0], "content": values[1]})
        return [] if message is None else [message]
    return [said for value in values if not isinstance(value, str) for said in _said(value, keys, speaker)]


def _message(value: Mapping[str, Any]) -> Said | None:
    """Return what a message says; None if the value is no message of a user or an assistant, or has no text."""
    inner = next((value[key] for key in ("kwargs", "data", "message") if isinstance(value.get(key), Mapping)), None)
    if inner is not None and ("lc" in value or "type" in value or "generation_info" in value):
        return _message(inner)
    role = str(value.get("role") or value.get("type") or "").lower()
    who = "user" if role in USER else "assistant" if role in ASSISTANT else None
    content = value.get("parts") or value.get("content")
    if isinstance(content, list):
        texts = [part.get("content") or part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(text for text in texts if isinstance(text, str))
    return (who, content) if who is not None and isinstance(content, str) and content.strip() else None
