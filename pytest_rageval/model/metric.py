"""A metric: a declaration around one pure function."""

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
        compute: a pure function that returns a score in ``0..1``, or a score with a reason instead of a value.
        higher_is_better: whether higher values are better.
        binary: whether every value is 0 or 1; the mean is then a rate with a Wilson interval.
        judge: the judge whose verdict ``compute`` reads in ``sample.verdicts``; None if it needs no judge.
        closed_book: whether ``compute`` reads ``sample.closed_book``.
        needs_all: whether ``compute`` depends on relevant documents that were not retrieved.
        of: what a value measures: the answer, the retrieval, or both.
        labels: which ``sample.labels`` the function can read: none, only labels 0 and 1, or any in ``0..1``.
        texts: function that returns the texts whose embeddings ``compute`` reads in ``sample.vectors``; None without
            any.
        needs: names of the scoring inputs that ``compute`` reads, except those that other attributes declare.
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
    needs: tuple[str, ...] = ()

    @property
    def reads_inputs(self) -> bool:
        """Whether ``compute`` reads anything in addition to the case and its answer."""
        if self.needs or self.closed_book or self.labels != "none":
            return True
        return self.judge is not None or self.texts is not None

    @property
    def judge_asked(self) -> Judge | None:
        """The judge whose model a value depends on; None if no model is asked."""
        return self.judge if getattr(self.judge, "needs_model", True) else None

    @property
    def downstream(self) -> bool:
        """Whether a value measures the quality of the system's answer, downstream of retrieval."""
        return self.of == "answer" and not self.closed_book
