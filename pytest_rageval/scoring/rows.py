"""Convert outcomes to flat rows and back; columns as in `rageval export --as parquet`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_rageval.analysis.usage import outcomes_with_answer
from pytest_rageval.model.answer import Answer, Usage
from pytest_rageval.model.calls import Calls
from pytest_rageval.model.codec import encode_calls
from pytest_rageval.model.fixed_dict import FixedDict
from pytest_rageval.model.outcome import Diagnosis, Outcome, Score

__all__ = [
    "FACET",
    "REASON",
    "SCORE",
    "LineEncoder",
    "OutcomeDecoder",
    "columns_of",
    "pack",
    "row_of",
    "unpack",
    "unpack_rows",
]

FACET, SCORE, REASON, USAGE, CALLS, DIAGNOSIS = "facet.", "score.", "reason.", "usage.", "calls.", "diagnosis."

_CASE_FIELDS = ("nodeid", "case_id", "data", "said", "length")
_SHARED_FIELDS = ("testbed", "system", "status")
_EVIDENCE_FIELDS = ("evidence", "answer_seen")
_DIAGNOSIS = ("type", "right", "grounded", "end", "why")
_USAGE = ("prompt_tokens", "completion_tokens", "cost_usd", "latency_s", "total_tokens")

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""One encoder for all rows, because `json.dumps` creates an encoder in each call."""

_decode = json.JSONDecoder().raw_decode
"""Faster than `json.loads` if no spaces surround the text."""

_SHARED = b',"testbed":'
"""Start of the part that many lines share; strings in JSON cannot contain it, because they escape quotes."""

_CACHED = 10_000
"""Maximum number of shared parts in a cache."""

LOWER = "on_their_way"
_CALLS = (
    "calls", "replayed", "attempts", "prompt_tokens", "completion_tokens", "cost_usd", "spent_usd", LOWER,
)  # fmt: skip

_ANSWERED = Answer("")
"""The answer of a stored row; the file of answers has its text."""


