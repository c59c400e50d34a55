"""Integration: two questions about different documents as one question with two slots."""

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

_ASKING = re.compile(
    r"(?:are|at|by|can|did|do|does|during|for|from|had|has|have|how|in|is|of|on|to|under|was|were|what|when|where|which"
    r"|who|whom|whose|why|with)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Integration:
    """Integration records and what was left out.

    Attributes:
        instances: the records, in the order of their first questions.
        left_out: ``several_slots``, ``no_positive``, ``no_partner``, ... -> number of records without a partner.
    """

    instances: tuple[Instance, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def integrate(instances: Sequence[Instance], seed: int = 0) -> Integration:
    """Return the records with their questions joined, two and two; each question is used once.

    The partner is of the same language, of the same topic if the records have topics, and of another document. Neither
    question nor passage of one may state the answer of the other. Pairs are drawn by the seed and the ids.

    Args:
        instances: records with positive passages; negative ones of both are kept.
        seed: decides the pairs.
    """
    left_out: Counter[str] = Counter()
    cells: dict[tuple[str, str], list[Instance]] = {}
    for instance in sorted(instances, key=lambda each: digest(seed, each.id)):
        why = _unfit(instance)
        if why:
            left_out[why] += 1
        else:
            cells.setdefault((instance.language, instance.facets.get("topic", "")), []).append(instance)
    pairs: list[tuple[Instance, Instance]] = []
    for waiting in cells.values():
        while waiting:
            first = waiting.pop(0)
            second = next((each for each in waiting if _may_join(first, each)), None)
            if second is None:
                left_out["no_partner"] += 1
                continue
            waiting.remove(second)
            pairs.append((first, second))
    place = {instance.id: at for at, instance in enumerate(instances)}
    pairs = [(one, two) if place[one.id] < place[two.id] else (two, one) for one, two in pairs]
    pairs.sort(key=lambda pair: place[pair[0].id])
    return Integration(tuple(_joined(*pair) for pair in pairs), dict(left_out))


def joined_question(one: str, other: str, language: str) -> str:
    """Return two questions as one text: the second begins with "And", in Chinese with 另外."""
    if language == "zh":
        return f"{_ended(one, '？')}另外，{_ended(other, '？')}"
    second = _ended(other, "?")
    if _ASKING.match(second):
        second = second[0].lower() + second[1:]
    return f"{_ended(one, '?')} And {second}"


def _ended(question: str, mark: str) -> str:
    bare = question.strip()
    return bare if bare[-1:] in "?？.。!！" else bare + mark


def _unfit(instance: Instance) -> str:
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
    """Return the pages and the positive texts of a record; ids of its passages are its own, as p0 is in RGB's files."""
    positives = _of_role(instance, "positive")
    named = gold_pages(replace(instance, passages=None)) | {each.page for each in positives if each.page}
    return named | {fold(each.text) for each in positives}


def _joined(one: Instance, other: Instance) -> Instance:
    pools = [
        [replace(each, group=group) for each in _of_role(instance, "positive")]
        for group, instance in enumerate((one, other))
    ]
    noise = chain.from_iterable(zip_longest(_of_role(one, "negative"), _of_role(other, "negative")))
    gold, documents = (*one.gold, *other.gold), _documents(one) | _documents(other)
    negatives = [
        each
        for each in noise
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
    """Return the pages of the first alternative that a record names in its provenance."""
    return list(instance.provenance[0]) if instance.provenance else []


def _of_role(instance: Instance, role: str) -> list[Passage]:
    return [each for each in instance.passages or () if each.role == role]


def _with_unique_ids(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return the passages, each text once, the second of an id with ``-2``."""
    taken: dict[str, Passage] = {}
    texts: set[str] = set()
    for passage in passages:
        if passage.text in texts:
            continue
        texts.add(passage.text)
        name, number = passage.id, 1
        while name in taken:
            number += 1
            name = f"{passage.id}-{number}"
        taken[name] = replace(passage, id=name)
    return tuple(taken.values())
