"""What the rule of ``numerical_accuracy`` decides against what people said of the same answers (FinanceBench).

Measured: of 242 answers to the 121 questions with numbers it decides 59, all as the people did.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_rageval.metrics.quantities import has_numeric_gold, numerical_verdict
from pytest_rageval.model.case import Instance


@pytest.mark.parametrize(("model", "decided"), [("gpt-4-1106-preview", 31), ("claude-2", 28)])
def test_what_is_decided_is_what_people_decided(rageval_data: Path, model: str, decided: int) -> None:
    said: Counter[tuple[float, str]] = Counter()
    with (rageval_data / "financebench" / f"{model}_inContext.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            instance = Instance("q", row["question"], ((str(row["gold_answer"]),),))
            verdict = numerical_verdict(instance, str(row["model_answer"])) if has_numeric_gold(instance) else None
            if verdict is not None:
                said[verdict, row["label"]] += 1
    assert said[0.0, "Correct Answer"] == said[1.0, "Incorrect Answer"] == said[1.0, "Refusal"] == 0
    assert said.total() >= decided
