"""The smallest context that breaks a case, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rageval.model.case import Passage, Turn

__all__ = ["Kept", "Shrunk"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A passage of the smallest context.

    Attributes:
        passage: the passage with the sentences that are left.
        places: the numbers of these sentences in the whole passage, from 1.
        of: number of sentences of the whole passage.
    """

    passage: Passage
    places: tuple[int, ...]
    of: int


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What came of a search for the smallest context.

    Attributes:
        seen: number of passages that the system saw.
        kept: the smallest context; () if the case misses without any passage.
        is_minimal: whether leaving out any one passage or sentence makes the case right.
        without: number of contexts that lack a passage of the smallest one, and how many of them were right.
        gold: ids of the positive passages that the smallest context lacks.
        added: ids of the fewest of them whose addition makes the case right; () if no addition does.
        had_evidence: whether the system saw all of ``added`` when the case missed.
        repeats: number of times that the smallest context was asked, and how often the case missed.
        calls: number of requests.
        replayed: number of requests that recordings answered.
        stopped: why the search ended early, "" if it did not.
        history: the earlier turns of each request.
    """

    seen: int
    kept: tuple[Kept, ...]
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
        """Whether the case did not miss each time with the smallest context."""
        return self.repeats[0] != self.repeats[1]
