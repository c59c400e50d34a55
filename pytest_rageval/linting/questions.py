"""Checks of questions: duplicates and near duplicates, in linear time."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from pytest_rageval.errors import short_repr
from pytest_rageval.linting.finding import Finding, about
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Instance
from pytest_rageval.text.language import has_chinese

__all__ = ["duplicate_question", "near_duplicate_question"]

NEAR = 0.8
"""Smallest Jaccard similarity of the shingles of near duplicates."""

SHARED = 3
"""Number of rare shingles that two questions must have in common to be compared."""

LONGEST_POSTING, COMPARED = 200, 5
"""Limits of questions per shingle and of compared questions (those that share most); they keep the time linear."""

Key = tuple[str, ...]

_NUMBER = re.compile(r"\d+")


def duplicate_question(subject: Subject) -> Iterator[Finding]:
    """Find questions that differ from another only in case, width, spaces and final punctuation.

    A turn of a conversation is a duplicate only if all turns before it are equal too.
    """
    first: dict[Key, Instance] = {}
    for instance in _in_order(subject.instances):
        other = first.setdefault(_key(instance), instance)
        if other is not instance:
            yield about(
                instance, "duplicate_question", "warning", f"the question is that {_reference(other, instance)}"
            )


def near_duplicate_question(subject: Subject) -> Iterator[Finding]:
    """Find questions with at least 0.8 of their shingles (Jaccard) and all of their numbers in common with another.

    A shingle is three characters, two in Chinese. For two such questions, the n - ceil(0.8 n) + 3 rarest of each one's
    n shingles have three in common (Wang et al., SIGMOD 2012, "Can we beat the prefix filtering?"). These shingles
    index the questions; a question is compared with the first ones that share most of them. A near duplicate is not
    indexed itself. Later turns of a conversation are not compared.
    """
    first_turns = {_key(each): each for each in reversed(_in_order(subject.instances)) if not each.history}
    shingled = [(each, _shingles(key[-1])) for key, each in reversed(first_turns.items())]
    frequency = Counter(shingle for _, shingles in shingled for shingle in shingles)
    index: dict[str, list[int]] = defaultdict(list)
    for number, (instance, shingles) in enumerate(shingled):
        ranked = sorted(shingles, key=lambda shingle: (frequency[shingle], shingle))
        rarest = ranked[: len(ranked) - math.ceil(NEAR * len(ranked)) + SHARED]
        overlaps = Counter(chain.from_iterable(index[shingle] for shingle in rarest))
        most = max(overlaps.values(), default=0)
        candidates = [other for other, count in overlaps.items() if count == most >= SHARED][:COMPARED]
        match = next((other for other in candidates if _alike(shingles, shingled[other][1])), None)
        if match is not None:
            other = shingled[match][0]
            problem = f"the question is nearly that {_reference(other, instance)}: {short_repr(other.question)}"
            yield about(instance, "near_duplicate_question", "note", problem)
            continue
        for shingle in rarest:
            if len(index[shingle]) < LONGEST_POSTING:
                index[shingle].append(number)


def _in_order(instances: Iterable[Instance]) -> list[Instance]:
    """Return the records sorted by id: the order of the file must not decide which of two is the duplicate."""
    return sorted(instances, key=lambda each: (len(each.id), each.id, each.origin, each.gold))


def _key(instance: Instance) -> Key:
    """Return the folded questions of a conversation up to this one, without final punctuation."""
    questions = [*(turn.question for turn in instance.history), instance.question]
    return tuple(fold(question).rstrip("?!.。 ") for question in questions)


def _reference(other: Instance, instance: Instance) -> str:
    gold = "the same gold" if _folded_gold(other) == _folded_gold(instance) else "another gold"
    return f"of {short_repr(other.id)} at {other.origin or 'another record'}, with {gold}"


def _folded_gold(instance: Instance) -> list[list[str]]:
    return [sorted(map(fold, slot)) for slot in instance.gold]


def _shingles(question: str) -> frozenset[str]:
    """Return the shingles, each with the question's numbers; questions with other numbers then share none."""
    size = 2 if has_chinese(question) else 3
    numbers = " ".join(sorted(_NUMBER.findall(question)))
    return frozenset(f"{question[at : at + size]}|{numbers}" for at in range(max(len(question) - size + 1, 1)))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    common = len(one & other)
    return common >= NEAR * (len(one) + len(other) - common)
