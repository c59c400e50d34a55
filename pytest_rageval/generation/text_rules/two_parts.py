"""Integration questions: two extractive questions of different documents, joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256

from pytest_rageval.generation.draft import Draft
from pytest_rageval.generation.plan import INTEGRATION
from pytest_rageval.metrics.shared.matching import occurrences

__all__ = ["two_parts"]

LONGEST = 130
"""The most characters of each question."""

LOOKED_AT = 20
"""How many waiting questions are tried as the first of a pair; it keeps the time linear."""


def two_parts(drafts: Iterable[Draft], seed: int) -> Iterator[Draft]:
    """Yield a draft of two slots for pairs of extractive drafts of one topic and language, each used once.

    Args:
        drafts: extractive drafts of one source each; dropped ones are left out.
        seed: decides the order in which they pair.
    """
    topics: dict[tuple[str, str], list[Draft]] = {}
    for draft in drafts:
        if draft.state == "waiting" and len(draft.question) <= LONGEST:
            topics.setdefault((draft.topic, draft.language), []).append(draft)
    for members in topics.values():
        waiting: list[Draft] = []
        for draft in sorted(members, key=lambda each: _rank(seed, each.id)):
            nearest = enumerate(waiting[:LOOKED_AT])
            place = next((at for at, other in nearest if _differ(draft, other)), None)
            if place is None:
                waiting.append(draft)
            else:
                yield _joined(waiting.pop(place), draft)


def _rank(seed: int, name: str) -> bytes:
    return sha256(f"{seed}\n{name}".encode("utf-8", "surrogatepass")).digest()


def _differ(one: Draft, other: Draft) -> bool:
    pages = [draft.sources[0].page or draft.sources[0].id for draft in (one, other)]
    return pages[0] != pages[1] and not any(
        _holds(each.question, alias) or _holds(each.sources[0].text, alias)
        for each, answered in ((one, other), (other, one))
        for alias in answered.gold[0]
    )


def _holds(text: str, alias: str) -> bool:
    return alias in text and next(occurrences(text, alias), None) is not None


def _joined(one: Draft, other: Draft) -> Draft:
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
