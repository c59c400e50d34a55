"""Where the gold answers stand, and where they should not; what counts as contained, the subject says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_rageval.errors import found
from pytest_rageval.linting.finding import Finding, about, some
from pytest_rageval.linting.subject import Subject
from pytest_rageval.linting.wording import affirms
from pytest_rageval.metrics.shared.matching import fold
from pytest_rageval.model.case import Instance, Passage, Role

__all__ = ["gold_in_counterfactual", "gold_in_fake", "gold_in_negative", "joined_names", "positive_without_gold"]

Hits = tuple[str | None, ...]
"""For each slot of the gold, the alias that a text contains, or None."""

LONGEST = 50
"""Characters of an answer that a passage may be expected to hold word for word."""

_JOINED = re.compile(r",(?!\s)|[、;；|]")
_NAME = re.compile(r"[^\d\s][^。！？!?]{0,29}")


def gold_in_fake(subject: Subject) -> Iterator[Finding]:
    """Find false answers that would be scored as right: every slot of the gold is in an alias of them."""
    for instance in _checked(subject):
        lies = [lie for slot in instance.fake for lie in slot]
        hits = [subject.contained(instance.gold, lie, instance.language) for lie in lies]
        if hits and all(any(map(_is_hit, slot)) for slot in zip(*hits, strict=True)):
            lie, held = next((lie, hit) for lie, hit in zip(lies, hits, strict=True) if any(map(_is_hit, hit)))
            problem = f"the false answer {found(lie)} contains the gold {_shown(held)}, so that it is scored as right"
            yield about(instance, "gold_in_fake", "error", problem)


def gold_in_counterfactual(subject: Subject) -> Iterator[Finding]:
    """Find counterfactual passages that hold the whole gold answer, which they should tell otherwise."""
    for instance in _checked(subject):
        inside = _holding(subject, instance, "counterfactual")
        if inside:
            problem = f"the gold {_held(inside)} is in {_count(inside)} that should tell otherwise"
            yield about(instance, "gold_in_counterfactual", "warning", problem)


def gold_in_negative(subject: Subject) -> Iterator[Finding]:
    """Find negative passages that hold the whole gold answer, so that they are no noise."""
    for instance in _checked(subject):
        inside = _holding(subject, instance, "negative")
        if inside:
            problem = f"the gold {_held(inside)} is in {_count(inside)} that should not answer"
            yield about(instance, "gold_in_negative", "warning", problem)


def positive_without_gold(subject: Subject) -> Iterator[Finding]:
    """Find positive passages that hold no slot of a gold answer which is short enough to be looked for."""
    for instance in _checked(subject):
        if min(len(fold(alias)) for slot in instance.gold for alias in slot) > LONGEST:
            continue
        positives = _of(instance, "positive")
        bare = [each.id for each in positives if not any(map(_is_hit, _hits(subject, instance, each)))]
        if bare:
            where = f"{len(bare)} of {len(positives)} positive passages ({some(bare)})"
            gold = some([slot[0] for slot in instance.gold if slot])
            problem = f"no part of the gold {gold} is in {where}"
            yield about(instance, "positive_without_gold", "warning", problem)


def joined_names(subject: Subject) -> Iterator[Finding]:
    """Find aliases that are two names with a comma, and no space, or the like between them: nobody answers so."""
    for instance in subject.instances:
        for alias in (alias for slot in instance.gold for alias in slot):
            parts = [part.strip() for part in _JOINED.split(alias)]
            if len(alias) <= 2 * LONGEST and len(parts) > 1 and all(map(_NAME.fullmatch, parts)):
                problem = f"the alias {found(alias)} is {len(parts)} names in one; write each as an alias, or as a slot"
                yield about(instance, "joined_names", "warning", problem)


def _checked(subject: Subject) -> Iterator[Instance]:
    """Yield the records whose gold can be looked for in a text: not yes or no, which stand in any."""
    for instance in subject.instances:
        aliases = [alias for slot in instance.gold for alias in slot]
        if aliases and all(affirms(alias) is None for alias in aliases):
            yield instance


def _of(instance: Instance, role: Role) -> list[Passage]:
    return [passage for passage in instance.passages or () if passage.role == role]


def _holding(subject: Subject, instance: Instance, role: Role) -> dict[str, Hits]:
    """Return the passages of a role that hold the whole gold, by id, with the alias of each slot that they hold."""
    hits = {passage.id: _hits(subject, instance, passage) for passage in _of(instance, role)}
    return {name: held for name, held in hits.items() if all(map(_is_hit, held))}


def _hits(subject: Subject, instance: Instance, passage: Passage) -> Hits:
    text = f"{passage.title}\n{passage.text}" if passage.title else passage.text
    return subject.contained(instance.gold, text, instance.language)


def _is_hit(alias: str | None) -> bool:
    return alias is not None


def _shown(held: Iterable[str | None]) -> str:
    """Return the aliases that are contained, each once."""
    return some(list(dict.fromkeys(alias for alias in held if alias is not None)))


def _held(inside: Mapping[str, Hits]) -> str:
    return _shown(alias for held in inside.values() for alias in held)


def _count(inside: Mapping[str, Hits]) -> str:
    names = list(inside)
    return f"{len(names)} {'passage' if len(names) == 1 else 'passages'} ({some(names)})"
