"""The ids of records and of the documents that are judged relevant; records that are no instances."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.linting.finding import Finding, about, some
from pytest_rageval.linting.subject import Subject
from pytest_rageval.model.case import Instance
from pytest_rageval.model.ranking import page_of

__all__ = ["duplicate_id", "left_out", "missing_gold_id"]


def duplicate_id(subject: Subject) -> Iterator[Finding]:
    """Find ids that another record has, too."""
    first: dict[str, Instance] = {}
    for instance in sorted(subject.instances, key=lambda each: (each.origin, each.question)):
        other = first.setdefault(instance.id, instance)
        if other is not instance:
            problem = f"the id stands at {other.origin or 'another record'} already, wanted each once"
            yield about(instance, "duplicate_id", "error", problem)


def left_out(subject: Subject) -> Iterator[Finding]:
    """Tell of records that the format leaves out."""
    for where, problem in subject.left_out:
        yield Finding("left_out", "note", "", where, problem)


def missing_gold_id(subject: Subject) -> Iterator[Finding]:
    """Find documents that are judged relevant and not there, and records that judge none although most do.

    They are looked for in the corpus; without one, among the record's own passages, and only where any record of the
    dataset judges those, as else the judgements are of a corpus. A record with evidence judges by it.
    """
    wanted = [_wanted(instance, subject.corpus is not None) for instance in subject.instances]
    own = [_own(instance) for instance in subject.instances]
    judged_own = any(own_ids.intersection(ids) for own_ids, ids in zip(own, wanted, strict=True))
    judged = [bool(ids or instance.evidence) for instance, ids in zip(subject.instances, wanted, strict=True)]
    usual = 2 * sum(judged) > len(judged)
    for instance, ids, own_ids in zip(subject.instances, wanted, own, strict=True):
        if not ids:
            if usual and instance.answerable is not False and not instance.evidence:
                problem = "no document is judged relevant, as in most records, so that its rankings cannot be scored"
                yield about(instance, "missing_gold_id", "warning", problem)
        elif subject.corpus is not None:
            missing = [name for name in ids if not {name, page_of(name)}.intersection(subject.corpus)]
            if missing:
                problem = f"the corpus lacks {len(missing)} of {len(ids)} documents judged relevant: {some(missing)}"
                yield about(instance, "missing_gold_id", "error", problem)
        elif judged_own and instance.passages is not None:
            missing = [name for name in ids if name not in own_ids]
            if missing:
                problem = (
                    f"{len(missing)} of {len(ids)} ids judged relevant are of none of its passages: {some(missing)}"
                )
                yield about(instance, "missing_gold_id", "warning", problem)


def _wanted(instance: Instance, retrieved: bool) -> list[str]:
    """Return the ids that are judged relevant; of what is retrieved, else those of its positive passages' pages.

    A record with evidence has none, because its evidence says what is relevant.
    """
    if instance.evidence:
        return []
    ids = [name for name, grade in instance.qrels.items() if grade > 0]
    if retrieved:
        ids += [page for pages in instance.provenance for page in pages]
        ids = ids or [each.page for each in instance.passages or () if each.role == "positive" and each.page]
    return list(dict.fromkeys(ids))


def _own(instance: Instance) -> set[str]:
    return {name for passage in instance.passages or () for name in (passage.id, passage.page) if name}
