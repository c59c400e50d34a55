"""Check gold answers against the passages and false answers that may contain them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_rageval.errors import short_repr
from pytest_rageval.linting.finding import Finding, first_names, record_finding
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.metrics.shared.yes_no import yes_or_no
from pytest_rageval.model.case import Instance, Passage, Role

__all__ = ["gold_in_counterfactual", "gold_in_fake", "gold_in_negative", "joined_names", "positive_without_gold"]

Hits = tuple[str | None, ...]
"""For each slot of the gold answer, the alias that a text contains, or None."""

LONGEST = 50
"""Longest answer, in characters, that a passage is expected to contain literally."""

MULTI_HOP = "multi_hop_qa"

_JOINED = re.compile(r",(?!\s)|[、;；|]")
_NAME = re.compile(r"[^\d\s][^。！？!?]{0,29}")


def gold_in_fake(subject: Subject) -> Iterator[Finding]:
    """Find false answers that would be scored as correct: their aliases contain every slot of the gold answer."""
    for instance in _matchable(subject):
        fakes = [alias for slot in instance.fake for alias in slot]
        hits = [subject.contained(instance.gold, fake, instance.language) for fake in fakes]
        if hits and all(any(map(_is_hit, slot)) for slot in zip(*hits, strict=True)):
            fake, hit = next((fake, hit) for fake, hit in zip(fakes, hits, strict=True) if any(map(_is_hit, hit)))
            problem = f"the false answer {short_repr(fake)} contains the gold {_list(hit)} and is scored as correct"
            yield record_finding(instance, "gold_in_fake", "error", problem)


def gold_in_counterfactual(subject: Subject) -> Iterator[Finding]:
    """Find counterfactual passages that contain the whole gold answer."""
    for instance in _matchable(subject):
        passages = _containing(subject, instance, "counterfactual")
        if passages:
            problem = f"the gold {_aliases(passages)} is in {_count(passages)} that should contradict it"
            yield record_finding(instance, "gold_in_counterfactual", "warning", problem)


def gold_in_negative(subject: Subject) -> Iterator[Finding]:
    """Find negative passages that contain the whole gold answer, so they are not noise."""
    for instance in _matchable(subject):
        passages = _containing(subject, instance, "negative")
        if passages:
            problem = f"the gold {_aliases(passages)} is in {_count(passages)} that should not answer"
            yield record_finding(instance, "gold_in_negative", "warning", problem)


def positive_without_gold(subject: Subject) -> Iterator[Finding]:
    """Find positive passages that contain no slot of the gold answer.

    Gold answers that are too long to match are skipped. Multi-hop records are skipped, too: their passages may contain
    only a step to the answer, and the answer may be computed.
    """
    for instance in _matchable(subject):
        if instance.facets.get("task") == MULTI_HOP:
            continue
        if min(len(fold(alias)) for slot in instance.gold for alias in slot) > LONGEST:
            continue
        positives = _with_role(instance, "positive")
        without_gold = [each.id for each in positives if not any(map(_is_hit, _hits(subject, instance, each)))]
        if without_gold:
            where = f"{len(without_gold)} of {len(positives)} positive passages ({first_names(without_gold)})"
            gold = first_names([slot[0] for slot in instance.gold if slot])
            problem = f"no part of the gold {gold} is in {where}"
            yield record_finding(instance, "positive_without_gold", "warning", problem)


def joined_names(subject: Subject) -> Iterator[Finding]:
    """Find aliases that join several names by a comma without a space or by a similar mark."""
    for instance in subject.instances:
        for alias in (alias for slot in instance.gold for alias in slot):
            parts = [part.strip() for part in _JOINED.split(alias)]
            if len(alias) <= 2 * LONGEST and len(parts) > 1 and all(map(_NAME.fullmatch, parts)):
                problem = (
                    f"the alias {short_repr(alias)} contains {len(parts)} names; write each as an alias, or as a slot"
                )
                yield record_finding(instance, "joined_names", "warning", problem)


def _matchable(subject: Subject) -> Iterator[Instance]:
    """Yield the records whose gold answer can be matched in a text; yes and no would occur in any text."""
    for instance in subject.instances:
        aliases = [alias for slot in instance.gold for alias in slot]
        if aliases and all(yes_or_no(alias) is None for alias in aliases):
            yield instance


def _with_role(instance: Instance, role: Role) -> list[Passage]:
    return [passage for passage in instance.passages or () if passage.role == role]


def _containing(subject: Subject, instance: Instance, role: Role) -> dict[str, Hits]:
    """Return passage id -> contained alias per slot, for passages of a role that contain the whole gold answer."""
    hits = {passage.id: _hits(subject, instance, passage) for passage in _with_role(instance, role)}
    return {name: aliases for name, aliases in hits.items() if all(map(_is_hit, aliases))}


def _hits(subject: Subject, instance: Instance, passage: Passage) -> Hits:
    text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
    return subject.contained(instance.gold, text, instance.language)


def _is_hit(alias: str | None) -> bool:
    return alias is not None


def _list(aliases: Iterable[str | None]) -> str:
    """Return the distinct contained aliases as text for a message."""
    return first_names(list(dict.fromkeys(alias for alias in aliases if alias is not None)))


def _aliases(passages: Mapping[str, Hits]) -> str:
    return _list(alias for hits in passages.values() for alias in hits)


def _count(passages: Mapping[str, Hits]) -> str:
    names = list(passages)
    return f"{len(names)} {'passage' if len(names) == 1 else 'passages'} ({first_names(names)})"
