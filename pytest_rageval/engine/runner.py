"""Score an answer into an outcome, with the cause of every failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pytest_rageval.engine.case_executor import CaseResponses, Inputs
from pytest_rageval.engine.diagnosis import diagnosis_of, reads_diagnosis, with_diagnosis
from pytest_rageval.engine.inputs import inputs_named
from pytest_rageval.engine.task import Task
from pytest_rageval.engine.tracebacks import cause_of
from pytest_rageval.errors import CaseError, short_repr
from pytest_rageval.llm.secrets import redact
from pytest_rageval.metrics.rankings.ranked_passages import NO_TEXTS
from pytest_rageval.metrics.shared.detection import rejects
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.case import Case
from pytest_rageval.model.digests import case_digest, text_digest
from pytest_rageval.model.facets import KNEW, is_variant
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Diagnosis, Outcome, Score
from pytest_rageval.model.phrases import Markers
from pytest_rageval.model.ranking import Ranking
from pytest_rageval.model.sample import Sample
from pytest_rageval.trace.shortening import TRACE_CHARS, shortened

__all__ = ["Runner", "outcome_of", "with_asked_case"]

NO_DETAILS: Mapping[str, Any] = MappingProxyType({})


class Runner:
    """Turns tasks into outcomes; failures of a system or a metric become errors of the outcome.

    Args:
        markers: phrases that mark rejections and detected errors.
        trace_chars: maximum characters of each text in the steps of an answer.
    """

    def __init__(self, markers: Markers, trace_chars: int = TRACE_CHARS) -> None:
        self._markers = markers
        self._trace_chars = trace_chars

    def run(self, task: Task, responses: CaseResponses) -> Outcome:
        """Return the outcome of ``task``: scored, or an error with its cause."""
        outcome = self._outcome(with_asked_case(task, responses), responses)
        return outcome if responses.case is None else replace(outcome, history=responses.case.instance.history)

    def score(self, sample: Sample, metric: Metric) -> Score:
        """Return the score of one metric; a metric of generated text has no value if nothing was generated.

        Raises:
            CaseError: the metric raises or returns an invalid score; the kind is that of its `CaseError`, else
                "metric_error".
        """
        case = sample.case
        if not sample.answer.generated and metric.of != "retrieval":
            return NO_TEXTS
        try:
            score: object = metric.compute(sample)
        except CaseError as error:
            raise CaseError(error.kind, f"metric {metric.name!r} on case {case.id!r}: {error}") from error
        except Exception as error:
            message = f"metric {metric.name!r} failed on case {case.id!r}: {cause_of(error)}"
            raise CaseError("metric_error", message) from error
        if not isinstance(score, Score):
            message = (
                f"metric {metric.name!r} returned {short_repr(score)} for case {case.id!r}; it must return a Score"
            )
            raise CaseError("metric_error", message)
        value = score.value
        if value is not None and not (value in (0, 1) if metric.binary else 0 <= value <= 1):
            valid = "0 or 1, as it is binary" if metric.binary else "in 0..1"
            message = f"metric {metric.name!r} gave {value:g} for case {case.id!r}; its values must be {valid}"
            raise CaseError("metric_error", message)
        return score

    def sample(self, task: Task, inputs: Inputs, answer: Answer) -> Sample:
        """Return what the metrics of ``task`` read."""
        sample = Sample(task.case, answer, self._markers)
        if not inputs:
            return sample
        return sample.with_inputs(
            {each.name: each.finish(inputs[each.name], task, self._score_other) for each in inputs_named(inputs)}
        )

    def _outcome(self, task: Task, responses: CaseResponses) -> Outcome:
        answer = responses.answer
        if answer is None:
            return outcome_of(task, error=responses.error, calls=responses.calls)
        scores: dict[str, Score] = {}
        diagnosis: Diagnosis | Score | None = None
        error = responses.error
        if error is None:
            try:
                diagnosis = self._score(task, responses, answer, scores)
            except CaseError as fault:
                error = fault
        stored = replace(answer, trace=shortened(answer.trace, self._trace_chars, redact)) if answer.trace else answer
        details: dict[str, Any] = _share_seen(task.case, answer)
        if isinstance(diagnosis, Diagnosis):
            details["diagnosis"] = diagnosis
        details["said"] = text_digest(answer.text)
        details["length"] = len(answer.text)
        details["declined"] = rejects(answer, self._markers)
        knew = scores.get("closed_book_accuracy")
        if knew is not None and knew.value is not None:
            details["facets"] = {**task.case.facets, KNEW: "true" if knew.value else "false"}
        return outcome_of(task, _without_known_texts(stored, task.case), scores, error, responses.calls, details)

    def _score_other(self, case: Case, answer: Answer, metric: Metric) -> Score:
        return self.score(Sample(case, answer, self._markers), metric)

    def _score(
        self, task: Task, responses: CaseResponses, answer: Answer, scores: dict[str, Score]
    ) -> Diagnosis | Score | None:
        """Add the task's scores to ``scores``, and return the diagnosis, or a score with the reason for none.

        Return None if no metric reads the diagnosis and nothing shows what the system saw or did.
        """
        sample = self.sample(task, responses.inputs, answer)
        readers = [metric for metric in task.metrics if reads_diagnosis(metric)]
        for metric in task.metrics:
            if not readers or not reads_diagnosis(metric):
                scores[metric.name] = self.score(sample, metric)
        if not readers and not answer.trace and answer.ranking is None and task.case.supplied is None:
            return None
        diagnosis = diagnosis_of(task, answer, scores)
        if readers:
            sample = with_diagnosis(sample, diagnosis)
            scores.update((metric.name, self.score(sample, metric)) for metric in readers)
        return diagnosis


def with_asked_case(task: Task, responses: CaseResponses) -> Task:
    """Return the task with the case that the system received, such as with its own answers as the history."""
    return task if responses.case is None else replace(task, case=replace(responses.case, located=task.case.located))


def outcome_of(
    task: Task,
    answer: Answer | None = None,
    scores: Mapping[str, Score] | None = None,
    error: CaseError | None = None,
    calls: Calls | None = None,
    details: Mapping[str, Any] = NO_DETAILS,
) -> Outcome:
    """Return a task's outcome: scored, or an error if ``error`` is not None.

    An outcome with an error keeps the answer and the scores so far. ``details`` are further fields of the outcome.
    """
    facets = task.case.facets
    outcome = Outcome(
        nodeid=task.nodeid,
        case_id=task.case.id,
        testbed=task.testbed,
        system=task.system,
        status="scored" if error is None else "error",
        answer=answer,
        scores=scores or {},
        supplied=() if task.case.supplied is None else tuple(p.id for p in task.case.supplied),
        error=None if error is None else str(error),
        error_type=None if error is None else error.kind,
        calls=calls,
        data=case_digest(task.case),
        **{"facets": facets, **details},
    )
    if not is_variant(facets):
        return outcome
    pool = {passage.id for passage in task.case.instance.passages or ()}
    added = tuple(passage for passage in task.case.supplied or () if passage.id not in pool)
    return replace(outcome, question=task.case.instance.question, added=added)


def _share_seen(case: Case, answer: Answer) -> dict[str, float | None]:
    """Return the share of the evidence, or else of the gold answer, that the system saw, as a field of the outcome."""
    if answer.ranking is None and case.supplied is None:
        return {}
    from pytest_rageval.metrics.rankings.answer_seen import answer_seen
    from pytest_rageval.metrics.rankings.evidence import evidence_of

    sample = Sample(case, answer)
    evidence = evidence_of(sample)
    return {"evidence": evidence} if evidence is not None else {"answer_seen": answer_seen(sample)}


def _without_known_texts(answer: Answer, case: Case) -> Answer:
    """Return the answer without the texts of those passages that are in the case's instance."""
    if answer.ranking is None:
        return answer
    known = {p.id for p in case.instance.passages or ()}
    items = [replace(i, text="", title="") if i.doc_id in known else i for i in answer.ranking]
    return replace(answer, ranking=Ranking(tuple(items)))
