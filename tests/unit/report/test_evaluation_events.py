"""OpenTelemetry events of scores: their content, and the provider that sends them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_rageval.analysis.gates import parse_gate
from pytest_rageval.engine.catalog import Catalog
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.model.verdict import Verdict
from pytest_rageval.report.export.evaluation_events import EvaluationEvents, evaluations_of
from pytest_rageval.trace.otel.notes import Notes

pytest.importorskip("opentelemetry.sdk.trace", reason="the extra otel is not installed")

from opentelemetry import _logs, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

METRICS = Catalog().metrics
ACCURACY, HALLUCINATION = METRICS.get("accuracy"), METRICS.get("hallucination")
GATES = [parse_gate("accuracy >= 0.9", "here")]


def outcome(scores: dict[str, Score], **more: Any) -> Outcome:
    return Outcome("test_it[q1]", "q1", "test_it", {}, "mine", "scored", scores=scores, **more)


def event_of(score: Score, *, name: str = "accuracy", texts: bool = True) -> dict[str, Any]:
    (event,) = evaluations_of(outcome({name: score}), [ACCURACY, HALLUCINATION], GATES, texts=texts)
    return {key.removeprefix("gen_ai.evaluation."): value for key, value in event.items()}


def test_the_label_follows_the_gate_or_without_one_the_worst_value() -> None:
    assert event_of(Score(1.0)) == {"name": "accuracy", "score.value": 1.0, "score.label": "pass"}
    assert event_of(Score(0.5))["score.label"] == "fail"
    assert event_of(Score(1.0), name="hallucination")["score.label"] == "fail"
    assert event_of(Score(0.5), name="hallucination")["score.label"] == "pass"


def test_a_score_without_a_value_has_the_label_unscored() -> None:
    event = event_of(Score(reason="parse_error: no JSON in 'x'"))
    assert event == {"name": "accuracy", "score.label": "unscored", "explanation": "parse_error: no JSON in 'x'"}
    assert event_of(Score(reason="parse_error: no JSON in 'x'"), texts=False)["explanation"] == "parse_error"


def test_the_explanation_is_the_rationale_of_the_judge_unless_texts_are_excluded() -> None:
    score = Score(0.0, verdict=Verdict(label="wrong", rationale="It names Rome."))
    assert event_of(score)["explanation"] == "It names Rome."
    assert "explanation" not in event_of(score, texts=False)


def test_an_error_gives_an_event_per_metric_with_the_kind_of_error() -> None:
    error_outcome = Outcome("t", "q1", "t", {}, "mine", "error", error="boom", error_type="system_error")
    events = list(evaluations_of(error_outcome, [ACCURACY, HALLUCINATION], []))
    assert [event["gen_ai.evaluation.name"] for event in events] == ["accuracy", "hallucination"]
    assert all(event["error.type"] == "system_error" for event in events)
    assert "gen_ai.evaluation.explanation" not in next(evaluations_of(error_outcome, [ACCURACY], [], texts=False))


@pytest.fixture
def span_exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(_logs, "get_logger_provider", _logs.NoOpLoggerProvider)
    return exporter


def test_without_a_logger_provider_events_are_added_to_a_span_of_the_imported_trace(
    span_exporter: InMemorySpanExporter,
) -> None:
    notes = Notes()
    facets = {"trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "eee19b7ec3c1b174"}
    EvaluationEvents(notes).send(None, facets, evaluations_of(outcome({"accuracy": Score(1.0)}), [ACCURACY], []))
    (span,) = span_exporter.get_finished_spans()
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == tuple(facets.values())
    (event,) = span.events
    assert event.name == "gen_ai.evaluation.result"
    assert notes.sentences() == []


@pytest.mark.parametrize(
    "facets", [{}, {"trace_id": "trace_1", "span_id": "span_1"}, {"trace_id": "0", "span_id": "0"}]
)
def test_the_number_of_cases_without_a_trace_is_reported(
    span_exporter: InMemorySpanExporter, facets: dict[str, str]
) -> None:
    notes = Notes()
    EvaluationEvents(notes).send(None, facets, [])
    assert span_exporter.get_finished_spans() == ()
    (note,) = notes.sentences()
    assert note.startswith("--rag-otel: 1 cases have no trace, so their verdicts were not sent")


def test_a_missing_exporter_is_reported(monkeypatch: pytest.MonkeyPatch, span_exporter: InMemorySpanExporter) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    notes = Notes()
    EvaluationEvents(notes).send(None, {"trace_id": "1" * 32, "span_id": "2" * 16}, [])
    (note,) = notes.sentences()
    assert "set a LoggerProvider or a TracerProvider with an exporter" in note
