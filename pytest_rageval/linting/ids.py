"""Checks of ids: duplicates, relevance judgements without a document, skipped records."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.linting.finding import Finding, about, some
from pytest_rageval.linting.subject import Subject
from pytest_rageval.model.case import Instance
from pytest_rageval.model.ranking import page_of

__all__ = ["duplicate_id", "left_out", "missing_gold_id"]


def duplicate_id(subject: Subject) -> Iterator[Finding]:
    """Find duplicate ids."""
    first: dict[str, Instance] = {}
    for instance in sorted(subject.instances, key=lambda each: (each.origin, each.question)):
        other = first.setdefault(instance.id, instance)
        if other is not instance:
            problem = f"duplicate id, first used in {other.origin or 'another record'}"
            yield about(instance, "duplicate_id", "error", problem)


def left_out(subject: Subject) -> Iterator[Finding]:
    """Report records that the format skips."""
    for where, problem in subject.left_out:
        yield Finding("left_out", "note", "", where, problem)


def missing_gold_id(subject: Subject) -> Iterator[Finding]:
    """Find relevant documents that are missing, and records without judgements although most records have them.

    The check looks in the corpus. Without a corpus it looks in the record's own passages, if at least one record of the
    dataset judges its own passages; else the judgements belong to an unknown corpus. Records with evidence are judged
    by the evidence.
    """
    relevant = [_relevant_ids(instance, subject.corpus is not None) for instance in subject.instances]
    passage_ids = [_passage_ids(instance) for instance in subject.instances]
    judged_own = any(
        own_passage_ids.intersection(ids) for own_passage_ids, ids in zip(passage_ids, relevant, strict=True)
    )
    has_judgements = [bool(ids or instance.evidence) for instance, ids in zip(subject.instances, relevant, strict=True)]
    is_usual = 2 * sum(has_judgements) > len(has_judgements)
    for instance, ids, own_passage_ids in zip(subject.instances, relevant, passage_ids, strict=True):
        if not ids:
            if is_usual and instance.answerable is not False and not instance.evidence:
                problem = "no document is judged relevant, unlike in most records; its rankings cannot be scored"
                yield about(instance, "missing_gold_id", "warning", problem)
        elif subject.corpus is not None:
            missing = [name for name in ids if not {name, page_of(name)}.intersection(subject.corpus)]
            if missing:
                problem = f"the corpus lacks {len(missing)} of {len(ids)} documents judged relevant: {some(missing)}"
                yield about(instance, "missing_gold_id", "error", problem)
        elif judged_own and instance.passages is not None:
            missing = [name for name in ids if name not in own_passage_ids]
            if missing:
                problem = (
                    f"{len(missing)} of {len(ids)} ids judged relevant are not among its passages: {some(missing)}"
                )
                yield about(instance, "missing_gold_id", "warning", problem)


def _relevant_ids(instance: Instance, retrieved: bool) -> list[str]:
    """Return the ids judged relevant; with ``retrieved``, also the provenance, or else the pages of positive passages.

    A record with evidence has none because its evidence decides what is relevant.
    """
    if instance.evidence:
        return []
    ids = [name for name, grade in instance.qrels.items() if grade > 0]
    if retrieved:
        ids += [page for pages in instance.provenance for page in pages]
        ids = ids or [each.page for each in instance.passages or () if each.role == "positive" and each.page]
    return list(dict.fromkeys(ids))


def _passage_ids(instance: Instance) -> set[str]:
    return {name for passage in instance.passages or () for name in (passage.id, passage.page) if name}
