"""``rageval anchor``: chunk ids and positive passages of our own datasets to quotes, which outlive another chunking."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rageval.commands.quotes import Anchored, LabelledCorpus, anchored
from pytest_rageval.datasets.fields import Fields
from pytest_rageval.datasets.jsonl import read_instance
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.errors import SettingError, found
from pytest_rageval.folders import whole_files
from pytest_rageval.hooks.labelled_corpus import ProjectCorpus, project_corpus
from pytest_rageval.model.case import Instance
from pytest_rageval.model.digests import text_digest
from pytest_rageval.report.files.baseline_file import read_baseline
from pytest_rageval.report.text.lines import counted

__all__ = ["anchor", "check_labels"]

LEAST_SHARE = 0.5
"""Of quotes that are found and contain the gold answer; a smaller share means that another chunking was labelled."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A record, where it stands, and what became of it."""

    where: str
    instance: Instance
    result: Anchored


def anchor(
    cases: str,
    corpus: Sequence[str],
    chunking: str | None,
    out: Path | None,
    baseline: Path | None = None,
    *,
    force: bool,
) -> Generator[str, None, int]:
    """Write a dataset with quotes for its labels, yield the lines that the command prints, and return its exit status.

    It is 1 where some labels were not found; their records are written as they were.

    Args:
        cases: the dataset, a path or ``jsonl:path``.
        corpus: lines as those of ``rag_corpus``; () takes those of the ini.
        chunking: the one that was labelled, as ``rag_chunking``; None takes that of the ini.
        out: the file to write; None is ``NAME.anchored.jsonl`` beside the dataset.
        baseline: the file with the digests that ids are compared with; None takes that of the ini, if it has digests.
        force: write though another chunking was probably labelled, and over a file that is there.

    Raises:
        RagEvalError: a file cannot be read or written, ids name other text than in the baseline, or few quotes contain
            the gold answer; nothing is written.
    """
    path = _path_of(cases)
    target = out or path.with_name(f"{path.stem}.anchored.jsonl")
    if target.exists() and not force:
        raise SettingError(f"{shown_path(target)} is there already; name another file with --out, or add --force")
    records = [(Fields(f"{shown_path(path)}:{line}", values), values) for line, values in read_records(path)]
    instances = [read_instance(record, path.stem) for record, _ in records]
    read = project_corpus(corpus, chunking)
    if not force:
        _refuse_other_text(instances, read, baseline)
    labelled = LabelledCorpus(read.passages, read.documents)
    rows = [
        _Row(record.where, instance, anchored(values, instance, labelled))
        for (record, values), instance in zip(records, instances, strict=True)
    ]
    told = _share_text(rows, read, force=force)
    _write(target, rows)
    changed = sum(bool(row.result.quotes) for row in rows)
    yield f"{changed} of {counted(len(rows), 'case')} -> {shown_path(target)}: {told}"
    yield from _left(rows)
    return int(any(row.result.faults for row in rows))


def check_labels(
    cases: str, corpus: Sequence[str], chunking: str | None, baseline: Path | None
) -> Generator[str, None, int]:
    """Yield the ids of a dataset that name other text than in the baseline, and return 1 where there are any, else 0.

    Args:
        cases: the dataset, a path or ``jsonl:path``.
        corpus: lines as those of ``rag_corpus``; () takes those of the ini.
        chunking: the one that ids are looked up in, as ``rag_chunking``; None takes that of the ini.
        baseline: the file with the digests; None takes that of the ini.

    Raises:
        RagEvalError: a file cannot be read, or the baseline has no digests.
    """
    path = _path_of(cases)
    records = [Fields(f"{shown_path(path)}:{line}", values) for line, values in read_records(path)]
    instances = [read_instance(record, path.stem) for record in records]
    read = project_corpus(corpus, chunking)
    then = _digests(baseline or read.baseline)
    labels, changed = _labels(instances), _changed(instances, read, then)
    there = {passage.id for passage in read.passages}
    for where, name in changed:
        what = "names other text than in the baseline" if name in there else "is no longer in the corpus"
        yield f"{where}: {found(name)} {what}"
    unknown = sum(name not in then for _, name in labels)
    beside = f"; of {unknown} the baseline has no digest" if unknown else ""
    yield f"{len(changed)} of {counted(len(labels), 'id')} changed under {found(read.chunking)}{beside}"
    return int(bool(changed))


