"""Load recorded answers, which a system gave outside this session, to score them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_rageval.datasets.fields import Fields, claim
from pytest_rageval.datasets.recorded_spans import with_spans
from pytest_rageval.datasets.source import read_records, shown_path
from pytest_rageval.datasets.traces import TRACES, trace_in
from pytest_rageval.errors import DataError, short_repr
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.facets import facet_text
from pytest_rageval.model.ranking import Ranking, ScoredPassage

__all__ = ["Recorded", "load_recorded", "ranking_in", "read_recorded"]

KEYS = frozenset({"abstained", "answer", "id", "ranking", "spans", "system", "usage", *TRACES})


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded answer.

    Attributes:
        id: the id of the case it answers.
        system: the name of the system that gave it, or "" if unknown.
        answer: the answer.
        where: facets that restrict the row to some cases with that id, such as {"noise_rate": "0.4"}.
    """

    id: str
    system: str
    answer: Answer
    where: Mapping[str, str]


def load_recorded(path: Path) -> tuple[Recorded, ...]:
    """Return the recorded answers of a file of JSON Lines or one JSON array.

    Keys: ``id``, ``answer``, and if known ``system``, ``abstained``, ``ranking`` (objects with ``id`` or ``doc_id``,
    ``score``, ``text``, ``title``, ``page``), ``trace`` (steps as in results.json), ``spans`` of OpenTelemetry and
    ``usage``. Any other key restricts the row to cases with this facet. An invalid or duplicate row raises `DataError`.
    """
    name = shown_path(path)
    seen: dict[object, int] = {}
    rows = []
    for line, values in read_records(path):
        row = read_recorded(Fields(f"{name}:{line}", values))
        key = (row.id, row.system, tuple(sorted(row.where.items())))
        claim(seen, key, f"an answer of the same system to the case {short_repr(row.id)}", name, line)
        rows.append(row)
    return tuple(rows)


def read_recorded(record: Fields) -> Recorded:
    """Return the recorded answer of one record; raise `DataError` for an invalid record."""
    answer = Answer(
        text=record.string("answer"),
        ranking=ranking_in(record),
        abstained=record.flag("abstained"),
        trace=trace_in(record),
        usage=_usage(record),
    )
    return Recorded(record.identifier("id"), record.string("system", ""), with_spans(record, answer), _facets(record))


def _facets(record: Fields) -> dict[str, str]:
    """Return the keys that restrict a row to cases with these facets."""
    facets = {}
    for name, value in record.values.items():
        if name not in KEYS:
            if not isinstance(value, (str, int, float)):
                raise record.wrong(name, value, "a string, number or boolean: the value of a facet of the case")
            facets[name] = facet_text(value)
    return facets


def ranking_in(record: Fields) -> Ranking | None:
    """Return the ``ranking`` of a record; None if it has none."""
    if "ranking" not in record:
        return None
    items = []
    for item in record.objects("ranking", "a list of objects with id, score and text"):
        fields = item.without_nulls()
        fields.only(("doc_id", "id", "page", "score", "text", "title"))
        if "id" in fields and "doc_id" in fields:
            raise DataError(record.where, f"{fields.prefix}id: found both id and doc_id, wanted one of them")
        name = fields.identifier("doc_id" if "doc_id" in fields else "id")
        text, title, page = (fields.string(key, "") for key in ("text", "title", "page"))
        items.append(ScoredPassage(name, fields.amount("score"), text, title, page))
    return Ranking(tuple(items))


def _usage(record: Fields) -> Usage | None:
    if "usage" not in record:
        return None
    keys = ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s")
    fields = record.inner("usage", record.values["usage"], f"an object with {', '.join(keys)}").without_nulls()
    total = fields.count("total_tokens")
    replace(fields, values={key: value for key, value in fields.values.items() if key != "total_tokens"}).only(keys)
    return Usage(
        fields.count("prompt_tokens"),
        fields.count("completion_tokens"),
        fields.amount("cost_usd", least=0),
        fields.amount("latency_s", least=0),
        total,
    )
