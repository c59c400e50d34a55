"""A hand-made trained judge whose probabilities are easy to compute."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_rageval.local_judges.features import RULES
from pytest_rageval.local_judges.head import Head, Scaling, Threshold
from pytest_rageval.local_judges.judge_file import FILE, content_of, feature_versions, judge_text, metric_digest
from pytest_rageval.local_judges.judge_model import Certainty, TrainedJudge, Training
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE

__all__ = ["PLAIN", "judge_folder", "made_judge", "weights"]

PLAIN = Scaling((0.0,) * len(RULES), (10.0,) * len(RULES))
"""Divides features by 10, so no answer is unlike the training data."""


def weights(**by_rule: float) -> tuple[float, ...]:
    """Return a weight for each feature; 0 if ``by_rule`` has none."""
    return tuple(by_rule.get(name, 0.0) for name in RULES)


def made_judge(**changes: Any) -> TrainedJudge:
    """Return a judge of ``accuracy_judged``: its probability is 1 / (1 + exp(-z)).

    z is 2 for an answer that contains the gold answer, else -2; 1.5 less if the answer opens with yes or no.
    """
    judge = TrainedJudge(
        metric="accuracy_judged",
        metric_digest=metric_digest(ACCURACY_JUDGE),
        labels=("wrong", "right"),
        values=(0.0, 1.0),
        features=feature_versions(cosines=False),
        head=Head({"en": PLAIN}, (Threshold(-2.0, weights(contains=40.0, yes_no=-15.0)),)),
        embedder=None,
        furthest=0.0,
        certainty=tuple(Certainty(at / 100, 100, right) for at, right in ((50, 80), (75, 91), (90, 99))),
        training=Training("d", 100, 50, 0, "", 0.1),
    )
    return replace(judge, **changes)


def judge_folder(folder: Path, judge: TrainedJudge) -> Path:
    """Write a judge without cosines into a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(judge_text(content_of(judge, None)), encoding="utf-8")
    return folder
