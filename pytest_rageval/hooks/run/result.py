"""The value of the ``rag`` fixture: a case, its answer and its scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from pytest_rageval.analysis.gates import PSEUDO_METRICS, Gate, check_gate, parse_gate
from pytest_rageval.engine.case_executor import CaseExecutor, CaseResponses
from pytest_rageval.engine.diagnosis import diagnosis_of, reads_diagnosis, with_diagnosis
from pytest_rageval.engine.inputs import inputs_of
from pytest_rageval.engine.runner import Runner, with_asked_case
from pytest_rageval.engine.task import Task
from pytest_rageval.errors import RagEvalError, SettingError, UnscoredError, short_repr
from pytest_rageval.llm.client.usage_meter import SCOPE, TEST, Meter, Scope
from pytest_rageval.metrics.judges.people import corrected_metric
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Outcome, Score
from pytest_rageval.registry import Registry
from pytest_rageval.report.text.miss_reason import explain_check

__all__ = ["RagResult"]

P = ParamSpec("P")
T = TypeVar("T")


class RagResult:
    """The value of the ``rag`` fixture: a case with its answer and its scores.

    Attributes:
        case: the case, with its gold answers, supplied passages and facets.
        answer: what the system returned.
        is_reported: whether a report contains its outcome.
    """

    def __init__(
        self,
        task: Task,
        outcome: Outcome,
        metrics: Registry[Metric],
        runner: Runner,
        responses: CaseResponses,
        executor: CaseExecutor | None = None,
        *,
        texts: bool = True,
    ) -> None:
        task = with_asked_case(task, responses)
        self.case: Case = task.case
        self.is_reported = False
        self._outcome = outcome
        self._meter = Meter()
        self._metrics = metrics
        self._runner = runner
        self._responses = responses
        self._task = task
        self._executor = executor
        self._texts = texts

    @property
    def outcome(self) -> Outcome:
        """The outcome of the case, including model calls that the test itself made."""
        calls = self._meter.calls
        return replace(self._outcome, calls=(self._outcome.calls or Calls()) + calls) if calls.calls else self._outcome

    @property
    def span_context(self) -> object:
        """The OpenTelemetry span in which the system answered; None without one."""
        return None if self._responses.trace is None else self._responses.trace.context

    @property
    def recordings(self) -> tuple[str, ...]:
        """Keys of the recordings that the case's calls read or wrote."""
        return tuple(dict.fromkeys((*self._responses.recordings, *self._meter.keys)))

    @property
    def answer(self) -> Answer:
        """What the system returned."""
        if self.outcome.answer is None:
            raise UnscoredError(f"case {self.case.id!r} has no answer: {self.outcome.error}")
        return self.outcome.answer

    @property
    def scores(self) -> MappingProxyType[str, Score]:
        """Metric name -> score."""
        return MappingProxyType(dict(self.outcome.scores))

    def __getitem__(self, metric: str) -> float:
        """Return the value of a score; raise `UnscoredError` with the reason if it has none."""
        __tracebackhide__ = True
        try:
            score = self._score(metric)
        except RagEvalError as error:
            raise error.with_traceback(None) from None  # frames of this package do not help the user
        if score.value is None:
            raise UnscoredError(f"{metric} of case {self.case.id!r} has no value: {score.reason}")
        return score.value

    def check(self, gate: str) -> None:
        """Assert a bound on this case, such as ``rag.check("rouge_l >= 0.2")``; only this case fails.

        Raises:
            AssertionError: the bound is missed, or the score has no value; the message has question, answer and gold.
            SettingError: the gate is malformed, names an unknown metric, or has a slice, a pseudo-metric or a baseline,
                which a single case cannot have.
            CaseError: the metric raises an error.
        """
        __tracebackhide__ = True
        try:
            parsed = self._parse(gate)
            score = self._score(parsed.metric)
        except RagEvalError as error:
            raise error.with_traceback(None) from None  # frames of this package do not help the user
        if score.value is None or not parsed.holds(score.value):
            raise AssertionError(explain_check(parsed, score, self.case, self.answer, texts=self._texts))

    def record(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call ``function`` and record its result, or return its recorded result; see `pytest_rageval.recorded`.

        If the session has no recordings, only call it.
        """
        if self._executor is None:
            return function(*args, **kwargs)
        from pytest_rageval.llm.recorded_functions.recorded import record_call

        outer = SCOPE.set(self._executor.scope(self.case, self._meter))
        try:
            return record_call(function, *args, **kwargs)
        finally:
            SCOPE.reset(outer)

    def begin(self) -> None:
        """Charge the test's own model calls to this case from now on."""
        TEST.scope = Scope(self._meter, int(self.case.facets.get("repeat", "1")))
        SCOPE.set(TEST.scope)

    def end(self) -> None:
        """Stop charging calls to this case."""
        self._meter.closed = True
        TEST.scope = None
        SCOPE.set(None)

    def _parse(self, gate: str) -> Gate:
        """Parse a bound on one case; raise `SettingError` if only a run can have it."""
        parsed = parse_gate(gate, "rag.check")
        needs_run = parsed.metric in PSEUDO_METRICS or corrected_metric(parsed.metric)
        if parsed.slice or parsed.min_n > 1 or parsed.baseline or needs_run:
            raise SettingError(f"rag.check: {short_repr(gate)} is not a bound on one case; write metric OP number")
        self._metrics.get(parsed.metric, "rag.check")
        check_gate(parsed, self._metrics, self.case.facets, "rag.check")
        return parsed

    def _score(self, name: str) -> Score:
        """Return the score of a metric; compute and store it if the case does not have it yet."""
        if name not in self.outcome.scores:
            metric = self._metrics.get(name, "rag")
            task, inputs, answer = self._task, self._responses.inputs, self.answer
            needed = inputs_of((metric,))
            for each in needed:
                each.check((*task.metrics, metric))  # before any call
            if self._executor is not None and needed:
                inputs = self._executor.ask_more(replace(task, metrics=(metric,)), answer, self._meter)
            sample = self._runner.sample(task, inputs, answer)
            if reads_diagnosis(metric):
                sample = with_diagnosis(sample, diagnosis_of(task, answer, self.outcome.scores))
            score = self._runner.score(sample, metric)
            self._outcome = replace(self._outcome, scores={**self._outcome.scores, name: score})
        return self.outcome.scores[name]
