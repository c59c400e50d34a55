"""Check ids: duplicates, judged documents that are missing, and skipped records."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rageval.linting.finding import Finding, first_names, record_finding
from pytest_rageval.linting.subject import Subject
from pytest_rageval.model.case import Instance
from pytest_rageval.model.ranking import page_of

__all__ = ["duplicate_id", "left_out", "missing_gold_id"]


def duplicate_id(subject: Subject) -> Iterator[Finding]:
    """Find duplicate ids of records."""
    first: dict[str, Instance] = {}
    for instance in sorted(subject.instances, key=lambda each: (each.origin, each.question)):
        other = first.setdefault(instance.id, instance)
        if other is not instance:
            problem = f"duplicate id, first used in {other.origin or 'another record'}"
            yield record_finding(instance, "duplicate_id", "error", problem)


def left_out(subject: Subject) -> Iterator[Finding]:
    """Report records that the format skips."""
    for where, problem in subject.left_out:
        yield Finding("left_out", "note", "", where, problem)


def missing_gold_id(subject: Subject) -> Iterator[Finding]:
    """Find documents that are judged relevant but missing, and records without judgements if most records have them.

    Documents are looked up in the corpus. Without a corpus, they are looked up in the record's own passages, unless no
    record of the dataset judges its own passages. Then the judgements belong to an unknown corpus, and nothing is
    looked up. Records with evidence are skipped, because the evidence decides what is relevant.
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
                yield record_finding(instance, "missing_gold_id", "warning", problem)
        elif subject.corpus is not None:
            missing = [name for name in ids if not {name, page_of(name)}.intersection(subject.corpus)]
            if missing:
                problem = (
                    f"the corpus lacks {len(missing)} of {len(ids)} documents judged relevant: {first_names(missing)}"
                )
                yield record_finding(instance, "missing_gold_id", "error", problem)
        elif judged_own and instance.passages is not None:
            missing = [name for name in ids if name not in own_passage_ids]
            if missing:
                problem = f"its passages lack {len(missing)} of {len(ids)} ids judged relevant: {first_names(missing)}"
                yield record_finding(instance, "missing_gold_id", "warning", problem)


def _relevant_ids(instance: Instance, has_corpus: bool) -> list[str]:
    """Return the ids judged relevant; empty for a record with evidence.

    With a corpus, the ids include the provenance. If there are none, the pages of positive passages are returned.
    """
    if instance.evidence:
        return []
    ids = [name for name, grade in instance.qrels.items() if grade > 0]
    if has_corpus:
        ids += [page for pages in instance.provenance for page in pages]
        ids = ids or [each.page for each in instance.passages or () if each.role == "positive" and each.page]
    return list(dict.fromkeys(ids))


def _passage_ids(instance: Instance) -> set[str]:
    return {name for passage in instance.passages or () for name in (passage.id, passage.page) if name}
