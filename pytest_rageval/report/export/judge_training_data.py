"""Convert people's labels to fine-tuning conversations: a judge's prompt, a label as reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.people.labelled_answers import LabelledAnswer
from pytest_rageval.datasets.labels import Label
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.replies import fold_label
from pytest_rageval.judges.values import worth_of
from pytest_rageval.report.run.judge_samples import sample_of
from pytest_rageval.testbeds.ids import digest

__all__ = ["PARTS", "conversations", "split"]

PARTS = ("train", "dev", "test")


def conversations(
    answers: Sequence[LabelledAnswer], instances: Mapping[str, Any], judge: PromptedJudge
) -> dict[str, list[str]]:
    """Return case id -> its conversations, each as the JSON of ``{"messages": [...]}``.

    A conversation is the judge's first prompt about an answer, and a person's label as the reply. Answers are left out
    if the judge does not apply to them.

    Args:
        answers: the labelled answers.
        instances: the instances of the results.json.
        judge: the judge whose prompt and labels are used.

    Raises:
        DataError: a label is not one of the judge's.
        SettingError: the results contain no texts.
    """
    by_case: dict[str, list[str]] = {}
    for answer in answers:
        outcome = answer.outcomes[0]
        sample = sample_of(outcome, instances)
        labels = [label for label in answer.labels if label.metric in ("", judge.name)]
        if judge.applies(sample) is None and labels:
            prompt = judge.messages(sample)
            for label in labels:
                reply = json.dumps({"reason": "", "label": _judge_label(label, judge)}, ensure_ascii=False)
                messages = [*map(dict, prompt), {"role": "assistant", "content": reply}]
                by_case.setdefault(outcome.case_id, []).append(json.dumps({"messages": messages}, ensure_ascii=False))
    return by_case


def split(cases: Sequence[str], shares: Sequence[int], seed: int) -> dict[str, list[str]]:
    """Return train, dev and test -> cases, in proportion to the shares; the split depends on seed and case ids only."""
    ranked = sorted(cases, key=lambda case: digest(seed, case))
    ends = [round(len(ranked) * sum(shares[: at + 1]) / sum(shares)) for at in range(len(PARTS))]
    return {name: ranked[begin:end] for name, begin, end in zip(PARTS, [0, *ends], ends, strict=False)}


def _judge_label(label: Label, judge: PromptedJudge) -> str | int:
    """Return the judge's label that matches a person's label, by name or by value, or raise `DataError`."""
    worth = worth_of(judge)
    same_name = [one for one in worth.values if fold_label(one) == fold_label(label.text)]
    matches = same_name or worth.having(label.value or 0.0)
    if len(matches) == 1:
        return matches[0]
    if worth.scale is None:
        expected = f"one of its labels {', '.join(worth.values)}"
    else:
        expected = f"a step of its scale {worth.scale[0]}..{worth.scale[1]}"
    problem = f"the label {short_repr(label.text)} matches no single label of the judge {judge.name}, wanted {expected}"
    raise DataError(label.where, problem)
