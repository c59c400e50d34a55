"""Check questions: find duplicates and near duplicates in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_rageval.errors import short_repr
from pytest_rageval.linting.finding import Finding, record_finding
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.metrics.shared.similar_questions import QuestionKey, near_pairs, question_key
from pytest_rageval.model.case import Instance

__all__ = ["duplicate_question", "near_duplicate_question"]


def duplicate_question(subject: Subject) -> Iterator[Finding]:
    """Find questions that differ from another question only in case, width, spaces and final punctuation.

    A turn of a conversation is a duplicate only if all earlier turns are equal, too.
    """
    first: dict[QuestionKey, Instance] = {}
    for instance in _in_order(subject.instances):
        other = first.setdefault(_key(instance), instance)
        if other is not instance:
            yield record_finding(
                instance, "duplicate_question", "warning", f"the question is that {_reference(other, instance)}"
            )


def near_duplicate_question(subject: Subject) -> Iterator[Finding]:
    """Find questions that are almost equal to another question; see `near_pairs`.

    Only first turns of conversations are compared.
    """
    first_turns = {_key(each): each for each in reversed(_in_order(subject.instances)) if not each.history}
    instances = list(reversed(first_turns.values()))
    for at, near in near_pairs([key[-1] for key in reversed(first_turns)]):
        instance, other = instances[at], instances[near]
        problem = f"the question is nearly that {_reference(other, instance)}: {short_repr(other.question)}"
        yield record_finding(instance, "near_duplicate_question", "note", problem)


def _in_order(instances: Iterable[Instance]) -> list[Instance]:
    """Sort records by id, so the order of the file does not decide which of two records is the duplicate."""
    return sorted(instances, key=lambda each: (len(each.id), each.id, each.origin, each.gold))


def _key(instance: Instance) -> QuestionKey:
    return question_key(instance.question, instance.history)


def _reference(other: Instance, instance: Instance) -> str:
    gold = "the same gold" if _folded_gold(other) == _folded_gold(instance) else "another gold"
    return f"of {short_repr(other.id)} at {other.origin or 'another record'}, with {gold}"


def _folded_gold(instance: Instance) -> list[list[str]]:
    return [sorted(map(fold, slot)) for slot in instance.gold]
