"""Compare the rule for plain refusals with people's labels of two systems' answers."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_rageval.metrics.answers.rejection import REJECTION_RATE
from pytest_rageval.metrics.published.rgb_compat import REJECTION_RATE_RGB_COMPAT
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.metric import Metric
from pytest_rageval.model.sample import Sample

FILES = ("claude-2_inContext", "gpt-4-1106-preview_inContext")


def rejects(metric: Metric, question: str, text: str) -> bool:
    case = Case("q", Instance("q", question, ()), None, {})
    return metric.compute(Sample(case, Answer(text))).value == 1.0


def test_the_rule_finds_the_refusals_that_people_labelled(rageval_data: Path) -> None:
    rows = []
    for name in FILES:
        lines = (rageval_data / "financebench" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows += [json.loads(line) for line in lines]
    labelled = [row["label"] == "Refusal" for row in rows]
    result = [rejects(REJECTION_RATE, row["question"], row["model_answer"]) for row in rows]
    both = sum(a and b for a, b in zip(labelled, result, strict=True))
    assert (len(rows), sum(labelled)) == (300, 62)
    assert both / sum(labelled) >= 0.95
    assert both / sum(result) >= 0.95
    assert not any(rejects(REJECTION_RATE_RGB_COMPAT, row["question"], row["model_answer"]) for row in rows)
