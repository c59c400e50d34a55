"""Ways to break a small valid file, each drawn from a seeded generator."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

__all__ = ["mutate"]

OTHERS: tuple[Any, ...] = (
    None, True, False, 0, -1, 3.5, 1e308, 10**30, "", " ", "x", "\x00", "\ud800", "\u202e", "1e9", [], {}, [None],
    [[]], {"": ""}, ["x", 1], {"id": {}}, "a" * 100_000, [0] * 10_000, "../../etc/passwd", "NaN", "2026-13-45T99:99:99",
)  # fmt: skip
"""Values that replace a value of another type."""

NUMBERS = (
    "1e400",
    "-1e400",
    "NaN",
    "Infinity",
    "-Infinity",
    "9" * 400,
    "9" * 5_000,
    "-0",
    "1e-400",
    "9223372036854775808",
)
DEPTHS = (200, 5_000, 100_000)
INVALID_UTF8 = (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x80")
WORDS = (
    "",
    "0",
    "-1",
    "1e400",
    "nan",
    "null",
    "[",
    "]]",
    '"',
    "'''",
    "{}",
    "\x00",
    "\t",
    ",",
    ";;",
    "=",
    "#",
    "a" * 50_000,
    "\u2028",
)


def truncated(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def flipped(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 2, 8, 40))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def of_other_type(data: bytes, random: Random) -> bytes:
    return _change(data, random, lambda _: json.dumps(random.choice(OTHERS)))


def huge_number(data: bytes, random: Random) -> bytes:
    return _change(data, random, lambda _: random.choice(NUMBERS), lambda value: isinstance(value, int | float))


def deep(data: bytes, random: Random) -> bytes:
    depth = random.choice(DEPTHS)
    opening, closing = random.choice((("[", "]"), ('{"a":', "}")))
    return _change(data, random, lambda _: opening * depth + "1" + closing * depth)


def duplicate_key(data: bytes, random: Random) -> bytes:
    def doubled(value: dict[str, Any]) -> str:
        name = random.choice(list(value))
        again = f"{json.dumps(name)}: {json.dumps(random.choice((value[name], *OTHERS)))}"
        return f"{json.dumps(value)[:-1]}, {again}}}"

    return _change(data, random, doubled, lambda value: isinstance(value, dict) and bool(value))


def missing_key(data: bytes, random: Random) -> bytes:
    def shorter(value: dict[str, Any]) -> str:
        name = random.choice(list(value))
        return json.dumps({key: each for key, each in value.items() if key != name})

    return _change(data, random, shorter, lambda value: isinstance(value, dict) and bool(value))


def with_bom(data: bytes, random: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return random.choice(
        (
            b"\xef\xbb\xbf" + data,
            b"\xff\xfe" + data,
            text.encode("utf-16"),
            text.encode("utf-32"),
            b"\xef\xbb\xbf" * 2 + data,
        )
    )


def with_nul(data: bytes, random: Random) -> bytes:
    return _insert(data, random, b"\x00" * random.choice((1, 3, 5_000)))


def with_invalid_utf8(data: bytes, random: Random) -> bytes:
    return _insert(data, random, random.choice(INVALID_UTF8))


def other_line_ends(data: bytes, random: Random) -> bytes:
    return data.replace(b"\n", random.choice((b"\r\n", b"\r", b"\n\n\n", b"", b"\x0b", "\u2028".encode(), b"\n\r")))


def repeated(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = random.randrange(len(lines))
    return b"".join([*lines[:at], *lines[at : at + 1] * random.choice((2, 50)), *lines[at + 1 :]])


def shuffled(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data[::-1]
    random.shuffle(lines)
    return b"".join(lines[: random.randint(1, len(lines))])


def conflict(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = random.randrange(len(lines))
    ours, theirs = lines[at], flipped(lines[at], random)
    marked = [b"<<<<<<< ours\n", ours, b"=======\n", theirs, b">>>>>>> theirs\n"]
    return b"".join([*lines[:at], *marked, *lines[at + 1 :]])


def other_word(data: bytes, random: Random) -> bytes:
    """Replace what stands between two separators: cells of CSV and TSV, values of TOML, words of text."""
    text = data.decode("utf-8", "surrogateescape")
    begin = random.randrange(len(text))
    end = begin + random.choice((0, 1, 4, 20))
    return (text[:begin] + random.choice(WORDS) + text[end:]).encode("utf-8", "surrogateescape")


def emptied(data: bytes, random: Random) -> bytes:
    return random.choice(
        (b"", b"\n", b" \t\r\n", b"{}", b"[]", b"null", b"0", b'""', b"\x00" * 4_096, b"\x1f\x8b\x08", b"PK\x03\x04")
    )


Mutation = Callable[[bytes, Random], bytes]
OF_VALUES: tuple[Mutation, ...] = (of_other_type, of_other_type, huge_number, deep, duplicate_key, missing_key)
"""Mutations after which JSON stays valid, so the code that uses the values is reached."""

OF_BYTES: tuple[Mutation, ...] = (
    truncated, flipped, with_bom, with_nul, with_invalid_utf8, other_line_ends, repeated, shuffled, conflict,
    other_word, emptied,
)  # fmt: skip


def mutate(data: bytes, random: Random) -> tuple[str, bytes]:
    """Return the name of a mutation and the mutated ``data``; both kinds are equally likely."""
    mutation = random.choice(random.choice((OF_VALUES, OF_BYTES)))
    return mutation.__name__, mutation(data, random)


def _insert(data: bytes, random: Random, what: bytes) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + what + data[at:]


def _change(
    data: bytes, random: Random, new: Callable[[Any], str], accepts: Callable[[Any], bool] = lambda value: True
) -> bytes:
    """Replace one value of a JSON document, or of one line of JSON Lines; other text gets a changed word."""
    try:
        return _change_in(data, random, new, accepts)
    except ValueError:
        pass
    lines = data.splitlines(keepends=True)
    at = random.randrange(len(lines))
    try:
        lines[at] = _change_in(lines[at], random, new, accepts) + b"\n"
    except ValueError:
        return other_word(data, random)
    return b"".join(lines)


def _change_in(data: bytes, random: Random, new: Callable[[Any], str], accepts: Callable[[Any], bool]) -> bytes:
    document = json.loads(data)
    places = [place for place in _places([document], 0) if accepts(place[0][place[1]])]
    if not places:
        raise ValueError("no such value")
    holder, key = random.choice(places)
    mark = "\u0001here\u0001"
    value, holder[key] = holder[key], mark
    root = mark if value is document else document
    return (
        json.dumps(root, ensure_ascii=False).replace(json.dumps(mark), new(value), 1).encode("utf-8", "surrogatepass")
    )


def _places(holder: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of a value and of all values in it."""
    yield holder, key
    value = holder[key]
    if isinstance(value, dict):
        for name in list(value):
            yield from _places(value, name)
    elif isinstance(value, list):
        for at in range(len(value)):
            yield from _places(value, at)
