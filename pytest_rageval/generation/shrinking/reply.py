"""How a system answered with a context, and whether two answers miss in the same way."""

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
    """How a system answered with a context.

    Attributes:
        missed: whether the case missed; None if that is unknown, because the system failed or nothing was scored.
        text: the answer.
        rejected: whether the answer is a rejection.
        ranking: ids of the passages that the answer reports; None if it reports none.
        replayed: whether recordings answered.
        problem: why ``missed`` is unknown; "" if it is known.
    """

    missed: bool | None
    text: str = ""
    rejected: bool = False
    ranking: tuple[str, ...] | None = None
    replayed: bool = False
    problem: str = ""


def misses_alike(instance: Instance, one: Reply, other: Reply) -> bool:
    """Return whether a case misses with ``other`` in the way of ``one``, which misses.

    Both are rejections, or both say the same wrong thing: ``other`` has at least half of the content words of ``one``
    that are neither in the question nor in the gold answer. Without such words, it is enough that neither rejects.
    An answer that is only missing, as no passage is there, is therefore not the wrong answer of a misleading passage.
    """
    if other.missed is not True or one.rejected != other.rejected:
        return False
    if one.rejected:
        return True
    known = content_words(" ".join([instance.question, *(alias for slot in instance.gold for alias in slot)]))
    said = content_words(one.text) - known
    return 2 * len(said & content_words(other.text)) >= len(said)


Context = tuple[Collection[str], Reply]
"""The ids of the passages that a system was given, and its reply."""


def ignores_passages(one: Context, other: Context, *, retrieves: bool) -> bool:
    """Return whether a system ignores the passages it is given, by its replies to two different contexts.

    The answers are the same. If a ranking was reported, one names a passage that its context does not have; without
    any ranking, the system retrieves for itself and did not decline: the same rejection twice says nothing.

    Args:
        one: the first context.
        other: the second one.
        retrieves: whether the system retrieves for itself where it is given nothing.
    """
    rankings = [(names, reply.ranking) for names, reply in (one, other) if reply.ranking is not None]
    foreign = any(not {*ranking} <= {*names} for names, ranking in rankings)
    return one[1].text == other[1].text and (foreign if rankings else retrieves and not one[1].rejected)
