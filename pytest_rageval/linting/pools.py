"""Check passage pools: empty, too small, or with contradictory roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_rageval.errors import DataError
from pytest_rageval.linting.finding import Finding, record_finding
from pytest_rageval.linting.subject import Subject
from pytest_rageval.model.case import Case, Instance, Passage, Role
from pytest_rageval.testbeds.expand import expand, is_short

__all__ = ["double_role", "empty_pool", "groups_and_slots", "short_pool"]

ROLES: tuple[Role, ...] = ("positive", "negative", "counterfactual")


def empty_pool(subject: Subject) -> Iterator[Finding]:
    """Find records without passages of a role that most records of the dataset have."""
    counts = [Counter(passage.role for passage in instance.passages or ()) for instance in subject.instances]
    having = Counter(role for count in counts for role in count)
    for instance, count in zip(subject.instances, counts, strict=True):
        if instance.passages is None or instance.answerable is False:
            continue
        missing = [role for role in ROLES if not count[role] and 2 * having[role] > len(counts)]
        if missing:
            problem = f"the record has no {' and no '.join(missing)} passage, unlike most records"
            yield record_finding(instance, "empty_pool", "warning", problem)


def short_pool(subject: Subject) -> Iterator[Finding]:
    """Find records with too few passages for the settings.

    If the settings have no ability, it is inferred from a record's passages. A record with only positive passages has
    no ability and is skipped.
    """
    has_noise = any(each.role == "negative" for instance in subject.instances for each in instance.passages or ())
    for instance in subject.instances:
        declared = subject.settings.get("ability")
        ability = _inferred_ability(instance, has_noise) if declared is None else str(declared)
        if not ability:
            continue
        try:
            cases = [case for _, case in expand(subject.settings_under(ability), (instance,), seed=0)]
        except DataError as error:
            yield record_finding(instance, "short_pool", "error", error.problem)
            continue
        for case in filter(is_short, cases):
            yield record_finding(instance, "short_pool", "warning", _shortage(case))


def double_role(subject: Subject) -> Iterator[Finding]:
    """Find records with the same text in two passages with different roles."""
    for instance in subject.instances:
        first: dict[str, Passage] = {}
        pairs = []
        for passage in instance.passages or ():
            other = first.setdefault(passage.text, passage)
            if other.role != passage.role:
                pairs.append((other, passage))
        if pairs:
            (one, two), more = pairs[0], len(pairs) - 1
            problem = f"{one.id} ({one.role or 'no role'}) and {two.id} ({two.role or 'no role'}) have the same text"
            problem += f"; {more} more pairs, too" if more else ""
            yield record_finding(instance, "double_role", "error", problem)


def groups_and_slots(subject: Subject) -> Iterator[Finding]:
    """Find records with different numbers of positive groups and gold slots."""
    for instance in subject.instances:
        groups = {passage.group for passage in instance.passages or () if passage.group is not None}
        if groups and instance.gold and len(groups) != len(instance.gold):
            problem = f"{len(groups)} groups of positive passages, but {len(instance.gold)} parts of the gold"
            yield record_finding(instance, "groups_and_slots", "note", problem)


def _inferred_ability(instance: Instance, has_noise: bool) -> str:
    passages = instance.passages or ()
    roles = {passage.role for passage in passages}
    if "counterfactual" in roles:
        return "counterfactual_robustness"
    if not has_noise:
        return ""
    if any(passage.group is not None for passage in passages):
        return "information_integration"
    return "noise_robustness" if roles - {""} else ""


def _shortage(case: Case) -> str:
    """Return a case's settings, its supplied passages and its available passages as text."""
    names = ("passages", "noise_rate", "correct_rate")
    settings = " ".join(f"{name}={case.facets[name]}" for name in names if name in case.facets)
    supplied, available = (_count(passages) for passages in (case.supplied, case.instance.passages))
    return f"{settings} supplies {supplied}; the record has {available}"


def _count(passages: Sequence[Passage] | None) -> str:
    counts = Counter(passage.role for passage in passages or ())
    return ", ".join(f"{counts[role]} {role}" for role in ROLES if counts[role]) or "no passage"
