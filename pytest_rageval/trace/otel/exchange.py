"""Find the question, the earlier turns and the answer of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rageval.trace.otel.convert import dialect_of, nesting
from pytest_rageval.trace.otel.messages import indexed_objects
from pytest_rageval.trace.otel.spans import Span
from pytest_rageval.trace.otel.values import decoded
from pytest_rageval.trace.steps import RETRIEVE, TOOL

__all__ = ["Exchange", "exchange_of"]

INPUTS = ("input.value", "traceloop.entity.input", "gen_ai.input.messages", "pydantic_ai.all_messages", "input")
OUTPUTS = ("output.value", "traceloop.entity.output", "final_result", "gen_ai.output.messages", "output")
QUESTIONS = ("question", "query", "input", "user_input", "prompt", "text")
ANSWERS = ("answer", "result", "output", "output_text", "response", "text", "content")
USER, ASSISTANT = ("user", "human"), ("assistant", "ai", "model")

Utterance = tuple[str, str]
"""A speaker, "user" or "assistant", and a text."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The question of a user and the answer of the system.

    Attributes:
        question: the last question, "" if it was not recorded.
        history: the earlier turns, pairs of a question and its answer.
        answer: the answer; None if it was not recorded.
    """

    question: str
    history: tuple[tuple[str, str], ...]
    answer: str | None


def exchange_of(spans: Sequence[Span]) -> Exchange:
    """Return the exchange of a trace, from the outermost spans with an input and with an output."""
    depth, dialect = nesting(spans), dialect_of(spans)
    reads = {span.span_id: None if dialect is None else dialect.read(span) for span in spans}
    kinds = {name: None if read is None else read[0] for name, read in reads.items()}
    without_tools = [span for span in spans if kinds[span.span_id] != TOOL]
    outermost = sorted(without_tools, key=lambda span: (depth[span.span_id], span.start))
    question, history = next(filter(None, map(_question_of, outermost)), ("", ()))
    without_searches = [span for span in without_tools if kinds[span.span_id] != RETRIEVE]
    latest = sorted(without_searches, key=lambda span: (depth[span.span_id], -(span.end or span.start)))
    answers = map(_answer_of, latest)
    return Exchange(question, history, next((answer for answer in answers if answer is not None), None))


def _question_of(span: Span) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """Return the question of a span with the turns before it; None if the span has no question."""
    for value in (*map(span.attributes.get, INPUTS), indexed_objects(span, "gen_ai.prompt.") or None):
        utterances = _utterances(value, QUESTIONS)
        places = [place for place, (who, _) in enumerate(utterances) if who == "user"]
        if places:
            return utterances[places[-1]][1], tuple(_turns(utterances[: places[-1]]))
    return None


def _answer_of(span: Span) -> str | None:
    """Return the answer of a span; None if the span has no answer."""
    for value in (
        *map(span.attributes.get, OUTPUTS),
        indexed_objects(span, "gen_ai.completion.") or None,
    ):
        utterances = _utterances(value, ANSWERS, speaker="assistant")
        if utterances and utterances[-1][0] == "assistant":
            return utterances[-1][1]
    return None


def _turns(utterances: Iterable[Utterance]) -> Iterable[tuple[str, str]]:
    """Yield pairs of a question and its answer."""
    question = None
    for who, text in utterances:
        if who == "user":
            question = text
        elif question is not None:
            yield question, text
            question = None


def _utterances(value: Any, keys: Sequence[str], speaker: str = "user") -> list[Utterance]:
    """Return the utterances of an input or an output: a text, messages, or an object with one of ``keys``."""
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
            return _utterances(value[key], keys, speaker)
    return next(filter(None, (_utterances(value[key], keys, speaker) for key in keys if key in value)), [])


def _messages(values: list[Any], keys: Sequence[str], speaker: str) -> list[Utterance]:
    if len(values) == 2 and all(isinstance(each, str) for each in values):  # LangChain's ("user", "text")
        message = _message({"role": values[0], "content": values[1]})
        return [] if message is None else [message]
    return [each for value in values if not isinstance(value, str) for each in _utterances(value, keys, speaker)]


def _message(value: Mapping[str, Any]) -> Utterance | None:
    """Return the utterance of a message; None without a text, or if neither user nor assistant wrote it."""
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
