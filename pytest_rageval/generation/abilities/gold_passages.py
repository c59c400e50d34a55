"""Find the passages that state a record's answer, in the record or on its gold pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pytest_rageval.generation.abilities.answer import Answer
from pytest_rageval.generation.abilities.answer_reading import read_answer
from pytest_rageval.generation.abilities.edit import Drop
from pytest_rageval.metrics.shared.matching import contains
from pytest_rageval.metrics.shared.yes_no import yes_or_no
from pytest_rageval.model.case import Gold, Instance, Passage
from pytest_rageval.model.ranking import page_of

__all__ = ["CorpusPages", "gold_pages", "holds_slot", "is_matchable", "positives_of", "slots_in"]


@dataclass(frozen=True, slots=True)
class CorpusPages:
    """The passages of a corpus by their ids and pages, in the order of the corpus.

    Attributes:
        by_name: id or page -> passages.
    """

    by_name: Mapping[str, tuple[Passage, ...]]

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> CorpusPages:
        """Index the passages of a corpus."""
        by_name: dict[str, list[Passage]] = {}
        for passage in passages:
            for name in {passage.id, passage.page} - {""}:
                by_name.setdefault(name, []).append(passage)
        return cls({name: tuple(each) for name, each in by_name.items()})


def gold_pages(instance: Instance) -> frozenset[str]:
    """Return the ids and pages that a record names as its evidence; ``page#n`` also adds ``page``."""
    names = [name for name, grade in instance.qrels.items() if grade > 0]
    names += [page for pages in instance.provenance for page in pages]
    names += [unit.page for units in instance.evidence for unit in units]
    positives = [each for each in instance.passages or () if each.role == "positive"]
    names += [name for each in positives for name in (each.id, each.page) if name]
    return frozenset(names) | frozenset(page_of(name) for name in names)


def positives_of(instance: Instance, corpus: CorpusPages) -> tuple[Passage, ...]:
    """Return the positive passages of a record; with several slots, ``group`` is the slot that a passage states.

    The first of these that exist: the record's positive passages; its passages without a role that state a slot;
    the passages of its gold pages in the corpus that state a slot.
    """
    supplied = instance.passages or ()
    positives = [each for each in supplied if each.role == "positive"]
    if not positives:
        positives = [each for each in supplied if not each.role and slots_in(instance.gold, each)]
    if not positives:
        candidates = [each for name in sorted(gold_pages(instance)) for each in corpus.by_name.get(name, ())]
        positives = [each for each in dict.fromkeys(candidates) if slots_in(instance.gold, each)]
    return tuple(_with_group(instance.gold, replace(each, role="positive")) for each in positives)


def slots_in(gold: Gold, passage: Passage) -> list[int]:
    """Return the numbers of the slots that a passage contains, from 0."""
    text = f"{passage.title}\n{passage.text}"
    return [at for at, slot in enumerate(gold) if any(contains(text, alias) for alias in slot)]


def holds_slot(gold: Gold, passage: Passage) -> bool:
    """Return whether a passage states any slot: it contains an alias, or states an equal quantity."""
    text = f"{passage.title}\n{passage.text}"
    for slot in gold:
        answer = _read(slot)
        if any(contains(text, alias) for alias in slot) or (not isinstance(answer, Drop) and answer.gold_is_in(text)):
            return True
    return False


def is_matchable(gold: Gold) -> bool:
    """Return whether the gold can be matched in a text; yes and no cannot, because they occur in any text."""
    return bool(gold) and all(yes_or_no(alias) is None for slot in gold for alias in slot)


def _with_group(gold: Gold, passage: Passage) -> Passage:
    """Return a positive passage with the first slot that it states as its group."""
    if len(gold) < 2 or passage.group is not None:
        return passage
    slots: Sequence[int] = slots_in(gold, passage)
    return replace(passage, group=slots[0]) if slots else passage


@lru_cache(maxsize=256)
def _read(slot: tuple[str, ...]) -> Answer[Any] | Drop:
    return read_answer(slot)
