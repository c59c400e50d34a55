"""Find the smallest context that makes a case miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from pytest_rageval.errors import SettingError
from pytest_rageval.generation.shrinking.ddmin import Minimal, NoMoreTestsError, ddmin, fewest_additions
from pytest_rageval.generation.shrinking.reply import IGNORES, Reply, ignores_passages, misses_alike
from pytest_rageval.generation.shrinking.shrink_result import ReducedPassage, ShrinkResult
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.text.language import has_chinese
from pytest_rageval.text.sentences import sentences

__all__ = ["Context", "smallest_context"]

Context = tuple[Passage, ...]
"""The passages of one request, in order."""

_Piece = tuple[int, int]
"""The index of a passage, and the index of one of its sentences."""

Ask = Callable[[Context, int], Reply]
"""(context, number of the repetition, from 1) -> reply; raises `NoMoreTestsError` after the last allowed request."""


def smallest_context(
    instance: Instance, seen: Sequence[Passage], ask: Ask, *, retrieves: bool, limit: int, confirm: int
) -> ShrinkResult:
    """Return the smallest context with which a case misses in the same way as before (see `misses_alike`).

    Args:
        instance: the record.
        seen: the passages that the system saw when it missed.
        ask: sends a request to the system.
        retrieves: whether the system retrieved them by itself.
        limit: maximum number of requests.
        confirm: number of requests with the smallest context.

    Raises:
        SettingError: the case does not miss with these passages, or the system ignores them.
    """
    requests, whole = _Requests(ask, max(limit - confirm + 1, 2)), tuple(seen)
    first = _check(requests, whole, retrieves=retrieves)
    requests.alike = partial(misses_alike, instance, first)
    passages = ddmin(whole, requests.misses)
    without = requests.count_right_without(whole, passages.items)
    pieces = [(at, number) for at, passage in enumerate(passages.items) for number in range(len(_pieces(passage)))]
    is_minimal, context = passages.is_minimal, _reduced(passages.items, pieces)
    if is_minimal and len(pieces) > len(passages.items):
        fewest = _fewest_pieces(passages.items, pieces, requests)
        is_minimal, context = fewest.is_minimal, _reduced(passages.items, fewest.items)
    smallest = _context(context)
    repeats = requests.repeat(smallest, confirm)
    context_ids = {passage.id for passage in smallest}
    gold = [each for each in instance.passages or () if each.role == "positive" and each.id not in context_ids]
    added = fewest_additions(gold, lambda part: requests.is_right((*part, *smallest))) or ()
    ids = tuple(passage.id for passage in gold)
    had_evidence = bool(added) and set(added) <= set(whole)
    return ShrinkResult(
        len(whole), context, is_minimal, without, ids, tuple(each.id for each in added), had_evidence, repeats,
        requests.calls, requests.replayed, requests.stopped,
    )  # fmt: skip


def _fewest_pieces(passages: Context, pieces: Sequence[_Piece], requests: _Requests) -> Minimal[_Piece]:
    """Return a minimal set of sentences: without any sentence or passage of it, the case no longer misses."""
    minimal = ddmin(pieces, lambda part: requests.misses(_context(_reduced(passages, part))))
    counts = Counter(at for at, _ in minimal.items)
    try:
        for at in counts if minimal.is_minimal and len(counts) > 1 else ():
            remaining = tuple(piece for piece in minimal.items if piece[0] != at)
            if counts[at] > 1 and requests.misses(_context(_reduced(passages, remaining))):
                return _fewest_pieces(passages, remaining, requests)
    except NoMoreTestsError:
        return Minimal(minimal.items, False)
    return minimal


def _check(requests: _Requests, whole: Context, *, retrieves: bool) -> Reply:
    """Return the reply to all passages; raise if the case does not miss, or the system ignores passages."""
    try:
        first, empty = requests.reply(whole), requests.reply(())
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


class _Requests:
    """Sends each context to the system once, up to a maximum number of requests."""

    def __init__(self, ask: Ask, limit: int) -> None:
        self._ask = ask
        self._limit = limit
        self._replies: dict[Context, Reply] = {}
        self.alike: Callable[[Reply], bool] = lambda reply: reply.missed is True
        self.calls = 0
        self.replayed = 0
        self.stopped = ""

    def misses(self, context: Context) -> bool:
        """Return whether the case misses with a context in the same way as at first."""
        return self.alike(self.reply(context))

    def is_right(self, context: Context) -> bool:
        """Return whether the case is right with a context."""
        return self.reply(context).missed is False

    def reply(self, context: Context) -> Reply:
        """Return the reply of the system; raise `NoMoreTestsError` after the last allowed request."""
        if context not in self._replies:
            if self.calls >= self._limit:
                self.stopped = self.stopped or f"{self.calls} calls"
                raise NoMoreTestsError(self.stopped)
            self._replies[context] = self._reply(context, 1)
        return self._replies[context]

    def repeat(self, context: Context, times: int) -> tuple[int, int]:
        """Return the number of requests with a context, up to ``times``, and how often the case missed."""
        replies = [self._replies[context]]
        with suppress(NoMoreTestsError):
            replies += [self._reply(context, number) for number in range(2, times + 1)]
        return len(replies), sum(map(self.alike, replies))

    def count_right_without(self, whole: Context, passages: Context) -> tuple[int, int]:
        """Count the tested contexts that lack one of ``passages``, and those of them answered right.

        All other passages together are tested, too. Contexts without evidence count only if no context has evidence.
        """
        with suppress(NoMoreTestsError):
            self.reply(tuple(passage for passage in whole if passage not in passages))
        useful = {context for context in self._replies if any(each.role == "positive" for each in context)}
        eligible = useful or self._replies.keys() - {()}
        lacking = [
            self._replies[context]
            for context in self._replies
            if context in eligible and not set(passages) <= set(context)
        ]
        return len(lacking), sum(reply.missed is False for reply in lacking)

    def _reply(self, context: Context, repeat: int) -> Reply:
        """Send a request and count it."""
        try:
            reply = self._ask(context, repeat)
        except NoMoreTestsError as error:
            self.stopped = self.stopped or str(error)
            raise
        self.calls += 1
        self.replayed += reply.replayed
        return reply


def _reduced(passages: Sequence[Passage], pieces: Sequence[_Piece]) -> tuple[ReducedPassage, ...]:
    """Return the passages reduced to some sentences, without passages that have none left."""
    reduced = []
    for at, passage in enumerate(passages):
        all_sentences = _pieces(passage)
        numbers = [number for place, number in pieces if place == at]
        if numbers:
            whole = len(numbers) == len(all_sentences)
            text = passage.text if whole else _join([all_sentences[number] for number in numbers])
            reduced.append(
                ReducedPassage(replace(passage, text=text), tuple(number + 1 for number in numbers), len(all_sentences))
            )
    return tuple(reduced)


def _context(passages: Sequence[ReducedPassage]) -> Context:
    return tuple(each.passage for each in passages)


def _pieces(passage: Passage) -> list[str]:
    return sentences(passage.text) or [passage.text]


def _join(texts: list[str]) -> str:
    return ("" if has_chinese(texts[0]) else " ").join(text.strip() for text in texts)
