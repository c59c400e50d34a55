"""Compare the rule of ``numerical_accuracy`` and `accuracy` with people's labels of the same answers.

The answers are FinanceBench's. Measured: of 242 answers to the 121 questions with numbers the rule decides 59, all as
the people did. On these `accuracy` agrees with the people 58 times: it also wants the words of a gold sentence, and a
long one, said in other words, is right and not accepted. On all 242 it agrees 187 times. With containment alone it was
52 of 59, and 175 of 242.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_rageval.metrics.answers.containment import ACCURACY, HAS_ANSWER, SLOT_RECALL
from pytest_rageval.metrics.shared.quantities import has_numeric_gold, numerical_verdict
from pytest_rageval.model.answer import Answer
from pytest_rageval.model.case import Case, Instance
from pytest_rageval.model.sample import Sample

SYSTEMS = ("gpt-4-1106-preview", "claude-2")


def answers(data: Path, model: str) -> list[dict[str, Any]]:
    with (data / "financebench" / f"{model}_inContext.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def golds(data: Path, which: str) -> dict[str, str]:
    """Return the gold answer of each question, from the questions ("$1577.00") or from the answers (1577)."""
    if which == "answers":
        return {row["financebench_id"]: str(row["gold_answer"]) for row in answers(data, SYSTEMS[0])}
    with (data / "financebench" / "financebench_open_source.jsonl").open(encoding="utf-8") as lines:
        return {row["financebench_id"]: str(row["answer"]) for row in map(json.loads, lines)}


@pytest.mark.parametrize(("model", "decided"), [("gpt-4-1106-preview", 31), ("claude-2", 28)])
def test_decided_answers_agree_with_people(rageval_data: Path, model: str, decided: int) -> None:
    words: Counter[tuple[float, str]] = Counter()
    for row in answers(rageval_data, model):
        instance = Instance("q", row["question"], ((str(row["gold_answer"]),),))
        verdict = numerical_verdict(instance, str(row["model_answer"])) if has_numeric_gold(instance) else None
        if verdict is not None:
            words[verdict, row["label"]] += 1
    assert words[0.0, "Correct Answer"] == words[1.0, "Incorrect Answer"] == words[1.0, "Refusal"] == 0
    assert words.total() >= decided


@pytest.mark.parametrize(("which", "decided", "numeric"), [("questions", 53, 191), ("answers", 59, 187)])
def test_rule_metrics_agree_with_people_almost_as_often_as_the_rule(
    rageval_data: Path, which: str, decided: int, numeric: int
) -> None:
    """`accuracy` is right on all answers but one that the rule decides, and on most others with a number to find."""
    gold = golds(rageval_data, which)
    agreed = {"rule": 0, "accuracy": 0, "decided": 0, "numeric": 0}
    for row in (row for model in SYSTEMS for row in answers(rageval_data, model)):
        instance = Instance("q", row["question"], ((gold[row["financebench_id"]],),))
        sample = Sample(Case("q", instance, None, {}), Answer(str(row["model_answer"])))
        right = float(row["label"] == "Correct Answer")
        value = ACCURACY.compute(sample).value
        assert value == HAS_ANSWER.compute(sample).value == SLOT_RECALL.compute(sample).value
        if not has_numeric_gold(instance):
            continue
        agreed["numeric"] += value == right
        verdict = numerical_verdict(instance, sample.answer.text)
        if verdict is not None:
            agreed["decided"] += 1
            agreed["rule"] += verdict == right
            agreed["accuracy"] += value == right
    assert agreed["rule"] == agreed["decided"] >= decided
    assert agreed["accuracy"] >= agreed["rule"] - 1
    assert agreed["numeric"] >= numeric
