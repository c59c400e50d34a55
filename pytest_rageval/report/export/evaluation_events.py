"""Send scores as OpenTelemetry events ``gen_ai.evaluation.result`` on their cases' traces."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

from pytest_rageval.analysis.gates import Gate
from pytest_rageval.analysis.misses import is_miss
from pytest_rageval.llm.secrets import redact_json
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.trace.otel.notes import NO_EXPORTER, NO_TRACE, Notes

__all__ = ["EVENT", "EvaluationEvents", "evaluations_of"]

EVENT = "gen_ai.evaluation.result"
_PREFIX = "gen_ai.evaluation."

Attributes = dict[str, Any]


def evaluations_of(
    outcome: Outcome, metrics: Iterable[Metric], gates: Sequence[Gate], *, texts: bool = True
) -> Iterator[Attributes]:
    """Yield the attributes of one event for each metric of a case.

    The label is "fail" if the case missed its gate, else "pass"; it is "unscored" without a value. A case that ended
    with an error has ``error.type`` instead of a label.

    Args:
        outcome: how the case ended.
        metrics: the metrics of its testbed.
        gates: the gates of its testbed.
        texts: whether explanations may quote the judge and errors.
    """
    metrics_by_name = {metric.name: metric for metric in metrics}
    if outcome.status == "error":
        for name in metrics_by_name:
            explanation = {f"{_PREFIX}explanation": outcome.error} if texts and outcome.error else {}
            yield {f"{_PREFIX}name": name, "error.type": outcome.error_type or "error", **explanation}
        return
    for name, score in outcome.scores.items():
        yield {f"{_PREFIX}name": name, **_score_attributes(outcome, name, score, metrics_by_name, gates, texts=texts)}


def _score_attributes(
    outcome: Outcome, name: str, score: Score, metrics: Mapping[str, Metric], gates: Sequence[Gate], *, texts: bool
) -> Attributes:
    rationale = score.verdict.rationale if score.verdict is not None and texts else ""
    explanation = {f"{_PREFIX}explanation": rationale} if rationale else {}
    if score.value is None:
        reason = score.reason or ""
        return {
            f"{_PREFIX}score.label": "unscored",
            f"{_PREFIX}explanation": rationale or (reason if texts else reason.partition(":")[0]),
        }
    metric = metrics.get(name)
    is_missed = is_miss(outcome, name, metric is None or metric.higher_is_better, gates)
    label = "fail" if is_missed else "pass"
    return {f"{_PREFIX}score.value": score.value, f"{_PREFIX}score.label": label, **explanation}


class EvaluationEvents:
    """Sends events through the user's LoggerProvider; without one, as span events through their TracerProvider.

    Args:
        notes: counts the cases whose trace is unknown.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._providers: list[Any] = []

    def send(self, context: Any, facets: Mapping[str, str], evaluations: Iterable[Attributes]) -> None:
        """Send the events of one case.

        Args:
            context: the span context of its answer; None if this session did not call the system for it.
            facets: the case's facets; ``trace_id`` and ``span_id`` name the trace of an imported case.
            evaluations: the attributes of each event.
        """
        context = context or _imported_context(facets)
        if context is None:
            self._notes.count(NO_TRACE)
            return
        from opentelemetry import trace
        from opentelemetry._logs import get_logger_provider
        from opentelemetry.context import Context

        trace_context = trace.set_span_in_context(trace.NonRecordingSpan(context), Context())
        events = [redact_json(dict(each)) for each in evaluations]
        logs = get_logger_provider()
        if hasattr(logs, "add_log_record_processor") and _supports_events():
            self._use(logs)
            _log(logs, trace_context, events)
            return
        provider = trace.get_tracer_provider()
        self._use(provider)
        if getattr(provider, "rageval_made", False) or not hasattr(provider, "add_span_processor"):
            self._notes.count(NO_EXPORTER)
            return
        span = provider.get_tracer("pytest_rageval").start_span("rageval.verdicts", context=trace_context)
        for each in events:
            span.add_event(EVENT, each)
        span.end()

    def flush(self) -> None:
        """Export the events that the providers still buffer."""
        for provider in self._providers:
            flush = getattr(provider, "force_flush", None)
            if flush is not None:
                flush()

    def _use(self, provider: Any) -> None:
        if all(provider is not known for known in self._providers):
            self._providers.append(provider)


def _supports_events() -> bool:
    """Return whether log records can be events; they can from OpenTelemetry 1.35 on."""
    from opentelemetry._logs import LogRecord

    return {"context", "event_name"} <= set(signature(LogRecord.__init__).parameters)


def _log(provider: Any, trace_context: Any, events: Iterable[Attributes]) -> None:
    from opentelemetry._logs import LogRecord, SeverityNumber

    logger = provider.get_logger("pytest_rageval")
    for each in events:
        logger.emit(
            LogRecord(
                timestamp=time.time_ns(),
                context=trace_context,
                severity_number=SeverityNumber.INFO,
                attributes=each,
                event_name=EVENT,
            )
        )


def _imported_context(facets: Mapping[str, str]) -> Any:
    """Return the span context that an imported case names; None if it names none."""
    from opentelemetry.trace import SpanContext, TraceFlags

    try:
        trace_id, span_id = int(facets["trace_id"], 16), int(facets["span_id"], 16)
    except (KeyError, ValueError):
        return None
    context = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return context if context.is_valid else None
