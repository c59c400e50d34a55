"""Replies of a system to contexts: compare misses, and detect ignored passages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pytest_rageval.generation.relations.irrelevant_passage import content_words
from pytest_rageval.model.case import Instance

__all__ = ["IGNORES", "Reply", "ignores_passages", "misses_alike"]

IGNORES = (
    "its system ignores the passages it is given: it answers the same without them, and its ranking is not from them; "
    "let it use query.passages if there are any"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a system to a context.

    Attributes:
        missed: whether the case missed; None if unknown, because the system failed or there is no score.
        text: the answer.
        rejected: whether the answer is a rejection.
        ranking: ids of the passages in the answer's ranking; None if it has no ranking.
        replayed: whether the reply comes from recordings.
        problem: why ``missed`` is unknown; "" if it is known.
    """

    missed: bool | None
    text: str = ""
    rejected: bool = False
    ranking: tuple[str, ...] | None = None
    replayed: bool = False
    problem: str = ""


def misses_alike(instance: Instance, one: Reply, other: Reply) -> bool:
    """Return whether ``other`` misses in the same way as ``one``, which misses.

    Both are rejections, or both give the same wrong answer: ``other`` has at least half of the content words of ``one``
    that are neither in the question nor in the gold answer. Without such words, it is enough that neither rejects.
    So an answer that misses for lack of passages differs from one that a misleading passage causes.
    """
    if other.missed is not True or one.rejected != other.rejected:
        return False
    if one.rejected:
        return True
    expected_words = content_words(" ".join([instance.question, *(alias for slot in instance.gold for alias in slot)]))
    wrong_words = content_words(one.text) - expected_words
    return 2 * len(wrong_words & content_words(other.text)) >= len(wrong_words)


Context = tuple[Collection[str], Reply]
"""The ids of the supplied passages, and the reply."""


def ignores_passages(one: Context, other: Context, *, retrieves: bool) -> bool:
    """Return whether a system ignores supplied passages, judged by its replies to two different contexts.

    It does if the answers are equal and a ranking names a passage outside its context. Without any ranking, it does if
    the answers are equal, the system can retrieve, and it did not reject: two equal rejections prove nothing.

    Args:
        one: the first context.
        other: the second one.
        retrieves: whether the system retrieves by itself if no passages are supplied.
    """
    rankings = [(names, reply.ranking) for names, reply in (one, other) if reply.ranking is not None]
    foreign = any(not {*ranking} <= {*names} for names, ranking in rankings)
    return one[1].text == other[1].text and (foreign if rankings else retrieves and not one[1].rejected)