def _path_of(cases: str) -> Path:
    return Path(cases.removeprefix("jsonl:"))


def _labels(instances: Iterable[Instance]) -> list[tuple[str, str]]:
    """Return where each relevant id stands, and the id."""
    return [(each.origin, name) for each in instances for name, grade in each.qrels.items() if grade > 0]


def _changed(instances: Iterable[Instance], read: ProjectCorpus, then: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return those labels whose id names other text than in the baseline, or no text any more."""
    now = {passage.id: text_digest(passage.text) for passage in read.passages}
    return [(where, name) for where, name in _labels(instances) if name in then and now.get(name) != then[name]]


def _refuse_other_text(instances: Sequence[Instance], read: ProjectCorpus, baseline: Path | None) -> None:
    """Refuse a chunking under which ids name other text than in the baseline; the ini's may be missing or older."""
    path = baseline or read.baseline
    if path is None or (baseline is None and not path.exists()):
        return
    then = (read_baseline(path).passages or {}) if baseline is None else _digests(path)
    labelled = [each for each in instances if not each.evidence]
    changed = _changed(labelled, read, then)
    if changed:
        known = sum(name in then for _, name in _labels(labelled))
        what = f"{len(changed)} of {counted(known, 'id')} name other text than in the baseline {shown_path(path)}"
        how = "give that one with --chunking, list the ids with --check, or write the quotes with --force"
        why = "so another chunking was labelled, or the documents have changed"
        raise SettingError(f"under {found(read.chunking)}, {what}, {why}; {how}")


def _digests(path: Path | None) -> dict[str, str]:
    if path is None:
        raise SettingError("there is no baseline to check with; name it with --baseline or as rag_baseline in the ini")
    passages = read_baseline(path).passages
    if passages is None:
        again = "write it anew with --rag-update-baseline"
        raise SettingError(f"the baseline {shown_path(path)} has no digests of judged passages; {again}")
    return dict(passages)


def _share_text(rows: Sequence[_Row], read: ProjectCorpus, *, force: bool) -> str:
    """Return how many quotes there are, and how many have the gold answer.

    Refuse if fewer than half were found, or fewer than half have it; one that was not found has none.
    """
    judged = [row for row in rows if row.instance.gold]
    of = sum(len(row.result.quotes) for row in judged)
    held = sum(row.result.n_with_answer(row.instance) for row in judged)
    lost = sum(len(row.result.faults) for row in judged)
    quotes = sum(len(row.result.quotes) for row in rows)
    wanted = quotes + sum(len(row.result.faults) for row in rows)
    few = ""
    if held < LEAST_SHARE * (of + lost):
        few = f"{_part(held, of + lost)} of the quotes have the gold answer"
        few += f", and {lost} were not found" if lost else ""
    elif quotes < LEAST_SHARE * wanted:
        few = f"{_part(quotes, wanted)} of the quotes were found"
    if few and not force:
        why = f"so {found(read.chunking)} is probably not the chunking that was labelled"
        how = "give that one with --chunking, or write the quotes with --force"
        raise SettingError(f"only {few}, {why}; {how}")
    return counted(quotes, "quote") + (f", {_part(held, of)} with the gold answer" if of else "")


def _part(n: int, of: int) -> str:
    return f"{n} of {of} ({n / of:.1%})"


def _write(path: Path, rows: Sequence[_Row]) -> None:
    try:
        with whole_files(path) as (part,), part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(json.dumps(row.result.record, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        raise SettingError(f"{shown_path(path)} cannot be written: {error.strerror or error}") from None


def _left(rows: Sequence[_Row]) -> Iterator[str]:
    """Yield what was left out or taken by choice, and the labels that were not found."""
    irrelevant = sum(row.result.n_irrelevant for row in rows)
    ambiguous = sum(row.result.n_ambiguous for row in rows)
    if irrelevant:
        yield f"left out: {irrelevant} qrels of grade 0"
    if ambiguous:
        yield f"in several documents, the first was taken: {counted(ambiguous, 'positive passage')}"
    for row in rows:
        yield from (f"left: {row.where}: {fault}" for fault in row.result.faults)
