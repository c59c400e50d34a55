"""Judge answers in batches with a trained judge, without a language model or scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_rageval.errors import CaseError, SettingError, ascii_safe
from pytest_rageval.local_judges.features import COSINES, JudgeInput, cosine, rule_values
from pytest_rageval.local_judges.head import Decision, likeliest_class
from pytest_rageval.local_judges.judge_file import read_content, read_judge, rows_from
from pytest_rageval.local_judges.judge_model import TrainedJudge
from pytest_rageval.model.case import Gold
from pytest_rageval.text.language import detect_language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

__all__ = ["BATCH", "STRANGE_SDS", "Embedder", "Judgement", "LocalJudge", "load_judge", "values_of"]

BATCH = 64
"""Number of answers that are judged together."""

STRANGE_SDS = 4.0
"""Without cosines, an answer is unlike the training data if a feature is more standard deviations from its mean."""

_ERROR = "judge_error"


class Embedder(Protocol):
    """An embedding model on this machine.

    Attributes:
        name: its name, like ``rag_embedder_model``.
        files_digest: sha256 of its files; available before the model is loaded.
    """

    @property
    def name(self) -> str: ...

    @property
    def files_digest(self) -> str: ...

    def vectors(self, texts: Sequence[str], /) -> Rows:
        """Return one row per text; load the model on the first call."""
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """A decision, or the reason why there is none.

    Attributes:
        decision: the decision; None with a problem.
        problem: why there is no decision ("judge_error: ...").
        unlike: whether the answer is unlike all training answers.
    """

    decision: Decision | None
    problem: str | None = None
    unlike: bool = False


class LocalJudge:
    """A loaded judge.

    Args:
        trained: the judge.
        digest: the checksum of its judge.json.
        embedder: the embedding model; None if the judge has no cosines.
        answers: the unit vectors of its training answers; None if it has no cosines.

    Attributes:
        name: the name of the metric's judge.
    """

    def __init__(self, trained: TrainedJudge, digest: str, embedder: Embedder | None, answers: Rows | None) -> None:
        self.trained = trained
        self.digest = digest
        self.name = trained.metric
        self._embedder = embedder
        self._answers = answers

    def judge(self, question: str, gold: Gold, answer: str, language: str = "") -> Decision:
        """Return the decision on one answer.

        Args:
            question: the question.
            gold: the gold answer, slots of aliases; see `labelled.slots_of` for its text in a prompt.
            answer: the answer.
            language: the language of the case; "" detects it from the question.

        Raises:
            CaseError: kind "judge_error"; a feature is not finite, or no training answer has the language.
        """
        (judgement,) = self.judge_batch([JudgeInput(question, gold, answer, language or detect_language(question))])
        if judgement.decision is None:
            raise CaseError(_ERROR, str(judgement.problem))
        return judgement.decision

    def judge_batch(self, batch: Sequence[JudgeInput]) -> list[Judgement]:
        """Return a judgement for each answer, in order.

        With cosines, the order and the other answers may change the fourth decimal of a feature; see
        `features.cosine`. Without cosines they change nothing.
        """
        rows, answers = values_of(batch, self._embedder)
        return [
            self._judgement(judged, row, None if answers is None else answers[at])
            for at, (judged, row) in enumerate(zip(batch, rows, strict=True))
        ]

    def _judgement(self, judged: JudgeInput, values: Sequence[float], answer: Any) -> Judgement:
        trained = self.trained
        if judged.language not in trained.head.scalings:
            languages = ", ".join(trained.languages)
            return Judgement(
                None, f"{_ERROR}: the judge was trained on {languages}, not on {ascii_safe(judged.language)}"
            )
        for name, value in zip(trained.features, values, strict=True):
            if not math.isfinite(value):
                return Judgement(None, f"{_ERROR}: the feature {name} is not a finite number")
        above = trained.head.above(values, judged.language)
        at, share = likeliest_class(above)
        decision = Decision(trained.labels[at], above[-1], share, above)
        return Judgement(decision, unlike=self._is_unlike(judged, values, answer))

    def _is_unlike(self, judged: JudgeInput, values: Sequence[float], answer: Any) -> bool:
        if self._answers is None or answer is None:
            return self.trained.head.distance(values, judged.language) > STRANGE_SDS
        length = math.hypot(*answer)
        nearest = float((self._answers @ answer).max()) / length if length else 0.0
        return 1 - nearest > self.trained.furthest


def values_of(batch: Sequence[JudgeInput], embedder: Embedder | None) -> tuple[list[list[float]], list[Any] | None]:
    """Return the features of each answer, and the vectors of the answers (None without an embedding model).

    The cosine with a blank text is 0.
    """
    rows = [rule_values(judged) for judged in batch]
    if embedder is None:
        return rows, None
    pairs = [[(one(judged), other(judged)) for one, other, _ in COSINES.values()] for judged in batch]
    texts = list(dict.fromkeys(text for each in pairs for pair in each for text in pair))
    vectors = dict(zip(texts, embedder.vectors(texts), strict=True))
    for row, each in zip(rows, pairs, strict=True):
        row += [
            cosine(vectors[one].tolist(), vectors[other].tolist()) if one.strip() and other.strip() else 0.0
            for one, other in each
        ]
    return rows, [vectors[judged.answer] for judged in batch]


def load_judge(folder: Path, where: str, embedder: Callable[[], Embedder | None]) -> LocalJudge:
    """Load the judge of a folder; its embedding model is loaded when it judges the first answer.

    Args:
        folder: the folder that ``rageval judge train`` wrote.
        where: the setting or argument that names it, for messages.
        embedder: returns the embedding model of the ini or None; called only for a judge with cosines.

    Raises:
        SettingError: the folder has no valid judge, or its embedding model differs.
        MissingDependencyError: the judge has cosines, and sentence-transformers is not installed.
    """
    content = read_content(folder, where)
    trained = read_judge(content, where)
    answers = rows_from(folder, content, where)
    model = None
    if trained.embedder is not None:
        model = embedder()
        if model is None:
            problem = f"the judge compares vectors of {trained.embedder.name}, and the ini names no embedding model"
            raise SettingError(f"{where}: {problem}; set rag_embedder_model = {trained.embedder.name}")
        if model.files_digest != trained.embedder.digest:
            problem = f"the judge was trained with the embedding model {trained.embedder.name} ("
            problem += f"{trained.embedder.digest[:8]}), and the files of {model.name} differ"
            raise SettingError(
                f"{where}: {problem} ({model.files_digest[:8]}); name that model, or train the judge again"
            )
    return LocalJudge(trained, str(content["checksum"]), model, answers)
