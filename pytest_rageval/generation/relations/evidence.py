"""Relations that remove the evidence or replace it by false twins; passages need roles."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from pytest_rageval.generation.relations.records import Records
from pytest_rageval.generation.relations.relation import Relation
from pytest_rageval.metrics.shared.matching import slot_hits
from pytest_rageval.model.case import Case, Passage

__all__ = ["REMOVE_EVIDENCE", "SWAP_EVIDENCE"]


def _remove_evidence(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
    """Yield the case without the positives of one group, for each group."""
    passages = case.supplied or ()
    if any(passage.role == "counterfactual" for passage in passages) or case.instance.answerable is False:
        return
    groups = list(dict.fromkeys(passage.group for passage in passages if passage.role == "positive"))
    chance.shuffle(groups)
    for group in groups:
        remaining = tuple(p for p in passages if p.role != "positive" or p.group != group)
        yield replace(case, supplied=remaining)


def _lacks_evidence(original: Case, each: Case) -> bool:
    """Return whether only the positives of one group are removed, and no remaining passages state the whole answer."""
    remaining = each.supplied or ()
    removed = [passage for passage in original.supplied or () if passage not in remaining]
    expected = tuple(passage for passage in original.supplied or () if passage not in removed)
    if each.instance != original.instance or remaining != expected or not _are_all_positives(original, removed):
        return False
    gold = original.instance.gold
    return not gold or None in slot_hits(gold, *(f"{p.title}\n{p.text}" for p in remaining))


def _are_all_positives(case: Case, removed: list[Passage]) -> bool:
    groups = {passage.group for passage in removed}
    positives = [p for p in case.supplied or () if p.role == "positive" and p.group in groups]
    return len(groups) == 1 and positives == removed


def _swap_evidence(case: Case, chance: random.Random, records: Records) -> Iterator[Case]:
    twins = _twins(case)
    if twins and case.instance.fake:
        yield replace(case, supplied=tuple(twins.get(passage, passage) for passage in case.supplied or ()))


def _has_only_twins(original: Case, each: Case) -> bool:
    """Return whether twins replace all positive passages, and nothing else changed."""
    twins, before, after = _twins(original), original.supplied or (), each.supplied or ()
    if each.instance != original.instance or len(before) != len(after) or len(set(after)) < len(after):
        return False
    pairs = list(zip(before, after, strict=True))
    return all(new == twins.get(old, old) and (new == old) == (old.role != "positive") for old, new in pairs)


def _twins(case: Case) -> dict[Passage, Passage]:
    """Return the false twin of each supplied positive passage; {} if positives and twins do not pair."""
    pool = case.instance.passages or ()
    positives = [passage for passage in pool if passage.role == "positive"]
    false = [passage for passage in pool if passage.role == "counterfactual"]
    supplied = {passage for passage in case.supplied or () if passage.role == "positive"}
    if len(positives) != len(false):
        return {}
    return {true: twin for true, twin in zip(positives, false, strict=True) if true in supplied}


REMOVE_EVIDENCE = Relation("remove_evidence", "passages", "rejection", _remove_evidence, _lacks_evidence)
SWAP_EVIDENCE = Relation("swap_evidence", "passages", "truth", _swap_evidence, _has_only_twins)
