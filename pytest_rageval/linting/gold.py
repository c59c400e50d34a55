"""Checks of gold answers: passages and false answers that must or must not contain them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_rageval.errors import short_repr
from pytest_rageval.linting.finding import Finding, about, some
from pytest_rageval.linting.subject import Subject
from pytest_rageval.metrics.shared.affirming import affirms
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Instance, Passage, Role

__all__ = ["gold_in_counterfactual", "gold_in_fake", "gold_in_negative", "joined_names", "positive_without_gold"]

Hits = tuple[str | None, ...]
"""For each slot of the gold answer, the alias that a text contains, or None."""

LONGEST = 50
"""Largest length, in characters, of an answer that a passage should contain literally."""

MULTI_HOP = "multi_hop_qa"

_JOINED = re.compile(r",(?!\s)|[、;；|]")
_NAME = re.compile(r"[^\d\s][^。！？!?]{0,29}")


def gold_in_fake(subject: Subject) -> Iterator[Finding]:
    """Find false answers that would be scored as correct: every slot of the gold is in one of their aliases."""
    for instance in _matchable(subject):
        lies = [lie for slot in instance.fake for lie in slot]
        hits = [subject.contained(instance.gold, lie, instance.language) for lie in lies]
        if hits and all(any(map(_is_hit, slot)) for slot in zip(*hits, strict=True)):
            lie, hit = next((lie, hit) for lie, hit in zip(lies, hits, strict=True) if any(map(_is_hit, hit)))
            problem = f"the false answer {short_repr(lie)} contains the gold {_list(hit)} and is scored as correct"
            yield about(instance, "gold_in_fake", "error", problem)


def gold_in_counterfactual(subject: Subject) -> Iterator[Finding]:
    """Find counterfactual passages that contain the whole gold answer."""
    for instance in _matchable(subject):
        passages = _containing(subject, instance, "counterfactual")
        if passages:
            problem = f"the gold {_aliases(passages)} is in {_count(passages)} that should contradict it"
            yield about(instance, "gold_in_counterfactual", "warning", problem)


def gold_in_negative(subject: Subject) -> Iterator[Finding]:
    """Find negative passages that contain the whole gold answer: they are not noise."""
    for instance in _matchable(subject):
        passages = _containing(subject, instance, "negative")
        if passages:
            problem = f"the gold {_aliases(passages)} is in {_count(passages)} that should not answer"
            yield about(instance, "gold_in_negative", "warning", problem)


def positive_without_gold(subject: Subject) -> Iterator[Finding]:
    """Find positive passages without any slot of the gold answer.

    Skip gold answers that are too long to match, and multi-hop records: a passage may only lead to their answer, and
    the answer may be computed.
    """
    for instance in _matchable(subject):
        if instance.facets.get("task") == MULTI_HOP:
            continue
        if min(len(fold(alias)) for slot in instance.gold for alias in slot) > LONGEST:
            continue
        positives = _with_role(instance, "positive")
        bare = [each.id for each in positives if not any(map(_is_hit, _hits(subject, instance, each)))]
        if bare:
            where = f"{len(bare)} of {len(positives)} positive passages ({some(bare)})"
            gold = some([slot[0] for slot in instance.gold if slot])
            problem = f"no part of the gold {gold} is in {where}"
            yield about(instance, "positive_without_gold", "warning", problem)


def joined_names(subject: Subject) -> Iterator[Finding]:
    """Find aliases that are several names, joined by a comma without a space or a similar mark."""
    for instance in subject.instances:
        for alias in (alias for slot in instance.gold for alias in slot):
            parts = [part.strip() for part in _JOINED.split(alias)]
            if len(alias) <= 2 * LONGEST and len(parts) > 1 and all(map(_NAME.fullmatch, parts)):
                problem = (
                    f"the alias {short_repr(alias)} is {len(parts)} names in one; write each as an alias, or as a slot"
                )
                yield about(instance, "joined_names", "warning", problem)


def _matchable(subject: Subject) -> Iterator[Instance]:
    """Yield the records whose gold can be matched in a text; yes and no occur in any text."""
    for instance in subject.instances:
        aliases = [alias for slot in instance.gold for alias in slot]
        if aliases and all(affirms(alias) is None for alias in aliases):
            yield instance


def _with_role(instance: Instance, role: Role) -> list[Passage]:
    return [passage for passage in instance.passages or () if passage.role == role]


def _containing(subject: Subject, instance: Instance, role: Role) -> dict[str, Hits]:
    """Return the passages of a role that contain the whole gold: id -> the contained alias of each slot."""
    hits = {passage.id: _hits(subject, instance, passage) for passage in _with_role(instance, role)}
    return {name: aliases for name, aliases in hits.items() if all(map(_is_hit, aliases))}


def _hits(subject: Subject, instance: Instance, passage: Passage) -> Hits:
    text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
    return subject.contained(instance.gold, text, instance.language)


def _is_hit(alias: str | None) -> bool:
    return alias is not None


def _list(aliases: Iterable[str | None]) -> str:
    """Return the unique contained aliases as a list for a message."""
    return some(list(dict.fromkeys(alias for alias in aliases if alias is not None)))


def _aliases(passages: Mapping[str, Hits]) -> str:
    return _list(alias for hits in passages.values() for alias in hits)


def _count(passages: Mapping[str, Hits]) -> str:
    names = list(passages)
    return f"{len(names)} {'passage' if len(names) == 1 else 'passages'} ({some(names)})"
