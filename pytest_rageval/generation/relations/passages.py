"""Relations on supplied passages: shuffle them, drop one, duplicate one."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_rageval.generation.relations.records import Records
from pytest_rageval.generation.relations.relation import Relation
from pytest_rageval.model.case import Case, Passage

__all__ = ["DROP_IRRELEVANT", "DUPLICATE_PASSAGE", "PASSAGE_ORDER", "inserted", "is_without"]

COPY = "#2"
"""Suffix of the id of a duplicate passage."""

_MAX_PERMUTED = 6
"""Up to this many passages, enough shuffles are drawn to reach all orders."""


def _shuffle(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
    """Yield the case with its passages in random orders."""
    passages = list(case.supplied or ())
    if len({(p.id, p.text) for p in passages}) < 2:
        return
    for _ in range(20 * math.factorial(min(len(passages), _MAX_PERMUTED))):
        chance.shuffle(passages)
        yield replace(case, supplied=tuple(passages))


def _same_passages(original: Case, each: Case) -> bool:
    return original.instance == each.instance and Counter(original.supplied or ()) == Counter(each.supplied or ())


def _drop_negative(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
    """Yield the case without one negative passage, in random order."""
    passages = case.supplied or ()
    negative_positions = [at for at, passage in enumerate(passages) if passage.role == "negative"]
    chance.shuffle(negative_positions)
    if len(passages) > 1:
        yield from (replace(case, supplied=passages[:at] + passages[at + 1 :]) for at in negative_positions)


def _without_a_negative(original: Case, each: Case) -> bool:
    removed = _missing_passages(original, each)
    return bool(removed) and removed[0].role == "negative" and is_without(original, each, removed)


def _duplicate(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
    """Yield the case with a copy of a random passage at a random position."""
    passages = case.supplied or ()
    ids = {passage.id for passage in passages}
    copies = [replace(passage, id=passage.id + COPY) for passage in passages if passage.id + COPY not in ids]
    while copies:
        yield inserted(case, chance.choice(copies), chance.randrange(len(passages) + 1))


def _with_a_copy(original: Case, each: Case) -> bool:
    added = _missing_passages(each, original)
    texts = {(p.text, p.title, p.role) for p in original.supplied or ()}
    return is_without(each, original, added) and all((p.text, p.title, p.role) in texts for p in added)


def inserted(case: Case, passage: Passage, place: int) -> Case:
    """Return the case with a passage inserted at index ``place``."""
    passages = case.supplied or ()
    return replace(case, supplied=(*passages[:place], passage, *passages[place:]))


def is_without(whole: Case, part: Case, left_out: Sequence[Passage]) -> bool:
    """Return whether ``part`` is ``whole`` without exactly one passage of ``left_out``, in the same order."""
    passages = whole.supplied or ()
    shorter_contexts = [
        passages[:at] + passages[at + 1 :] for at, passage in enumerate(passages) if passage in left_out
    ]
    return part.instance == whole.instance and part.supplied in shorter_contexts


def _missing_passages(whole: Case, part: Case) -> list[Passage]:
    """Return the passages of ``whole`` that ``part`` lacks."""
    return list(Counter(whole.supplied or ()) - Counter(part.supplied or ()))


PASSAGE_ORDER = Relation("passage_order", "passages", "same", _shuffle, _same_passages)
DROP_IRRELEVANT = Relation("drop_irrelevant", "passages", "same", _drop_negative, _without_a_negative)
DUPLICATE_PASSAGE = Relation("duplicate_passage", "passages", "same", _duplicate, _with_a_copy)
