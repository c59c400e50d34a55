"""Search for the smallest context that breaks a case: passages, then sentences, then the evidence that it lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from pytest_rageval.errors import SettingError
from pytest_rageval.generation.shrinking.ddmin import Minimal, NoMoreTestsError, ddmin, fewest_additions
from pytest_rageval.generation.shrinking.reply import IGNORES, Reply, ignores_passages, misses_alike
from pytest_rageval.generation.shrinking.shrunk import Kept, Shrunk
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.sentences import sentences

__all__ = ["Context", "smallest_context"]

Context = tuple[Passage, ...]
"""The passages of one request, in order."""

_Piece = tuple[int, int]
"""The place of a passage, and the number of one of its sentences, from 0."""

Ask = Callable[[Context, int], Reply]
"""Answers a case with a context, in the repetition of a number from 1; raises `NoMoreTestsError` if it cannot."""


def smallest_context(
    instance: Instance, seen: Sequence[Passage], ask: Ask, *, retrieves: bool, most: int, confirm: int
) -> Shrunk:
    """Return the smallest context with which a case misses in the way it does with all that the system saw.

    See `misses_alike` for the way.

    Args:
        instance: the record.
        seen: the passages that the system saw when it missed.
        ask: asks the system.
        retrieves: whether the system retrieved them for itself.
        most: the largest number of requests.
        confirm: number of times to ask the smallest context.

    Raises:
        SettingError: the case does not miss with these passages, or the system ignores them.
    """
    asking, whole = _Asking(ask, max(most - confirm + 1, 2)), tuple(seen)
    first = _check(asking, whole, retrieves=retrieves)
    asking.alike = partial(misses_alike, instance, first)
    passages = ddmin(whole, asking.misses)
    without = asking.without(whole, passages.items)
    pieces = [(at, number) for at, passage in enumerate(passages.items) for number in range(len(_pieces(passage)))]
    is_minimal, kept = passages.is_minimal, _kept(passages.items, pieces)
    if is_minimal and len(pieces) > len(passages.items):
        parts = _fewest_pieces(passages.items, pieces, asking)
        is_minimal, kept = parts.is_minimal, _kept(passages.items, parts.items)
    smallest = _context(kept)
    repeats = asking.repeat(smallest, confirm)
    held = {passage.id for passage in smallest}
    gold = [each for each in instance.passages or () if each.role == "positive" and each.id not in held]
    added = fewest_additions(gold, lambda part: asking.is_right((*part, *smallest))) or ()
    ids = tuple(passage.id for passage in gold)
    had_evidence = bool(added) and set(added) <= set(whole)
    return Shrunk(
        len(whole), kept, is_minimal, without, ids, tuple(each.id for each in added), had_evidence, repeats,
        asking.calls, asking.replayed, asking.stopped,
    )  # fmt: skip


def _fewest_pieces(passages: Context, pieces: Sequence[_Piece], asking: _Asking) -> Minimal[_Piece]:
    """Return the fewest sentences with which the case misses, so that no sentence and no passage can be left out."""
    found = ddmin(pieces, lambda part: asking.misses(_context(_kept(passages, part))))
    places = Counter(at for at, _ in found.items)
    try:
        for at in places if found.is_minimal and len(places) > 1 else ():
            rest = tuple(piece for piece in found.items if piece[0] != at)
            if places[at] > 1 and asking.misses(_context(_kept(passages, rest))):
                return _fewest_pieces(passages, rest, asking)
    except NoMoreTestsError:
        return Minimal(found.items, False)
    return found


def _check(asking: _Asking, whole: Context, *, retrieves: bool) -> Reply:
    """Return the reply to all passages; refuse a case that does not miss, and a system that ignores passages."""
    try:
        first, empty = asking.reply(whole), asking.reply(())
    except NoMoreTestsError as error:
        raise SettingError(f"it was not asked: {error}") from None
    if first.missed is None:
        raise SettingError(f"it cannot be asked again: {first.problem}")
    if not first.missed:
        again = "with the passages that the system retrieved" if retrieves else "now"
        raise SettingError(f"it is right {again}, so there is nothing to shrink")
    names = {passage.id for passage in whole}
    if whole and ignores_passages((names, first), ((), empty), retrieves=retrieves):
        raise SettingError(IGNORES)
    return first


class _Asking:
    """Asks each context once, up to a number of requests."""

    def __init__(self, ask: Ask, most: int) -> None:
        self._ask = ask
        self._most = most
        self._known: dict[Context, Reply] = {}
        self.alike: Callable[[Reply], bool] = lambda reply: reply.missed is True
        self.calls = 0
        self.replayed = 0
        self.stopped = ""

    def misses(self, context: Context) -> bool:
        """Return whether the case misses with a context as it missed first."""
        return self.alike(self.reply(context))

    def is_right(self, context: Context) -> bool:
        """Return whether the case does not miss with a context."""
        return self.reply(context).missed is False

    def reply(self, context: Context) -> Reply:
        """Return how the system answers; raise `NoMoreTestsError` after the last request."""
        if context not in self._known:
            if self.calls >= self._most:
                self.stopped = self.stopped or f"{self.calls} calls"
                raise NoMoreTestsError(self.stopped)
            self._known[context] = self._reply(context, 1)
        return self._known[context]

    def repeat(self, context: Context, times: int) -> tuple[int, int]:
        """Return how often a context was asked, up to ``times`` times, and how often the case missed."""
        replies = [self._known[context]]
        with suppress(NoMoreTestsError):
            replies += [self._reply(context, number) for number in range(2, times + 1)]
        return len(replies), sum(map(self.alike, replies))

    def without(self, whole: Context, passages: Context) -> tuple[int, int]:
        """Return the number of contexts that lack one of ``passages``, and how many of them were right.

        These are the contexts so far, and all other passages together. A context without evidence does not count if
        the record has any.
        """
        with suppress(NoMoreTestsError):
            self.reply(tuple(passage for passage in whole if passage not in passages))
        useful = {context for context in self._known if any(each.role == "positive" for each in context)}
        counted = useful or self._known.keys() - {()}
        lacking = [
            self._known[context] for context in self._known if context in counted and not set(passages) <= set(context)
        ]
        return len(lacking), sum(reply.missed is False for reply in lacking)

    def _reply(self, context: Context, repeat: int) -> Reply:
        try:
            reply = self._ask(context, repeat)
        except NoMoreTestsError as error:
            self.stopped = self.stopped or str(error)
            raise
        self.calls += 1
        self.replayed += reply.replayed
        return reply


def _kept(passages: Sequence[Passage], pieces: Sequence[_Piece]) -> tuple[Kept, ...]:
    """Return the passages with these sentences of theirs, without those that have none left."""
    kept = []
    for at, passage in enumerate(passages):
        every = _pieces(passage)
        numbers = [number for place, number in pieces if place == at]
        if numbers:
            whole = len(numbers) == len(every)
            text = passage.text if whole else _joined([every[number] for number in numbers])
            kept.append(Kept(replace(passage, text=text), tuple(number + 1 for number in numbers), len(every)))
    return tuple(kept)


def _context(kept: Sequence[Kept]) -> Context:
    return tuple(each.passage for each in kept)


def _pieces(passage: Passage) -> list[str]:
    return sentences(passage.text) or [passage.text]


def _joined(texts: list[str]) -> str:
    return ("" if has_chinese(texts[0]) else " ").join(text.strip() for text in texts)
