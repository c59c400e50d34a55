"""Format the smallest contexts that break cases, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_rageval.errors import ascii_safe
from pytest_rageval.generation.shrinking.shrink_result import ReducedPassage, ShrinkResult
from pytest_rageval.report.text.lines import counted

__all__ = ["shrunk_lines"]

MAX_QUOTE = 80
"""Characters to quote of a passage."""

_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def shrunk_lines(results: Mapping[str, ShrinkResult | str], *, texts: bool) -> Iterator[str]:
    """Yield two lines for each case: its smallest context, and what makes it right.

    Args:
        results: name of a case -> its smallest context, or why there is none.
        texts: whether to quote passages.
    """
    yield "smallest contexts that break a case"
    width = max(map(len, map(ascii_safe, results)), default=0)
    for name, result in results.items():
        head = f"{ascii_safe(name):{width}}   "
        if isinstance(result, str):
            yield f"{head}not shrunk: {ascii_safe(result)}"
            continue
        yield head + "   ".join(part for part in (_context_text(result, texts=texts), _calls(result)) if part)
        yield " " * len(head) + "; ".join(_remedies(result))


def _context_text(result: ShrinkResult, *, texts: bool) -> str:
    """Return ``8 passages -> 1, 2nd of 3 sentences: p4``, also with quotes of the passages."""
    count = counted(result.n_seen, "passage")
    if not result.context:
        return f"{count} -> 0: it misses without any passage"
    parts = [_part(each, texts=texts) for each in result.context]
    places = {_place(each) for each in result.context if len(each.sentence_numbers) < each.n_sentences}
    place = f", {places.pop()}" if len(result.context) == 1 and places else ""
    return f"{count} -> {len(result.context)}{place}: {', '.join(parts)}"


def _part(part: ReducedPassage, *, texts: bool) -> str:
    name = ascii_safe(part.passage.id)
    return f"{name} {_quoted(part.passage.text)}" if texts else name


def _quoted(text: str) -> str:
    shown = ascii_safe(" ".join(text.split()))
    return f'"{shown if len(shown) <= MAX_QUOTE else shown[: MAX_QUOTE - 3] + "..."}"'


def _place(part: ReducedPassage) -> str:
    if len(part.sentence_numbers) == 1:
        (number,) = part.sentence_numbers
        ending = "th" if 10 < number % 100 < 14 else _ORDINALS.get(number % 10, "th")
        return f"{number}{ending} of {part.n_sentences} sentences"
    return f"{len(part.sentence_numbers)} of {part.n_sentences} sentences"


def _calls(result: ShrinkResult) -> str:
    replayed = f", {result.replayed} replayed" if result.replayed else ""
    return counted(result.calls, "call") + replayed


def _remedies(result: ShrinkResult) -> Iterator[str]:
    """Yield whether the case is flaky, what makes it right, and why the search ended early."""
    requests, missed = result.repeats
    if result.is_flaky:
        yield f"flaky: {missed} of {requests}"
    if result.context:
        names = " or ".join(ascii_safe(each.passage.id) for each in result.context)
        contexts, right = result.without
        if contexts:
            share = "all" if right == contexts > 1 else f"{right} of"
            yield f"without {names} right in {share} {counted(contexts, 'context')}"
    yield from _evidence_texts(result)
    if result.stopped:
        yield f"stopped: {ascii_safe(result.stopped)}" + ("" if result.is_minimal else "; a smaller one may exist")


def _evidence_texts(result: ShrinkResult) -> Iterator[str]:
    """Yield whether the case is right if evidence is added to the context."""
    context = [ascii_safe(each.passage.id) for each in result.context]
    if result.added:
        added = [ascii_safe(each) for each in result.added]
        why = (
            "the system saw that, and more passages together break it" if result.had_evidence else "evidence is missing"
        )
        yield f"right with {' + '.join([*added, *context])}: {why}"
    elif result.gold and not result.stopped:
        gold = [ascii_safe(each) for each in result.gold]
        if not context:
            why = ": the context does not break it"
        else:  # a system that is never right says nothing about a passage
            why = ": the context, not its absence, breaks it" if result.without[1] else ""
        yield f"with {' + '.join([*gold, *context])} wrong{why}"
    elif not context:
        yield "the context does not break it"
    elif not result.gold and any(each.passage.role == "positive" for each in result.context):
        yield "it misses with all its evidence: the context does not break it"
