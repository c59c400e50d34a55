"""A trained judge of `accuracy_judged` that needs no training, and answers for it to judge."""

from __future__ import annotations

import random
from pathlib import Path

from pytest_rageval.local_judges.features import RULES, JudgeInput
from pytest_rageval.local_judges.head import Head, Scaling, Threshold
from pytest_rageval.local_judges.judge_file import FILE, content_of, feature_versions, judge_text, metric_digest
from pytest_rageval.local_judges.judge_model import Certainty, TrainedJudge, Training
from pytest_rageval.metrics.judges.omnieval_judged import ACCURACY_JUDGE

__all__ = ["answers", "trained_folder"]

WORDS = (
    "the", "museum", "opens", "at", "nine", "six", "euros", "ticket", "9", "18", "no", "not", "yes", "|", ">",
    "Question:", "票", "是",
)  # fmt: skip


def trained_folder(folder: Path) -> Path:
    """Write a judge into a folder and return it: token overlap for right, refusals and length against it."""
    weights = {"token_f1": 3.0, "contains": 1.5, "refuses": -2.0, "length": -0.4, "rouge_l": 0.7}
    plain = Scaling((0.0,) * len(RULES), (1.0,) * len(RULES))
    judge = TrainedJudge(
        metric="accuracy_judged",
        metric_digest=metric_digest(ACCURACY_JUDGE),
        labels=("wrong", "right"),
        values=(0.0, 1.0),
        features=feature_versions(cosines=False),
        head=Head({"en": plain, "zh": plain}, (Threshold(0.2, tuple(weights.get(name, 0.0) for name in RULES)),)),
        embedder=None,
        furthest=0.0,
        certainty=(Certainty(0.5, 50, 40),),
        training=Training("d", 50, 25, 0, "", 0.1),
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(judge_text(content_of(judge, None)), encoding="utf-8")
    return folder


def answers(n: int) -> list[JudgeInput]:
    """Return made-up answers, some of several lines, empty, or with parts of a prompt."""
    draw = random.Random(4)
    return [_answer(draw) for _ in range(n)]


def _answer(draw: random.Random) -> JudgeInput:
    def words(most: int) -> str:
        lines = [" ".join(draw.choices(WORDS, k=draw.randint(1, most))) for _ in range(draw.choice((1, 1, 1, 3)))]
        return "\n".join(line.strip(" |>") or "it" for line in lines)

    gold = tuple((words(3).split("\n")[0], "nine")[: draw.randint(1, 2)] for _ in range(draw.randint(1, 2)))
    gold = tuple(tuple(" ".join(alias.replace("|", "").split()) or "nine" for alias in slot) for slot in gold)
    answer = "" if draw.random() < 0.05 else "\n".join((words(8), *([gold[0][0]] if draw.random() < 0.5 else [])))
    return JudgeInput(words(6), gold, answer, draw.choice(("en", "zh")))
