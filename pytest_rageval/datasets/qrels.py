"""Read relevance judgements from a file: TREC's qrels, or BEIR's TSV with a header."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_rageval.datasets.source import read_text, shown_path
from pytest_rageval.errors import DataError, short_repr

__all__ = ["Qrels", "read_qrels"]

Qrels = dict[str, dict[str, int]]
"""Query id -> document id -> grade."""

BEIR = ["query-id", "corpus-id", "score"]

_GRADE = re.compile("[+-]?[0-9]{1,9}")


def read_qrels(path: Path) -> Qrels:
    """Return the judgements of a file; a file without judgements raises `DataError`.

    A line is ``query iteration document grade``, separated by white space, as in trec_eval. If the first line is BEIR's
    header ``query-id corpus-id score``, the lines have these three columns, separated by tabs. A grade below 1 means
    not relevant. An invalid line, or a document with two different grades, raises `DataError`.
    """
    name = shown_path(path)
    beir: bool | None = None
    qrels: Qrels = {}
    for line, text in enumerate(read_text(path).split("\n"), 1):
        if not text.strip():
            continue
        if beir is None:
            beir = text.strip().split("\t") == BEIR
            if beir:
                continue
        query, document, grade = _judgement(text, beir, f"{name}:{line}")
        grades = qrels.setdefault(query, {})
        if grades.setdefault(document, grade) != grade:
            what = f"the document {short_repr(document)} has the grade {grade} for the query {short_repr(query)}"
            raise DataError(f"{name}:{line}", f"{what}, and {grades[document]} in an earlier line; remove one")
    if not qrels:
        raise DataError(f"{name}:1", "the file holds no judgement; it needs at least one")
    return qrels


def _judgement(text: str, beir: bool, where: str) -> tuple[str, str, int]:
    fields = [field.strip() for field in text.split("\t")] if beir else text.split()
    wanted = "the 3 of the header between tabs" if beir else "4 (query, iteration, document, grade)"
    if len(fields) != (3 if beir else 4) or not all(fields):
        hint = "" if beir else ", or the header query-id, corpus-id, score between tabs in the first line"
        raise DataError(where, f"found {len(fields)} columns in {short_repr(text.strip())}, wanted {wanted}{hint}")
    query, document, grade = fields if beir else (fields[0], *fields[2:])
    if not _GRADE.fullmatch(grade):
        raise DataError(where, f"grade: found {short_repr(grade)}, wanted an integer")
    return query, document, int(grade)
