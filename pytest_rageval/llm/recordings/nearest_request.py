"""Find the recorded request that is most similar to a missing one."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pytest_rageval.errors import ascii_safe
from pytest_rageval.llm.recordings.records import Line, as_json, record_of, to_line
from pytest_rageval.llm.recordings.request import Request

__all__ = ["Neighbours"]

MAX_COMPARED = 300
"""Maximum number of recordings to compare with a request."""

MAX_SHARED = 30
"""A piece of text is rare if at most this number of recordings contain it."""

N_PIECES = 8
"""Number of pieces of a request that are used to find recordings."""

MIN_PIECE_BYTES = 12
"""Minimum length of a piece, in bytes."""

MAX_LINES = 40
MAX_PLACES = 5
MAX_CHARACTERS = 200

_LINE_END = re.compile(rb'\\n|"')
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


class Neighbours:
    """The recordings of one file, to compare with requests that are not recorded in it."""

    def __init__(self, path: Path, lines: Sequence[Line]) -> None:
        self._path = path
        self._lines = lines
        self._records: dict[Line, tuple[dict[str, Any], frozenset[str]]] = {}
        self._by_piece: dict[bytes, list[Line]] = {}
        for line in lines:
            for piece in _pieces(_request_part(line.text)):
                self._by_piece.setdefault(piece, []).append(line)

    def difference(self, request: Request) -> str:
        """Return how the nearest recording differs from ``request``: a unified diff of at most 40 lines.

        The nearest has the largest share of common words (Dice's coefficient over sets of words). Returns "" if there
        are no recordings.
        """
        request_words = _words(request.params, request.messages)
        candidates = [self._record(line) for line in self._candidates(request)]
        if not candidates:
            return ""
        nearest, _ = max(candidates, key=lambda candidate: _similarity(request_words, candidate[1]))
        if (nearest["params"], nearest["messages"]) == (request.params, request.messages):
            return f"only the repeat differs: {nearest['repeat']} is recorded, {request.repeat} was asked for"
        return f"the nearest recording differs {_places(nearest, request) or 'so'}:\n" + _diff(nearest, request)

    def _candidates(self, request: Request) -> Sequence[Line]:
        """Return the lines that share a rare piece of text with a request; else all, or those of similar length."""
        text = as_json(request.messages).encode()
        for piece in _pieces(text):
            matches = self._by_piece.get(piece, ())
            if 0 < len(matches) <= MAX_SHARED:
                return matches
        if len(self._lines) <= MAX_COMPARED:
            return self._lines
        length = len(_request_part(to_line(request, {})))
        return heapq.nsmallest(MAX_COMPARED, self._lines, key=lambda line: abs(len(_request_part(line.text)) - length))

    def _record(self, line: Line) -> tuple[dict[str, Any], frozenset[str]]:
        if line not in self._records:
            if len(self._records) >= MAX_COMPARED:
                self._records.clear()
            record = record_of(self._path, line)
            self._records[line] = record, _words(record["params"], record["messages"])
        return self._records[line]


def _request_part(line: bytes) -> bytes:
    """Return the part of a line before the repeat and the response, which may be thousands of numbers."""
    return line.rpartition(b', "repeat": ')[0]


def _pieces(text: bytes) -> list[bytes]:
    """Return the last distinct lines of the texts in a JSON value, last first, because the question comes last."""
    pieces = dict.fromkeys(piece for piece in reversed(_LINE_END.split(text)) if len(piece) >= MIN_PIECE_BYTES)
    return list(pieces)[:N_PIECES]


def _words(params: Mapping[str, Any], messages: object) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", as_json([params, messages])))


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / ((len(one) + len(other)) or 1)


def _places(recorded: Mapping[str, Any], request: Request) -> str:
    """Return where the body of an HTTP request differs, as ``in messages[2] (user), temperature``; "" if unknown."""
    before, after = recorded["messages"], request.messages
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return ""
    places = [name for name in request.params if request.params[name] != recorded["params"].get(name)]
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if isinstance(one, list) and isinstance(other, list):
            pairs = zip_longest(one, other)
            places += [f"{name}[{at}]{_role(pair)}" for at, pair in enumerate(pairs) if pair[0] != pair[1]]
        elif one != other:
            places.append(name)
    rest = [f"{len(places) - MAX_PLACES} more"] if len(places) > MAX_PLACES else []
    return f"in {', '.join(places[:MAX_PLACES] + rest)}" if places else ""


def _role(pair: tuple[object, object]) -> str:
    role = next((each["role"] for each in pair[::-1] if isinstance(each, Mapping) and "role" in each), None)
    return "" if role is None else f" ({ascii_safe(str(role))})"


def _diff(recorded: Mapping[str, Any], request: Request) -> str:
    from difflib import unified_diff

    before = list(_readable(recorded["params"], recorded["messages"], recorded["repeat"]))
    after = list(_readable(request.params, request.messages, request.repeat))
    lines = list(unified_diff(before, after, "recorded", "asked for", lineterm="", n=2))
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [f"... and {len(lines) - MAX_LINES + 1} lines more"]
    return "\n".join(lines)


def _readable(params: Mapping[str, Any], messages: object, repeat: int) -> Iterator[str]:
    """Yield a request as readable lines: one per param, and one per sentence."""
    yield f"repeat: {repeat}"
    for name, value in sorted(params.items()):
        yield _printable(f"{name}: {as_json(value)}")
    for where, text in _texts(messages, ""):
        yield _printable(f"[{where}]")
        for line in text.splitlines():
            yield from (f"  {_printable(sentence)}" for sentence in _SENTENCE_END.split(line) if sentence)


def _texts(value: object, where: str) -> Iterator[tuple[str, str]]:
    """Yield each text in messages with its place: a role, or the path of keys and indexes."""
    if isinstance(value, Mapping):
        if value.keys() == {"role", "content"} and isinstance(value["content"], str):
            yield str(value["role"]), value["content"]
            return
        items: Iterator[tuple[object, object]] = iter(sorted(value.items()))
    elif isinstance(value, list):
        items = iter(enumerate(value))
    else:
        yield where, value if isinstance(value, str) else as_json(value)
        return
    for key, item in items:
        yield from _texts(item, f"{where}.{key}" if where else str(key))


def _printable(line: str) -> str:
    line = ascii_safe(line)
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}..."
