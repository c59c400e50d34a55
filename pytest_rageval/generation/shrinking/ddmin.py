"""Delta debugging: the smallest part of a sequence that still breaks something, and the fewest additions that help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Generic, TypeVar

__all__ = ["Minimal", "NoMoreTestsError", "ddmin", "fewest_additions"]

T = TypeVar("T")

Test = Callable[[tuple[T, ...]], bool]
"""Returns whether a part breaks (for `ddmin`) or helps (for `fewest_additions`)."""


class NoMoreTestsError(Exception):
    """Raised by a test that cannot be made any more; the search ends with what it has."""


@dataclass(frozen=True, slots=True)
class Minimal(Generic[T]):
    """The result of `ddmin`.

    Attributes:
        items: a part that breaks, in the order of the whole.
        is_minimal: whether leaving out any one item makes it hold; False if the search ended early.
    """

    items: tuple[T, ...]
    is_minimal: bool


def ddmin(items: Sequence[T], breaks: Test[T]) -> Minimal[T]:
    """Return a smallest part of ``items`` that breaks: 1-minimal, so leaving out any one item makes it hold.

    The same items and the same test always give the same part. Each part is tested once.

    Args:
        items: the whole, which breaks.
        breaks: returns whether a part breaks; it may raise `NoMoreTestsError` to end the search.

    Raises:
        ValueError: the whole does not break.

    Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002, `ddmin`. In addition the
    empty part is tested first: if it breaks, the items do not matter.
    """
    known: dict[tuple[int, ...], bool] = {}

    def test(part: tuple[int, ...]) -> bool:
        if part not in known:
            known[part] = breaks(tuple(items[at] for at in part))
        return known[part]

    left = tuple(range(len(items)))
    try:
        if not test(left):
            raise ValueError("the whole does not break, so no part of it is a smallest one that does")
        if left and test(()):
            left = ()
        chunks = 2
        while len(left) > 1:
            smaller = next((part for part in _parts(left, chunks) if test(part)), None)
            if smaller is None:
                if chunks == len(left):
                    break
                chunks = min(len(left), 2 * chunks)
            else:
                chunks = 2 if len(smaller) <= -(-len(left) // chunks) else max(chunks - 1, 2)
                left = smaller
    except NoMoreTestsError:
        held = {part for part, broke in known.items() if broke}
        left = min(held, key=len) if held else left
        return Minimal(tuple(items[at] for at in left), False)
    return Minimal(tuple(items[at] for at in left), True)


def fewest_additions(items: Sequence[T], helps: Test[T]) -> tuple[T, ...] | None:
    """Return the fewest items whose addition helps, the first such part in order; None if no part does.

    Args:
        items: what may be added; 10 items have 1,023 parts.
        helps: returns whether a part helps; it may raise `NoMoreTestsError` to end the search, and then nothing helps.
    """
    try:
        return next((part for part in _additions(items) if helps(part)), None)
    except NoMoreTestsError:
        return None


def _additions(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    for count in range(1, len(items) + 1):
        yield from combinations(items, count)


def _parts(left: tuple[int, ...], chunks: int) -> Iterator[tuple[int, ...]]:
    """Yield each chunk alone, then the rest without each chunk."""
    bounds = [len(left) * at // chunks for at in range(chunks + 1)]
    cuts = list(pairwise(bounds))
    yield from (left[begin:end] for begin, end in cuts)
    if chunks > 2:
        yield from (left[:begin] + left[end:] for begin, end in cuts)
