"""Integration: join two questions about different documents into one with two slots."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

from pytest_rageval.generation.abilities.gold_passages import gold_pages, holds_slot, is_matchable
from pytest_rageval.generation.draft import case_id
from pytest_rageval.metrics.shared.matching import contains, fold
from pytest_rageval.model.case import Instance, Passage
from pytest_rageval.testbeds.ids import digest

__all__ = ["Integration", "integrate", "joined_question"]

_QUESTION_WORD = re.compile(
    r"(?:are|at|by|can|did|do|does|during|for|from|had|has|have|how|in|is|of|on|to|under|was|were|what|when|where|which"
    r"|who|whom|whose|why|with)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Integration:
    """Integration records, and counts of the records that have none.

    Attributes:
        instances: the records, in the order of their first questions.
        left_out: ``several_slots``, ``no_positive``, ``no_partner``, ... -> number of records without a partner.
    """

    instances: tuple[Instance, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def integrate(instances: Sequence[Instance], seed: int = 0) -> Integration:
    """Join the questions of records in pairs; each question is used at most once.

    Partners have the same language and topic, and different documents. No question or passage of one partner may state
    the answer of the other. The seed and the ids decide the pairs.

    Args:
        instances: records with positive passages; a joined record has the negative passages of both.
        seed: decides the pairs.
    """
    left_out: Counter[str] = Counter()
    cells: dict[tuple[str, str], list[Instance]] = {}
    for instance in sorted(instances, key=lambda each: digest(seed, each.id)):
        reason = _unfit(instance)
        if reason:
            left_out[reason] += 1
        else:
            cells.setdefault((instance.language, instance.facets.get("topic", "")), []).append(instance)
    pairs: list[tuple[Instance, Instance]] = []
    for candidates in cells.values():
        while candidates:
            first = candidates.pop(0)
            second = next((each for each in candidates if _may_join(first, each)), None)
            if second is None:
                left_out["no_partner"] += 1
                continue
            candidates.remove(second)
            pairs.append((first, second))
    position = {instance.id: at for at, instance in enumerate(instances)}
    pairs = [(one, two) if position[one.id] < position[two.id] else (two, one) for one, two in pairs]
    pairs.sort(key=lambda pair: position[pair[0].id])
    return Integration(tuple(_join(*pair) for pair in pairs), dict(left_out))


def joined_question(one: str, other: str, language: str) -> str:
    """Return two questions as one text: the second begins with "And", in Chinese with 另外."""
    if language == "zh":
        return f"{_with_end_mark(one, '？')}另外，{_with_end_mark(other, '？')}"
    second = _with_end_mark(other, "?")
    if _QUESTION_WORD.match(second):
        second = second[0].lower() + second[1:]
    return f"{_with_end_mark(one, '?')} And {second}"


def _with_end_mark(question: str, mark: str) -> str:
    stripped = question.strip()
    return stripped if stripped[-1:] in "?？.。!！" else stripped + mark


def _unfit(instance: Instance) -> str:
    """Return why a record cannot be joined with another one; "" if it can."""
    if len(instance.gold) != 1 or instance.history:
        return "several_slots" if len(instance.gold) > 1 else "history" if instance.history else "no_gold"
    if not is_matchable(instance.gold):
        return "no_gold"
    return "" if _of_role(instance, "positive") else "no_positive"


def _may_join(one: Instance, other: Instance) -> bool:
    if _documents(one) & _documents(other) or fold(one.question) == fold(other.question):
        return False
    return not (_states(one, other) or _states(other, one))


def _states(one: Instance, other: Instance) -> bool:
    """Return whether the question, the gold or a positive passage of one record states the answer of the other."""
    texts = [one.question, *one.gold[0]]
    if any(contains(text, alias) for text in texts for alias in other.gold[0]):
        return True
    return any(holds_slot(other.gold, passage) for passage in _of_role(one, "positive"))


def _documents(instance: Instance) -> frozenset[str]:
    """Return the pages and the positive texts of a record.

    Ids of its passages do not count: other records use the same ones, such as p0 in RGB's files.
    """
    positives = _of_role(instance, "positive")
    passage_ids = {each.id for each in instance.passages or () if not each.page}
    judged = {name: grade for name, grade in instance.qrels.items() if name not in passage_ids}
    pages = gold_pages(replace(instance, passages=None, qrels=judged))
    return pages | {each.page for each in positives if each.page} | {fold(each.text) for each in positives}


def _join(one: Instance, other: Instance) -> Instance:
    """Return the record of two joined questions: both golds as slots, positives of both, and negatives."""
    pools = [
        [replace(each, group=group) for each in _of_role(instance, "positive")]
        for group, instance in enumerate((one, other))
    ]
    negatives_of_both = chain.from_iterable(zip_longest(_of_role(one, "negative"), _of_role(other, "negative")))
    gold, documents = (*one.gold, *other.gold), _documents(one) | _documents(other)
    negatives = [
        each
        for each in negatives_of_both
        if each is not None and not {each.id, each.page} & documents and not holds_slot(gold, each)
    ]
    question = joined_question(one.question, other.question, one.language)
    facets = {name: value for name, value in one.facets.items() if other.facets.get(name) == value}
    return Instance(
        id=case_id("", "integration", question, [one.id, other.id]),
        question=question,
        gold=gold,
        passages=_with_unique_ids([*pools[0], *pools[1], *negatives]),
        provenance=(tuple(sorted({*_pages(one), *_pages(other)})),) if _pages(one) and _pages(other) else (),
        language=one.language,
        facets=facets,
        origin=one.origin,
    )


def _pages(instance: Instance) -> list[str]:
    """Return the pages of the first alternative in a record's provenance."""
    return list(instance.provenance[0]) if instance.provenance else []


def _of_role(instance: Instance, role: str) -> list[Passage]:
    return [each for each in instance.passages or () if each.role == role]


def _with_unique_ids(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Drop passages with a duplicate text; append ``-2``, ``-3``, ... to a duplicate id."""
    by_id: dict[str, Passage] = {}
    texts: set[str] = set()
    for passage in passages:
        if passage.text in texts:
            continue
        texts.add(passage.text)
        name, number = passage.id, 1
        while name in by_id:
            number += 1
            name = f"{passage.id}-{number}"
        by_id[name] = replace(passage, id=name)
    return tuple(by_id.values())
