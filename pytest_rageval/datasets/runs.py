"""Load rankings from a file: a run in trec_eval's format, or rankings in JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.recorded import ranking_in
from pytest_rageval.datasets.source import read_records, read_text, shown_path
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["Run", "load_run"]

Run = dict[tuple[str, str], Ranking]
"""Rankings by key: ``("id", case id)`` or ``("question", question)``."""

WANTED = "6 (query Q0 document rank score run)"


def load_run(path: Path) -> Run:
    """Return the rankings of a file.

    A file that starts with ``{`` or ``[`` contains JSON objects with ``id`` or ``question``, and ``ranking``: a list,
    which may be empty, of objects with ``id``, ``score``, ``text``. Other keys are ignored. Any other file has lines
    ``query Q0 document rank score run``, separated by white space; Q0, rank and run are ignored.

    Raises:
        DataError: a line is invalid, a document is ranked twice, or the file has no ranking.
    """
    text = read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        return _load_json(path)
    name = shown_path(path)
    rows: dict[str, dict[str, float]] = {}
    for where, query, document, score in _rows(text, name):
        scores = rows.setdefault(query, {})
        if document in scores:
            ranked = f"the document {short_repr(document)} is ranked for the query {short_repr(query)}"
            problem = f"{ranked} already, wanted each once"
            raise DataError(where, problem)
        scores[document] = score
    if not rows:
        raise DataError(f"{name}:1", "the file holds no ranking; it needs at least one")
    return {
        ("id", query): Ranking(tuple(ScoredPassage(document, score) for document, score in scores.items()))
        for query, scores in rows.items()
    }


def _rows(text: str, name: str) -> Iterator[tuple[str, str, str, float]]:
    for line, row in enumerate(text.split("\n"), 1):
        columns = row.split()
        if not columns:
            continue
        where = f"{name}:{line}"
        if len(columns) != 6:
            raise DataError(where, f"found {len(columns)} columns in {short_repr(row.strip())}, wanted {WANTED}")
        query, _, document, _, score_text, _ = columns
        try:
            score = float(score_text)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise DataError(where, f"score: found {short_repr(score_text)}, wanted a finite number")
        yield where, query, document, score


def _load_json(path: Path) -> Run:
    name = shown_path(path)
    run: Run = {}
    seen: dict[object, int] = {}
    for line, values in read_records(path):
        fields = Fields(f"{name}:{line}", values)
        key = ("id", fields.identifier("id")) if "id" in fields else ("question", fields.text("question"))
        claim(seen, key, f"a ranking of the {key[0]} {short_repr(key[1])}", name, line)
        ranking = ranking_in(fields)
        if ranking is None:
            raise fields.error("ranking", "a list of objects with id, score and text")
        _check_duplicates(ranking, fields)
        run[key] = ranking
    return run


def _check_duplicates(ranking: Ranking, fields: Fields) -> None:
    first: dict[str, int] = {}
    for place, document in enumerate(ranking.doc_ids):
        if document in first:
            problem = f"the document {short_repr(document)} is already at ranking[{first[document]}], wanted each once"
            raise DataError(fields.where, f"ranking[{place}]: {problem}")
        first[document] = place
