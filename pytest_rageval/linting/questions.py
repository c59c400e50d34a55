"""Questions that stand twice, and questions that nearly do, in time that grows with their number and not its square."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from pytest_rageval.errors import found
from pytest_rageval.linting.finding import Finding, about
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Instance
from pytest_rageval.text.language import has_chinese

__all__ = ["duplicate_question", "near_duplicate_question"]

NEAR = 0.8
"""The share of shingles from which on two questions are nearly the same (Jaccard)."""

SHARED = 3
"""So many of their rarest shingles two questions must have in common to be compared."""

LONGEST_POSTING, COMPARED = 200, 5
"""So many questions are found by one shingle, and so many compared, those that share most: the time is linear."""

Key = tuple[str, ...]

_NUMBER = re.compile(r"\d+")


def duplicate_question(subject: Subject) -> Iterator[Finding]:
    """Find questions that are the same as another's but for case, width, spaces and the mark at their end.

    A turn of a conversation is the same where all turns before it are, too.
    """
    first: dict[Key, Instance] = {}
    for instance in _in_order(subject.instances):
        other = first.setdefault(_key(instance), instance)
        if other is not instance:
            yield about(instance, "duplicate_question", "warning", f"the question is that {_of(other, instance)}")


def near_duplicate_question(subject: Subject) -> Iterator[Finding]:
    """Find questions that share at least 0.8 of their shingles (Jaccard) with another, and all of their numbers.

    Shingles are three characters, two in Chinese. Of two such questions, the n - ceil(0.8 n) + 3 rarest of each one's n
    shingles have three in common (Wang et al., SIGMOD 2012, "Can we beat the prefix filtering?"). By these a question
    is looked up, and compared with the first of those that have most of them in common; one that is found is not
    looked for in its turn. Turns that follow others in a conversation are not compared.
    """
    alone = {_key(each): each for each in reversed(_in_order(subject.instances)) if not each.history}
    shingled = [(each, _shingles(key[-1])) for key, each in reversed(alone.items())]
    frequency = Counter(shingle for _, shingles in shingled for shingle in shingles)
    index: dict[str, list[int]] = defaultdict(list)
    for number, (instance, shingles) in enumerate(shingled):
        ranked = sorted(shingles, key=lambda shingle: (frequency[shingle], shingle))
        rarest = ranked[: len(ranked) - math.ceil(NEAR * len(ranked)) + SHARED]
        shared = Counter(chain.from_iterable(index[shingle] for shingle in rarest))
        most = max(shared.values(), default=0)
        candidates = [other for other, count in shared.items() if count == most >= SHARED][:COMPARED]
        like = next((other for other in candidates if _alike(shingles, shingled[other][1])), None)
        if like is not None:
            other = shingled[like][0]
            problem = f"the question is nearly that {_of(other, instance)}: {found(other.question)}"
            yield about(instance, "near_duplicate_question", "note", problem)
            continue
        for shingle in rarest:
            if len(index[shingle]) < LONGEST_POSTING:
                index[shingle].append(number)


def _in_order(instances: Iterable[Instance]) -> list[Instance]:
    """Return the records by their ids, as what is first of two must not hang on the order of the file."""
    return sorted(instances, key=lambda each: (len(each.id), each.id, each.origin, each.gold))


def _key(instance: Instance) -> Key:
    """Return the questions of a conversation up to this one, folded, without the marks at their ends."""
    asked = [*(turn.question for turn in instance.history), instance.question]
    return tuple(fold(question).rstrip("?!.。 ") for question in asked)


def _of(other: Instance, instance: Instance) -> str:
    gold = "the same gold" if _folded(other) == _folded(instance) else "another gold"
    return f"of {found(other.id)} at {other.origin or 'another record'}, with {gold}"


def _folded(instance: Instance) -> list[list[str]]:
    return [sorted(map(fold, slot)) for slot in instance.gold]


def _shingles(question: str) -> frozenset[str]:
    """Return the shingles, each with the numbers of the question, so that those of other numbers share none."""
    size = 2 if has_chinese(question) else 3
    numbers = " ".join(sorted(_NUMBER.findall(question)))
    return frozenset(f"{question[at : at + size]}|{numbers}" for at in range(max(len(question) - size + 1, 1)))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= NEAR * (len(one) + len(other) - shared)
