"""People's labels as conversations, in the form that models are fine-tuned with: a judge's prompt and its reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rageval.analysis.labelled_answers import Labelled
from pytest_rageval.datasets.labels import Label
from pytest_rageval.errors import DataError, found
from pytest_rageval.judges.prompted import PromptedJudge
from pytest_rageval.judges.replies import fold_label
from pytest_rageval.judges.values import worth_of
from pytest_rageval.report.run.judge_samples import sample_of
from pytest_rageval.testbeds.ids import digest

__all__ = ["PARTS", "conversations", "parted"]

PARTS = ("train", "dev", "test")


def conversations(
    answers: Sequence[Labelled], instances: Mapping[str, Any], judge: PromptedJudge
) -> dict[str, list[str]]:
    """Return case id -> its conversations, each the JSON of ``{"messages": [...]}``.

    Each is what the judge is asked first about an answer, with a person's label as its reply; answers that the judge
    does not apply to are left out.

    Args:
        answers: what people labelled.
        instances: those of the results.json.
        judge: whose prompt and labels they are.

    Raises:
        DataError: a label is none of the judge's.
        SettingError: the results hold no texts.
    """
    made: dict[str, list[str]] = {}
    for answer in answers:
        outcome = answer.outcomes[0]
        sample = sample_of(outcome, instances)
        labels = [label for label in answer.labels if label.metric in ("", judge.name)]
        if judge.applies(sample) is None and labels:
            asked = judge.messages(sample)
            for label in labels:
                reply = json.dumps({"reason": "", "label": _as_judge(label, judge)}, ensure_ascii=False)
                messages = [*map(dict, asked), {"role": "assistant", "content": reply}]
                made.setdefault(outcome.case_id, []).append(json.dumps({"messages": messages}, ensure_ascii=False))
    return made


def parted(cases: Sequence[str], shares: Sequence[int], seed: int) -> dict[str, list[str]]:
    """Return the cases of each of `PARTS`, in proportion to three shares; the seed and their ids decide which."""
    ranked = sorted(cases, key=lambda case: digest(seed, case))
    ends = [round(len(ranked) * sum(shares[: at + 1]) / sum(shares)) for at in range(len(PARTS))]
    return {name: ranked[begin:end] for name, begin, end in zip(PARTS, [0, *ends], ends, strict=False)}


def _as_judge(label: Label, judge: PromptedJudge) -> str | int:
    """Return a person's label as one of the judge's."""
    worth = worth_of(judge)
    named = [one for one in worth.values if fold_label(one) == fold_label(label.text)]
    alike = named or worth.having(label.value or 0.0)
    if len(alike) == 1:
        return alike[0]
    if worth.scale is None:
        wanted = f"one of its labels {', '.join(worth.values)}"
    else:
        wanted = f"a step of its scale {worth.scale[0]}..{worth.scale[1]}"
    problem = f"the label {found(label.text)} is not to be told as a verdict of {judge.name}, wanted {wanted}"
    raise DataError(label.where, problem)
