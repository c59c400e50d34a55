"""Diagnose an answer from its scores, and score the metrics that read the diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_rageval.engine.task import Correctness, Task
from pytest_rageval.metrics.diagnosis.diagnose import THRESHOLD, diagnose
from pytest_rageval.metrics.diagnosis.family import DIAGNOSIS, NO_DIAGNOSIS
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.outcome import Diagnosis, Score
from pytest_rageval.model.sample import Sample

__all__ = ["correctness_by", "diagnosis_of", "first_correctness", "reads_diagnosis", "scores_answers", "with_diagnosis"]


def diagnosis_of(task: Task, answer: Answer, scores: Mapping[str, Score]) -> Diagnosis | Score:
    """Return the diagnosis of a task's answer; if there is none, a score without a value, with the reason."""
    rule = task.correctness
    if rule is None or rule.metric not in scores:
        return NO_DIAGNOSIS
    return diagnose(task.case, answer, scores[rule.metric], rule.threshold)


def reads_diagnosis(metric: Metric) -> bool:
    """Return whether a metric reads the diagnosis; such a metric is scored after the others."""
    return DIAGNOSIS in metric.needs


def with_diagnosis(sample: Sample, diagnosis: Diagnosis | Score) -> Sample:
    """Return a sample with a diagnosis among its inputs."""
    return sample.with_inputs({**sample.inputs, DIAGNOSIS: diagnosis})


def scores_answers(metric: Metric) -> bool:
    """Return whether a metric can decide which answers are right."""
    return metric.downstream and metric.higher_is_better and not reads_diagnosis(metric)


def first_correctness(metrics: Iterable[Metric], threshold: float | None = None) -> Correctness | None:
    """Return the rule of the first metric that scores answers; None if there is none."""
    first = next(filter(scores_answers, metrics), None)
    return None if first is None else correctness_by(first, threshold)


def correctness_by(metric: Metric, threshold: float | None = None) -> Correctness:
    """Return the rule for right answers; the default threshold is 1 for a binary metric, else `THRESHOLD`."""
    return Correctness(metric.name, threshold if threshold is not None else 1.0 if metric.binary else THRESHOLD)
