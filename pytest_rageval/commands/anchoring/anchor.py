"""``rageval anchor``: replace chunk ids and positive passages by quotes."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.commands.anchoring.quotes import AnchoredRecord, LabelledCorpus, anchor_record
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.jsonl import read_instance
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import SettingError, short_repr
from pytest_rageval.folders import atomic_files
from pytest_rageval.hooks.labelled_corpus import ProjectCorpus, project_corpus
from pytest_rageval.model.case import Instance
from pytest_rageval.model.digests import text_digest
from pytest_rageval.report.files.baseline_file import read_baseline
from pytest_rageval.report.text.lines import counted

__all__ = ["anchor", "check_labels"]

MIN_SHARE = 0.5
"""Minimum share of quotes that are found and contain the gold answer.

A smaller share means that the labels were probably made with another chunking.
"""


@dataclass(frozen=True, slots=True)
class _Row:
    """A record, its place, and its result."""

    where: str
    instance: Instance
    result: AnchoredRecord


def anchor(
    cases: str,
    corpus: Sequence[str],
    chunking: str | None,
    out: Path | None,
    baseline: Path | None = None,
    *,
    force: bool,
) -> Generator[str, None, int]:
    """Write a dataset with quotes instead of labels, yield the lines to print, and return the exit status.

    The status is 1 if some labels were not found; their records are written unchanged.

    Args:
        cases: the dataset, a path or ``jsonl:path``.
        corpus: lines like those of ``rag_corpus``; () uses the ini's.
        chunking: the labelled chunking, in the form of ``rag_chunking``; None uses the ini's.
        out: the file to write; None is ``NAME.anchored.jsonl`` beside the dataset.
        baseline: the file with the digests to compare ids with; None uses the ini's, if it has digests.
        force: write even if another chunking was probably labelled, and overwrite an existing file.

    Raises:
        RagEvalError: a file cannot be read or written, ids name other text than in the baseline, or few quotes contain
            the gold answer; nothing is written.
    """
    path = _dataset_path(cases)
    target = out or path.with_name(f"{path.stem}.anchored.jsonl")
    if target.exists() and not force:
        raise SettingError(f"{shown_path(target)} already exists; name another file with --out, or add --force")
    records = [(Fields(f"{shown_path(path)}:{line}", values), values) for line, values in read_records(path)]
    instances = [read_instance(record, path.stem) for record, _ in records]
    project = project_corpus(corpus, chunking)
    if not force:
        _refuse_other_text(instances, project, baseline)
    labelled = LabelledCorpus(project.passages, project.documents)
    rows = [
        _Row(record.where, instance, anchor_record(values, instance, labelled))
        for (record, values), instance in zip(records, instances, strict=True)
    ]
    summary = _quotes_text(rows, project, force=force)
    _write_records(target, rows)
    changed = sum(bool(row.result.quotes) for row in rows)
    yield f"{changed} of {counted(len(rows), 'case')} -> {shown_path(target)}: {summary}"
    yield from _remarks(rows)
    return int(any(row.result.faults for row in rows))


def check_labels(
    cases: str, corpus: Sequence[str], chunking: str | None, baseline: Path | None
) -> Generator[str, None, int]:
    """Yield the ids of a dataset that name other text than in the baseline; return 1 if there are any, else 0.

    Args:
        cases: the dataset, a path or ``jsonl:path``.
        corpus: lines like those of ``rag_corpus``; () uses the ini's.
        chunking: the chunking of the ids, in the form of ``rag_chunking``; None uses the ini's.
        baseline: the file with the digests; None uses the ini's.

    Raises:
        RagEvalError: a file cannot be read, or the baseline has no digests.
    """
    path = _dataset_path(cases)
    records = [Fields(f"{shown_path(path)}:{line}", values) for line, values in read_records(path)]
    instances = [read_instance(record, path.stem) for record in records]
    project = project_corpus(corpus, chunking)
    old_digests = _digests(baseline or project.baseline)
    labels, changed = _labels(instances), _changed_labels(instances, project, old_digests)
    current_ids = {passage.id for passage in project.passages}
    for where, name in changed:
        what = "names other text than in the baseline" if name in current_ids else "is no longer in the corpus"
        yield f"{where}: {short_repr(name)} {what}"
    unknown = sum(name not in old_digests for _, name in labels)
    without_digest = f"; the baseline has no digest of {unknown}" if unknown else ""
    yield f"{len(changed)} of {counted(len(labels), 'id')} changed under {short_repr(project.chunking)}{without_digest}"
    return int(bool(changed))


def _dataset_path(cases: str) -> Path:
    return Path(cases.removeprefix("jsonl:"))


def _labels(instances: Iterable[Instance]) -> list[tuple[str, str]]:
    """Return (file:line, id) of each chunk id with a grade above 0."""
    return [(each.origin, name) for each in instances for name, grade in each.qrels.items() if grade > 0]


def _changed_labels(
    instances: Iterable[Instance], project: ProjectCorpus, old_digests: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the labels whose id is in the baseline, but whose text in the corpus is different or missing."""
    digests = {passage.id: text_digest(passage.text) for passage in project.passages}
    return [
        (where, name)
        for where, name in _labels(instances)
        if name in old_digests and digests.get(name) != old_digests[name]
    ]