def row_of(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as a row, without keys that have no value."""
    return _case_part(outcome) | _shared_part(outcome)


def _case_part(outcome: Outcome) -> dict[str, Any]:
    """Return the first part of a row, which differs between rows; it is never empty."""
    return {name: value for name in _CASE_FIELDS if (value := getattr(outcome, name)) not in (None, "")}


def _shared_part(outcome: Outcome) -> dict[str, Any]:
    """Return the second part of a row, which many rows share."""
    row: dict[str, Any] = {name: getattr(outcome, name) for name in _SHARED_FIELDS}
    if outcome.error is not None:
        row |= {"error_type": outcome.error_type, "error": outcome.error}
    for name, value in outcome.facets.items():
        row[FACET + name] = value
    for name, score in outcome.scores.items():
        if score.value is None:
            row[REASON + name] = score.reason
        else:
            row[SCORE + name] = score.value
    if outcome.declined:
        row["declined"] = True
    row |= {name: value for name in _EVIDENCE_FIELDS if (value := getattr(outcome, name)) is not None}
    if outcome.diagnosis is not None:
        row |= {DIAGNOSIS + name: getattr(outcome.diagnosis, name) for name in _DIAGNOSIS}
    return row | _usage(outcome)


def _usage(outcome: Outcome) -> dict[str, Any]:
    """Return whether a case was answered, and what the answer used."""
    row: dict[str, Any] = {}
    if outcomes_with_answer([outcome]):
        row["answered"] = True
        usage = None if outcome.answer is None else outcome.answer.usage
        names = _USAGE if usage is not None else ()
        row |= {USAGE + name: value for name in names if (value := getattr(usage, name)) is not None}
    if outcome.calls is not None:
        calls = encode_calls(outcome.calls)
        row |= {CALLS + name: calls[name] for name in _CALLS if calls.get(name) is not None}
    return row


class LineEncoder:
    """Encodes the rows of outcomes as lines of JSON; parts that many rows share are encoded once."""

    def __init__(self) -> None:
        self._cache: dict[object, str] = {}

    def encode(self, outcome: Outcome) -> bytes:
        """Return the line of an outcome."""
        fields = _case_part(outcome).items()
        start = ",".join([
            f'"{name}":{_encode(value) if value.__class__ is str else value}' for name, value in fields
        ])  # fmt: skip
        return f"{{{start},{self._rest(outcome)}\n".encode()

    def _rest(self, outcome: Outcome) -> str:
        """Return the encoded part that many rows share, with the closing brace."""
        if outcome.error is not None or outcome.calls is not None or outcome.diagnosis is not None:
            return _encode(_shared_part(outcome))[1:]
        if outcome.answer is None or outcome.answer.usage is not None:
            return _encode(_shared_part(outcome))[1:]
        key = (
            *(outcome.testbed, outcome.system, outcome.status, outcome.declined),
            *(repr(outcome.evidence), repr(outcome.answer_seen)),  # 1 equals 1.0, but is written differently
            *outcome.facets.items(),
            *[(name, repr(score.value), score.reason) for name, score in outcome.scores.items()],
        )
        rest = self._cache.get(key)
        if rest is None:
            rest = _encode(_shared_part(outcome))[1:]
            if len(self._cache) < _CACHED:
                self._cache[key] = rest
        return rest


def pack(lines: Iterable[bytes]) -> bytes:
    """Return compressed lines; the same lines give the same bytes."""
    return gzip.compress(b"".join(lines), compresslevel=3, mtime=0)


def columns_of() -> Iterator[tuple[str, type]]:
    """Yield the name and type of each possible column, without those of facets and metrics."""
    yield from (
        (name, int if name == "length" else str) for name in (*_CASE_FIELDS, *_SHARED_FIELDS, "error_type", "error")
    )
    yield from (("declined", bool), ("answered", bool), *((name, float) for name in _EVIDENCE_FIELDS))
    yield from ((DIAGNOSIS + name, bool if name == "right" else str) for name in _DIAGNOSIS)
    yield from ((USAGE + name, int if name.endswith("_tokens") else float) for name in _USAGE)
    yield from ((CALLS + name, float if name.endswith("_usd") else int) for name in _CALLS)


def unpack_rows(packed: bytes) -> Iterator[dict[str, Any]]:
    """Yield the rows of packed lines."""
    return map(json.loads, unpack(packed))


def unpack(packed: bytes) -> list[bytes]:
    """Return the lines in the bytes of `pack`."""
    return gzip.decompress(packed).splitlines()


class OutcomeDecoder:
    """Decodes rows to outcomes; rows share equal facets and scores, because there are many rows.

    Args:
        clusters: testbed's node id -> the facet whose value its dependent cases share.
        details: whether to decode digests, evidence and diagnoses, which only comparisons and reports read.
    """

    def __init__(self, clusters: Mapping[str, str], *, details: bool) -> None:
        self._clusters = clusters
        self._details = details
        self._facets: dict[object, dict[str, str]] = {}
        self._scores: dict[object, dict[str, Score]] = {}
        self._names: dict[str, Any] = {}
        self._shared: dict[bytes, dict[str, Any]] = {}

    def decode_line(self, line: bytes) -> Outcome:
        """Return the outcome of a line."""
        start, _, rest = line.partition(_SHARED)
        fields = self._shared.get(rest)
        if fields is None:
            fields = self._fields(json.loads(b'{"testbed":' + rest))
            if len(self._shared) < _CACHED:
                self._shared[rest] = fields
        case_part, _ = _decode(f"{start.decode()}}}")
        return self._outcome(case_part, fields)

    def decode(self, row: Mapping[str, Any]) -> Outcome:
        """Return the outcome of a row."""
        return self._outcome(row, self._fields(row))

    def _outcome(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> Outcome:
        nodeid = row["nodeid"]
        case_id = nodeid if row["case_id"] == nodeid else row["case_id"]
        if not self._details:
            return Outcome(nodeid=nodeid, case_id=case_id, **shared)
        data, said = row.get("data", ""), row.get("said", "")
        return Outcome(nodeid=nodeid, case_id=case_id, data=data, said=said, length=row.get("length"), **shared)

    def _fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of an outcome that other rows may share."""
        facets, scores = [], []
        for name, value in row.items():
            if name.startswith(FACET):
                facets.append((name, value))
            elif name.startswith((SCORE, REASON)):
                scores.append((name, value))
        fields = {name: self._names.setdefault(row[name], row[name]) for name in _SHARED_FIELDS}
        fields |= {
            "facets": self._facets_of(tuple(facets)),
            "answer": _answer(row) if "answered" in row else None,
            "scores": self._scores_of(tuple(scores)),
            "error": row.get("error"),
            "error_type": row.get("error_type"),
            "calls": _calls(row) if "calls.calls" in row else None,
            "cluster": self._clusters[row["testbed"]],
        }
        return fields | self._details_of(row) if self._details else fields

    def _facets_of(self, items: tuple[tuple[str, str], ...]) -> dict[str, str]:
        if items not in self._facets:
            self._facets[items] = FixedDict({name.removeprefix(FACET): value for name, value in items})
        return self._facets[items]

    def _scores_of(self, items: tuple[tuple[str, Any], ...]) -> dict[str, Score]:
        if items not in self._scores:
            scores = (
                (name.partition(".")[2], Score(value) if name.startswith(SCORE) else Score(reason=value))
                for name, value in items
            )
            self._scores[items] = FixedDict(scores)
        return self._scores[items]

    def _details_of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        details: dict[str, Any] = {name: row[name] for name in ("declined", *_EVIDENCE_FIELDS) if name in row}
        if "diagnosis.type" in row:
            details["diagnosis"] = Diagnosis(*(row[DIAGNOSIS + name] for name in _DIAGNOSIS))
        return details


def _calls(row: Mapping[str, Any]) -> Calls:
    """Return the calls of a row; a missing sum is unknown."""
    counts: dict[str, Any] = {name: row.get(CALLS + name) for name in _CALLS}
    return Calls(**counts | {LOWER: counts[LOWER] or 0})


def _answer(row: Mapping[str, Any]) -> Answer:
    used = {name: row[USAGE + name] for name in _USAGE if USAGE + name in row}
    return Answer("", usage=Usage(**used)) if used else _ANSWERED
