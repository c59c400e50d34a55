"""Compare OmniEval's judged metrics with the scales that its code reads and stores (Wang et al., 2024)."""

from __future__ import annotations

import pytest

from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.values import Worth
from pytest_rageval.metrics import BUILTIN
from pytest_rageval.model.metric import Metric
from pytest_rageval.registry import Registry

METRICS: Registry[Metric] = Registry("metric", BUILTIN)

PUBLISHED: dict[str, tuple[tuple[str, ...], list[int], dict[int, float | None]]] = {
    "accuracy_judged": (("question", "gold", "answer"), [0, 1, 2], {0: 0.0, 1: 0.5, 2: 1.0}),
    "completeness": (("question", "gold", "answer"), [0, 1, 2, -1], {0: 0.0, 1: 0.5, 2: 1.0, -1: None}),
    "hallucination": (("question", "passages", "gold", "answer"), [1, 0], {0: 0.0, 1: 1.0}),
    "utilization": (("question", "passages", "gold", "answer"), [0, 1, 2], {0: 0.0, 1: 0.5, 2: 1.0}),
    "numerical_accuracy": (("question", "gold", "answer"), [0, 1, -1], {0: 0.0, 1: 1.0, -1: None}),
}
"""Inputs of the judge, its grades in the order of our labels, and the published code's stored value of each grade."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_label_has_the_value_of_the_published_grade(name: str) -> None:
    shows, grades, stored = PUBLISHED[name]
    metric = METRICS.get(name)
    judge = metric.judge
    assert isinstance(judge, PromptedJudge)
    assert judge.shows == shows
    assert list((judge.labels or {}).keys()) == list((judge.values or {}).keys())
    assert list((judge.values or {}).values()) == [stored[grade] for grade in grades]
    scale = Worth(scale=(0, max(grades)))
    assert all(value is None or value == scale.of(grade) for grade, value in stored.items())
    assert metric.higher_is_better is (name != "hallucination")
