"""Delta debugging: find a minimal part of a sequence that breaks a test."""

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
    """Raised by a test after its last allowed run; the search then ends with its best result."""


@dataclass(frozen=True, slots=True)
class Minimal(Generic[T]):
    """The result of `ddmin`.

    Attributes:
        items: a part that breaks, in the order of the whole.
        is_minimal: whether it stops breaking without any one item; False if the search ended early.
    """

    items: tuple[T, ...]
    is_minimal: bool


def ddmin(items: Sequence[T], breaks: Test[T]) -> Minimal[T]:
    """Return a 1-minimal part of ``items`` that breaks: without any one of its items it does not break.

    The result is deterministic. Each part is tested once.

    Args:
        items: the whole, which breaks.
        breaks: returns whether a part breaks; it may raise `NoMoreTestsError` to end the search.

    Raises:
        ValueError: the whole does not break.

    Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002, `ddmin`. In addition the
    empty part is tested first: if it breaks, the items do not matter.
    """
    results: dict[tuple[int, ...], bool] = {}

    def test(part: tuple[int, ...]) -> bool:
        if part not in results:
            results[part] = breaks(tuple(items[at] for at in part))
        return results[part]

    current = tuple(range(len(items)))
    try:
        if not test(current):
            raise ValueError("the whole does not break, so no part of it is a smallest one that does")
        if current and test(()):
            current = ()
        chunks = 2
        while len(current) > 1:
            smaller = next((part for part in _parts(current, chunks) if test(part)), None)
            if smaller is None:
                if chunks == len(current):
                    break
                chunks = min(len(current), 2 * chunks)
            else:
                chunks = 2 if len(smaller) <= -(-len(current) // chunks) else max(chunks - 1, 2)
                current = smaller
    except NoMoreTestsError:
        breaking_parts = {part for part, broke in results.items() if broke}
        current = min(breaking_parts, key=len) if breaking_parts else current
        return Minimal(tuple(items[at] for at in current), False)
    return Minimal(tuple(items[at] for at in current), True)


def fewest_additions(items: Sequence[T], helps: Test[T]) -> tuple[T, ...] | None:
    """Return the smallest part whose addition helps, the first in order; None if no part helps.

    Args:
        items: the items to add; 10 items have 1,023 parts.
        helps: returns whether a part helps; it may raise `NoMoreTestsError` to end the search with None.
    """
    try:
        return next((part for part in _additions(items) if helps(part)), None)
    except NoMoreTestsError:
        return None


def _additions(items: Sequence[T]) -> Iterator[tuple[T, ...]]:
    for count in range(1, len(items) + 1):
        yield from combinations(items, count)


def _parts(items: tuple[int, ...], chunks: int) -> Iterator[tuple[int, ...]]:
    """Yield each chunk, then ``left`` without each chunk."""
    bounds = [len(items) * at // chunks for at in range(chunks + 1)]
    cuts = list(pairwise(bounds))
    yield from (items[begin:end] for begin, end in cuts)
    if chunks > 2:
        yield from (items[:begin] + items[end:] for begin, end in cuts)
