"""Join pairs of extractive questions from different documents into integration questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.plan import INTEGRATION
from pytest_rageval.metrics.shared.matching import occurrences

__all__ = ["two_parts"]

MAX_CHARACTERS = 130
"""Longest question that is joined with another."""

MAX_CANDIDATES = 20
"""How many earlier questions are tried as partner of a question; the limit keeps the time linear."""


def two_parts(drafts: Iterable[Draft], seed: int) -> Iterator[Draft]:
    """Join pairs of extractive drafts with the same topic and language; yield a draft with two slots for each pair.

    A draft belongs to at most one pair.

    Args:
        drafts: extractive drafts, each with one source; dropped drafts are ignored.
        seed: decides which drafts form a pair.
    """
    topics: dict[tuple[str, str], list[Draft]] = {}
    for draft in drafts:
        if draft.state == "waiting" and len(draft.question) <= MAX_CHARACTERS:
            topics.setdefault((draft.topic, draft.language), []).append(draft)
    for members in topics.values():
        waiting: list[Draft] = []
        for draft in sorted(members, key=lambda each: _rank(seed, each.id)):
            candidates = enumerate(waiting[:MAX_CANDIDATES])
            place = next((at for at, other in candidates if _are_independent(draft, other)), None)
            if place is None:
                waiting.append(draft)
            else:
                yield _join(waiting.pop(place), draft)


def _rank(seed: int, name: str) -> bytes:
    return sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).digest()


def _are_independent(one: Draft, other: Draft) -> bool:
    """Return whether two drafts have different pages, and neither question or source contains the other's answer."""
    pages = [draft.sources[0].page or draft.sources[0].id for draft in (one, other)]
    return pages[0] != pages[1] and not any(
        _contains(draft.question, alias) or _contains(draft.sources[0].text, alias)
        for draft, partner in ((one, other), (other, one))
        for alias in partner.gold[0]
    )


def _contains(text: str, alias: str) -> bool:
    return alias in text and next(occurrences(text, alias), None) is not None


def _join(one: Draft, other: Draft) -> Draft:
    first, second = one.question, other.question
    question = (  # numbered in words: a digit may be an answer
        f"回答两个问题。第一问：{first}第二问：{second}"
        if one.language == "zh"
        else f"Answer both questions. First: {first} Second: {second}"
    )
    sources = tuple(replace(draft.sources[0], group=at) for at, draft in enumerate((one, other)))
    return replace(
        one,
        question=question,
        gold=(*one.gold, *other.gold),
        task=INTEGRATION,
        origin="two parts",
        sources=sources,
        evidence=(*one.evidence, *other.evidence),
        passages=tuple(replace(source, role="positive") for source in sources),
    )
