"""What a metric is: a small declaration around one pure function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_rageval.model.judging import Judge
from pytest_rageval.model.outcome import Score
from pytest_rageval.model.sample import Sample

__all__ = ["Metric"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its name, its function and how to read its values.

    Attributes:
        name: unique, as users write it in gates.
        compute: pure; returns a score in ``0..1`` or one without a value and with a reason.
        higher_is_better: the direction in which values improve.
        binary: every value is 0 or 1, so that a mean is a rate and takes a Wilson interval.
        judge: whose verdict ``compute`` reads in ``sample.verdicts``; None for a metric that needs no model.
        closed_book: whether ``compute`` reads ``sample.closed_book``.
        needs_all: whether ``compute`` depends on relevant documents that were not retrieved.
        of: what a value tells of: the answer, what was retrieved, or both.
        labels: which of ``sample.labels`` ``compute`` can read: none, labels that are all 0 or 1, or any in ``0..1``.
        texts: which texts' embeddings ``compute`` reads in ``sample.vectors``; None for a metric that reads none.
    """

    name: str
    compute: Callable[[Sample], Score]
    higher_is_better: bool = True
    binary: bool = False
    judge: Judge | None = None
    closed_book: bool = False
    needs_all: bool = False
    of: Literal["answer", "retrieval", "both"] = "answer"
    labels: Literal["none", "binary", "any"] = "none"
    texts: Callable[[Sample], Sequence[str]] | None = None

    @property
    def asks(self) -> bool:
        """Whether something has to be asked about an answer before ``compute`` can tell."""
        return self.judge is not None or self.closed_book or self.labels != "none" or self.texts is not None

    @property
    def judge_asked(self) -> Judge | None:
        """The judge whose model a value depends on; None where no model is asked."""
        return self.judge if getattr(self.judge, "needs_model", True) else None

    @property
    def downstream(self) -> bool:
        """Whether a value tells how good the system's answer is: what retrieval is for."""
        return self.of == "answer" and not self.closed_book
