"""The result of a search for the smallest context that breaks a case."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.model.case import Passage, Turn

__all__ = ["ReducedPassage", "ShrinkResult"]


@dataclass(frozen=True, slots=True)
class ReducedPassage:
    """A passage of the smallest context.

    Attributes:
        passage: the passage with only the necessary sentences.
        sentence_numbers: the numbers of these sentences in the whole passage, from 1.
        n_sentences: number of sentences in the whole passage.
    """

    passage: Passage
    sentence_numbers: tuple[int, ...]
    n_sentences: int


@dataclass(frozen=True, slots=True)
class ShrinkResult:
    """The smallest context of a case and the evidence that it lacks.

    Attributes:
        n_seen: number of passages that the system saw.
        context: the smallest context; () if the case misses without any passage.
        is_minimal: whether removing any one passage or sentence makes the case right.
        without: number of tested contexts without some passage of the smallest one, and how many of them were right.
        gold: ids of the positive passages that the smallest context lacks.
        added: ids of the fewest passages of ``gold`` whose addition makes the case right; () if no addition does.
        had_evidence: whether the system saw all of ``added`` when the case missed.
        repeats: number of requests with the smallest context, and how often the case missed.
        calls: number of requests.
        replayed: number of requests with a reply from recordings.
        stopped: why the search ended early; "" if it did not.
        history: the earlier turns of each request.
    """

    n_seen: int
    context: tuple[ReducedPassage, ...]
    is_minimal: bool
    without: tuple[int, int]
    gold: tuple[str, ...]
    added: tuple[str, ...]
    had_evidence: bool
    repeats: tuple[int, int]
    calls: int
    replayed: int
    stopped: str = ""
    history: tuple[Turn, ...] = ()

    @property
    def is_flaky(self) -> bool:
        """Whether the case was sometimes right with the smallest context."""
        return self.repeats[0] != self.repeats[1]