def _refuse_other_text(instances: Sequence[Instance], project: ProjectCorpus, baseline: Path | None) -> None:
    """Raise `SettingError` if ids name other text than in the baseline.

    Without ``baseline``, the ini's baseline is compared, if it exists and has digests.
    """
    path = baseline or project.baseline
    if path is None or (baseline is None and not path.exists()):
        return
    old_digests = (read_baseline(path).passages or {}) if baseline is None else _digests(path)
    labelled = [each for each in instances if not each.evidence]
    changed = _changed_labels(labelled, project, old_digests)
    if changed:
        n_with_digest = sum(name in old_digests for _, name in _labels(labelled))
        what = (
            f"{len(changed)} of {counted(n_with_digest, 'id')} name other text than in the baseline {shown_path(path)}"
        )
        how = "give that one with --chunking, list the ids with --check, or write the quotes with --force"
        why = "so another chunking was labelled, or the documents have changed"
        raise SettingError(f"under {short_repr(project.chunking)}, {what}, {why}; {how}")


def _digests(path: Path | None) -> dict[str, str]:
    if path is None:
        raise SettingError("no baseline to check with; name it with --baseline or set rag_baseline in the ini")
    passages = read_baseline(path).passages
    if passages is None:
        again = "write it again with --rag-update-baseline"
        raise SettingError(f"the baseline {shown_path(path)} has no digests of judged passages; {again}")
    return dict(passages)


def _quotes_text(rows: Sequence[_Row], project: ProjectCorpus, *, force: bool) -> str:
    """Return the number of quotes, and how many contain the gold answer.

    Raise `SettingError` if fewer than half were found or contain the gold answer; a missing quote counts as one without
    the gold answer.
    """
    with_gold = [row for row in rows if row.instance.gold]
    n_gold_quotes = sum(len(row.result.quotes) for row in with_gold)
    n_with_answer = sum(row.result.n_with_answer(row.instance) for row in with_gold)
    n_missing = sum(len(row.result.faults) for row in with_gold)
    n_quotes = sum(len(row.result.quotes) for row in rows)
    n_expected = n_quotes + sum(len(row.result.faults) for row in rows)
    problem = ""
    if n_with_answer < MIN_SHARE * (n_gold_quotes + n_missing):
        problem = f"{_share_text(n_with_answer, n_gold_quotes + n_missing)} of the quotes have the gold answer"
        problem += f", and {n_missing} were not found" if n_missing else ""
    elif n_quotes < MIN_SHARE * n_expected:
        problem = f"{_share_text(n_quotes, n_expected)} of the quotes were found"
    if problem and not force:
        why = f"so {short_repr(project.chunking)} is probably not the chunking that was labelled"
        how = "give that one with --chunking, or write the quotes with --force"
        raise SettingError(f"only {problem}, {why}; {how}")
    share = f", {_share_text(n_with_answer, n_gold_quotes)} with the gold answer" if n_gold_quotes else ""
    return counted(n_quotes, "quote") + share


def _share_text(n: int, total: int) -> str:
    return f"{n} of {total} ({n / total:.1%})"


def _write_records(path: Path, rows: Sequence[_Row]) -> None:
    try:
        with atomic_files(path) as (part,), part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(json.dumps(row.result.record, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        raise SettingError(f"{shown_path(path)} cannot be written: {error.strerror or error}", code="RAG212") from None


def _remarks(rows: Sequence[_Row]) -> Iterator[str]:
    """Yield lines about labels that were left out, are ambiguous, or were not found."""
    irrelevant = sum(row.result.n_irrelevant for row in rows)
    ambiguous = sum(row.result.n_ambiguous for row in rows)
    if irrelevant:
        yield f"left out: {irrelevant} qrels of grade 0"
    if ambiguous:
        yield f"in several documents, the first is used: {counted(ambiguous, 'positive passage')}"
    for row in rows:
        yield from (f"left: {row.where}: {fault}" for fault in row.result.faults)
